"""Say what a hub could not apply on a member, or will not be able to: it never deletes an object to
recreate it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import attrs

from fleet_components.model.text import few


@attrs.frozen(order=True)
class Unapplied:
    """Failure of a hub to apply on a member what it sends there.

    Sources: karmada-io/karmada 1.19, pkg/controllers/execution, which updates the object and sets
    ``Applied`` of the Work; KubeFleet v0.3.1, pkg/controllers/workapplier, which does the same for
    each manifest.

    Attributes:
        foreseen: True if a change will not be applied, False if what was sent has not been.
        why: the reason, in the words of the hub if it was observed; empty if none is known.
    """

    foreseen: bool
    why: str = ""

    def on(self, where: str) -> str:
        """Return it in words; ``where`` is ``there``, or ``on`` with the names of members."""
        if self.foreseen:
            return f"the hub will not be able to apply this {where}: {self.why}"
        return (
            f"the hub could not apply it {where}: {self.why}"
            if self.why
            else f"the hub has not applied it {where}"
        )

    @property
    def retried(self) -> str:
        """The same of a member to which a change is sent, in words."""
        return f"{self.on('there')}; it tries again with this change, and may fail again"


def in_words(found: Mapping[str, Unapplied]) -> Iterator[str]:
    """Yield a sentence for each reason, with its members."""
    members: dict[Unapplied, list[str]] = defaultdict(list)
    for member, unapplied in found.items():
        members[unapplied].append(member)
    yield from (
        unapplied.on(f"on {few(sorted(names))}") for unapplied, names in sorted(members.items())
    )
