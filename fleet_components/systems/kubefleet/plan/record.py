"""Define the record of a placement, kept between runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.envelope import unopened, unwrapped
from fleet_components.content.overridden import Overridden
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, below, decode, encode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.plan.record import Objects, Record
from fleet_components.rollout.rollout import Done, Placed
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import GROUP
from fleet_components.systems.kubefleet.plan.overrides import apply_rules, check_rules
from fleet_components.systems.kubefleet.plan.update_runs import RunMemory


@attrs.frozen
class PlacementRecord(Record[Placed, PlacementMemory]):
    """Record of a KubeFleet placement: the scheduler's memory, and rank, wave and revision of each
    member.

    Attributes:
        runs: what is remembered of its update runs.
    """

    COMPONENT = "Placement"
    DECISION = Placed
    MEMORY = PlacementMemory

    runs: RunMemory = RunMemory()

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PlacementRecord:
        """Read a record back; the update runs are beside the memory of the scheduler."""
        record = super().from_wire(wire)
        with below("memory", "runs"):
            runs = decode(RunMemory, (wire.get("memory") or {}).get("runs") or {})
            for name, run in runs.records.items():
                # A run that could not begin has stages, and no clusters.
                if run.clusters and len(run.clusters) != len(run.stages):
                    raise MisfitError(
                        Problem(
                            Message(
                                "does-not-clusters-each", "does not have the clusters of each stage"
                            ),
                            ("records", name),
                        )
                    )
        return attrs.evolve(record, runs=runs)

    def renamed(self, cluster: Callable[[str], str]) -> PlacementRecord:
        """Return the record with the members under other names."""
        return attrs.evolve(super().renamed(cluster), runs=self.runs.renamed(cluster))

    def _memory_to_wire(self) -> Any:
        runs = encode(self.runs)
        return {**super()._memory_to_wire(), **({"runs": runs} if runs else {})}

    @property
    def members(self) -> frozenset[str]:
        """The members that were sent something, and those that are picked."""
        return frozenset((*self.decisions, *self.memory.bindings))

    @classmethod
    def check_content(cls, number: int, data: Any) -> None:
        """Check one object; an envelope has to open."""
        super().check_content(number, data)
        why = unopened(Manifest(data))
        if why:
            raise MisfitError(
                Problem(
                    Message(
                        "envelope-cannot-opened",
                        "is an envelope that cannot be opened: {why}",
                        why=why,
                    )
                )
            )

    def plain(self, placed: Placed) -> Objects:
        """Return the objects of the revision, envelopes as they are."""
        return self.contents[placed.revision]

    @staticmethod
    def apply(objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return each object after the rules of overrides."""
        return apply_rules(objects, rules, member)

    @classmethod
    def check_rules(cls, data: Any) -> None:
        """Check the rules of one override."""
        check_rules(data)

    @staticmethod
    def opened(objects: Objects) -> Objects:
        """Return the objects with what is in envelopes in place of these."""
        return tuple(manifest.data for manifest in unwrapped(map(Manifest, objects)))

    def standing(self, done: Done) -> Placed:
        """Return a decision with the revision that runs; rank and wave do not influence the
        objects.
        """
        return Placed(
            0, 1, -1 if done.revision is None else done.revision, overrides=done.overrides
        )

    def guarded_as(self, name: str) -> str:
        """Return its own name."""
        return name

    def steered_by(self, name: str) -> ObjectKey:
        """Return the key of the placement itself."""
        kind, _, key = name.partition("/")
        namespace, _, own = key.rpartition("/")
        return ObjectKey(GROUP, kind, namespace, own)

    def failed_alike(self, now: PlacementRecord) -> bool:
        """Return whether the policy and what it has found are the same."""
        before, memory = self.memory, now.memory
        # What was found is among the bindings, and what was asked for in the policy.
        return (before.policy, before.bindings) == (memory.policy, memory.bindings)

    @property
    def protectable(self) -> Objects:
        """The objects of the revision; none if they are unknown."""
        return self.content(self.revision) or ()
