"""Replays a recording of KubeFleet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, Self

import attrs

from fleet_components.model.decision import Decision
from fleet_components.model.observed import ObservedMember
from fleet_components.plan.options import Settings
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.testing import Registration
from tests.delivery import replay
from tests.delivery.driver import cluster_of
from tests.delivery.kubefleet.comparison import (
    bindings_here,
    bindings_there,
    copies_here,
    copies_there,
    others_here,
    others_there,
    out_of_order,
    placement_here,
    placements_there,
    sent,
)
from tests.delivery.kubefleet.known import KNOWN
from tests.delivery.kubefleet.members import Members, ready
from tests.delivery.kubefleet.recording import Recording, key_of, merged
from tests.delivery.recording import Data, Differing, Seen, Step
from tests.delivery.replay import Known
from tests.scheduler.kubefleet.hub import PENDING, standing


@attrs.define(slots=False)
class Replay(replay.Replay[Recording, Step]):
    """A recording on its way.

    Attributes:
        shown: the last decision of each placement, with the status that a hub shows by now.
        members: the members, with an agent on each.
        moved: the members that each placement has moved in the last step, wave by wave.
    """

    known: ClassVar[Sequence[Known]] = KNOWN
    shown: dict[str, Decision[PlacementMemory]] = attrs.field(factory=dict)
    members: Members = attrs.field(factory=Members)
    moved: dict[str, list[set[str]]] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.objects |= self.recording.at_first

    @classmethod
    def of(cls, recording: Recording) -> Self:
        """From its beginning."""
        return cls(recording)

    @property
    def settings(self) -> Settings:
        """On a hub a placement goes with all that it has brought."""
        return Settings(limit=1, keep_cluster_resources=False)

    def documents(self, step: Step) -> list[Data]:
        """With the revisions that update runs have taken in place of one that a hub had not collected yet."""
        delayed, found = self.recording.delayed, super().documents(step)
        return [merged(item, _of_revision(delayed.get(key_of(item)))) for item in found]

    def fails(self, step: Step, registration: Registration) -> bool:
        """Whether a workload was not ready on its member."""
        if not registration.type.startswith("kubernetes:") or "@" not in registration.name:
            return False
        key = key_of(registration.inputs)
        return any(
            key == (item["kind"], item.get("namespace", ""), item["name"]) and not ready(item)
            for item in step.after["memberObjects"].get(cluster_of(registration.name), ())
        )

    def update(self, step: Step) -> Iterator[str]:
        """Remember in which order the members move."""
        self.moved = {}
        yield from super().update(step)

    def carried_out(self) -> None:
        """After a member on which something does not become ready no wave begins."""
        assert self.plan
        failed = {cluster_of(item.name) for item in self.unready}
        for item in self.plan.of("Placement"):
            moved = self.moved.setdefault(item.subject.key, [])
            for wave in item.outcome.rollout.waves:
                if not failed.intersection(*moved[-1:]):
                    moved.append(set(wave.clusters))

    def planned(self, source: Source) -> None:
        """A hub writes the status of a placement anew when it says something else."""
        assert self.plan
        found = {item.name: item.outcome.decision for item in self.plan.of("Placement")}
        self.shown = {
            name: _shown(self.shown.get(name, PENDING), decision)
            for name, decision in found.items()
        }

    def compared(self, step: Step) -> Iterator[Differing | str]:
        """Beside what was seen, the order in which members began."""
        yield from super().compared(step)
        if self.plan:
            for placement, waves in self.moved.items():
                yield from out_of_order(step, placement, waves)

    def seen(self, step: Step) -> Iterator[tuple[Seen, Seen]]:
        """The placements, their bindings, and the copies on the members."""
        self.members.touched(step)
        if not self.plan:
            return
        decided = self.plan.of("Placement")
        observed = self._observed(step, decided)
        here = [
            placement_here(item, self.shown[item.name], observed[item.name]) for item in decided
        ]
        yield placements_there(step), dict(chain.from_iterable(item.items() for item in here))
        others = [others_here(item, self.shown[item.name], observed[item.name]) for item in decided]
        yield others_there(step), dict(chain.from_iterable(other.items() for other in others))
        yield bindings_there(step), dict(pair for item in decided for pair in bindings_here(item))
        yield copies_there(step), copies_here(self.state, self.recording.kinds)

    def _observed(
        self, step: Step, decided: Sequence[Decided]
    ) -> dict[str, dict[str, ObservedMember]]:
        """What the agents of the members report of each placement."""
        objects, found = sent(self.state), dict[str, dict[str, ObservedMember]]()
        self.members.emptied(objects)
        for item in sorted(decided, key=lambda item: item.name):
            subject: Any = item.subject
            if subject.mode.reports:
                objects |= {
                    (subject.key, name): list(to.objects) for name, to in item.deliveries.items()
                }
            found[item.name] = {
                cluster: self.members.reconciled(cluster, subject.key, mine, subject.mode, step)
                for (key, cluster), mine in objects.items()
                if key == subject.key
            }
        return found


def _of_revision(index: str | None) -> Data:
    """What an update run says that takes a revision."""
    return {"spec": {"resourceSnapshotIndex": index}} if index else {}


def _shown(
    before: Decision[PlacementMemory], found: Decision[PlacementMemory]
) -> Decision[PlacementMemory]:
    """A decision with the status that a hub shows then; a placement that has all it asks for is not scheduled again."""
    old, new = before.memory, found.memory
    condition = before.status.condition
    fulfilled = condition is not None and condition.status == "True"
    if fulfilled and (old.snapshot, old.policy, old.bindings.keys()) == (
        new.snapshot,
        new.policy,
        new.bindings.keys(),
    ):
        return before
    return attrs.evolve(found, status=standing(before, found))
