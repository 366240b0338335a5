"""Refuse updates that delete more than was probably intended.

Losses are counted as pairs of object and member, relative to what stands. A refusal has a token, a
short hash of what would be lost: the token permits exactly that loss, and is not remembered.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message, Phrase, Setting
from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few

_SHOWN = 10
_AT_LEAST = 2
PROTECTED = "fleet-components/protected"
"""Annotation of a placement or object whose removal has to be confirmed; the value is
``"true"``.
"""
Pair = tuple[str, ObjectKey]
"""A member and the key of an object on it."""


@attrs.frozen
class Guard:
    """Limits on what an update may delete.

    Attributes:
        limit: the share of the pairs that may be lost at once, from 0 to 1.
        confirm: tokens of intended losses.
    """

    limit: float = 0.5
    confirm: frozenset[str] = frozenset()

    def members(self, before: Collection[str], after: Collection[str]) -> Problem | None:
        """Return a refusal if the member list shrinks by more than the limit; None if not, or if
        that is confirmed.
        """
        lost = sorted(set(before) - set(after))
        if not self._too_many(lost, set(before)):
            return None
        what = Message(
            "too-many-members-lost",
            "would lose {lost} of {before} members ({names}), more than {share}",
            lost=len(lost),
            before=len(set(before)),
            names=few(lost, _SHOWN),
            share=self._share,
        )
        return self.refuse("the member list", what, lost)

    def pairs(
        self, standing: Mapping[str, Collection[Pair]], lost: Mapping[str, Collection[Pair]]
    ) -> Iterator[Problem]:
        """Yield refusals if more than the limit of what the fleet has, or of what one placement
        has, would be deleted.

        If the fleet as a whole exceeds the limit, only that is reported.

        Args:
            standing: the standing pairs, by what they are counted under: a placement, or a policy
                of Karmada; those under the empty name count for the fleet only.
            lost: those of them that would be deleted.
        """
        total, all_lost = _joined(standing.values()), _joined(lost.values())
        # With one entry both losses are the same, and are reported under the name of that placement
        # or policy.
        if len(standing) > 1 and self._too_many(all_lost, total):
            yield from self._lost("the fleet", total, all_lost)
            return
        for name in sorted(filter(None, lost)):
            if self._too_many(lost[name], standing[name]):
                yield from self._lost(name, set(standing[name]), set(lost[name]))

    def _too_many(self, lost: Collection[object], known: Collection[object]) -> bool:
        """Return whether a loss exceeds the limit; a single pair or member may always go."""
        # Both: half of two objects is one, which may go.
        return len(lost) >= _AT_LEAST and len(lost) > self.limit * len(known)

    def refuse(self, subject: str, what: Message, lost: Iterable[object]) -> Problem | None:
        """Return a refusal with its token; None if it is confirmed."""
        # It depends on what is lost, so that it allows nothing else later.
        token = loss_token(subject, map(str, lost))
        if token in self.confirm:
            return None
        return Problem(
            what,
            subject=subject,
            hint=Phrase(
                "if that is meant, allow exactly this once: {token}",
                token=Setting("confirm", token),
            ),
        )

    def _lost(self, subject: str, standing: set[Pair], lost: set[Pair]) -> Iterator[Problem]:
        clusters = sorted({cluster for cluster, _ in lost})
        what = Message(
            "too-many-objects-lost",
            "would lose {count} on {members} ({clusters}), {lost} of the {standing} that it has"
            " there: more than {share}",
            count=count(len(lost), "object"),
            members=count(len(clusters), "member"),
            clusters=few(clusters, _SHOWN),
            lost=len(lost),
            standing=len(standing),
            share=self._share,
        )
        refusal = self.refuse(
            subject, what, sorted(f"{cluster}/{'/'.join(key)}" for cluster, key in lost)
        )
        yield from [refusal] if refusal else []

    @property
    def _share(self) -> str:
        return f"the {self.limit:.0%} allowed"


def loss_token(what: str, lost: Iterable[str]) -> str:
    """Return a short stable hash of a loss: eight hexadecimal digits."""
    return hashlib.sha256("\n".join((what, *sorted(lost))).encode()).hexdigest()[:8]


def allowing(token: str) -> str:
    """Return the words in which a message names the token that has allowed something."""
    return f"fleet:confirm={token} allows"


def not_tokens(texts: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each text that has not the form of a token."""
    hint = "a refusal tells its token: eight digits and letters, a to f"
    for text in sorted(texts):
        if not re.fullmatch("[0-9a-f]{8}", text):
            yield Problem(
                Message("not-token", '"{text}" is not a token', text=text), ("confirm",), hint
            )


def together(pairs: Iterable[tuple[str, Pair]]) -> dict[str, set[Pair]]:
    """Return the pairs, grouped by what they are counted under."""
    found: dict[str, set[Pair]] = defaultdict(set)
    for name, pair in pairs:
        found[name].add(pair)
    return dict(found)


def _joined(groups: Iterable[Collection[Pair]]) -> set[Pair]:
    return {pair for group in groups for pair in group}


def is_protected(manifest: Manifest) -> bool:
    """Return whether an annotation protects the object."""
    # str(), because YAML reads an unquoted true as a boolean, which no API server takes.
    return str((manifest.metadata.get("annotations") or {}).get(PROTECTED)).lower() == "true"
