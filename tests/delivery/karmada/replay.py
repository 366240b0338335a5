"""Replays a recording of Karmada."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Self

import attrs

from fleet_components.systems.karmada.plan.record import template_uid
from tests.delivery import replay
from tests.delivery.karmada.comparison import (
    bindings_here,
    bindings_there,
    copies_here,
    copies_there,
)
from tests.delivery.karmada.known import KNOWN, REFUSED
from tests.delivery.karmada.recording import Recording, Step
from tests.delivery.karmada.statuses import statuses_here, statuses_there
from tests.delivery.recording import Data, Seen, ours
from tests.delivery.replay import Known, gathered


@attrs.define(slots=False)
class Replay(replay.Replay[Recording, Step]):
    """A recording on its way."""

    known: ClassVar[Sequence[Known]] = KNOWN

    @classmethod
    def of(cls, recording: Recording) -> Self:
        """Without the kinds that we refuse."""
        return cls(attrs.evolve(recording, without=frozenset(REFUSED)))

    @cached_property
    def stack(self) -> str:
        """The name of a stack under which ties between members go as they were seen to go."""
        odd = {
            f"{self.recording.namespace}/{kind}/{name}": odd
            for (kind, name), odd in self.recording.odd.items()
        }
        names = (f"s{number}" for number in count())
        return next(
            n for n in names if all(_is_odd(template_uid(_full(n), key)) == odd[key] for key in odd)
        )

    def update(self, step: Step) -> Iterator[str]:
        """What the API server drops with a warning is refused here; what does not work is seen once it stands."""
        if step.pruned:
            yield from self.must_refuse(step, {("",): tuple(step.pruned)})
            self.objects = {key: _without(data, step.pruned) for key, data in self.objects.items()}
        if self.recording.unhealthy:
            before = self.recording.documents(self.objects, step)
            self.state = self.run(step, gathered(before, self.recording.releases)).state()
        yield from super().update(step)

    def documents(self, step: Step) -> list[Data]:
        """With where the application does not work."""
        return [*self._health(), *super().documents(step)]

    def seen(self, step: Step) -> Iterator[tuple[Seen, Seen]]:
        """The copies on the members, the bindings, and all statuses."""
        templates = tuple(self.plan.of("Template")) if self.plan else ()
        yield copies_there(step), copies_here(self.state)
        yield (
            bindings_there(step),
            bindings_here({template.subject.key: template.outcome for template in templates}),
        )
        yield statuses_there(step), statuses_here(step, templates)

    def _health(self) -> list[Data]:
        unhealthy = [
            {
                **{part: self.objects[key][part] for part in ("apiVersion", "kind")},
                **{part: self.objects[key]["metadata"][part] for part in ("namespace", "name")},
                "cluster": member,
            }
            for key, members in self.recording.unhealthy.items()
            if key in self.objects
            for member in members
        ]
        return [ours("ApplicationHealth", {"unhealthy": unhealthy})] if unhealthy else []


def _full(stack: str) -> str:
    return f"organization/project/{stack}"


def _is_odd(uid: str) -> bool:
    """Whether the FNV-1a hash is odd: its offset and its prime are, so each byte counts with its lowest bit."""
    return sum(uid.encode()) % 2 == 0


def _without(data: dict[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The object without fields that are given as ``spec.list[0].field``."""
    copy = deepcopy(data)
    for path in paths:
        *way, last = path.replace("[", ".").replace("]", "").split(".")
        part: Any = copy
        for name in way:
            part = part[int(name)] if isinstance(part, list) else part.get(name, {})
        part.pop(last, None)
    return copy
