"""Define the record of a placement, kept between runs."""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.kubefleet.memory import PlacementMemory
from fleet_components.plan.again import written_again
from fleet_components.plan.kubefleet.overrides import apply_rules, check_rules
from fleet_components.plan.overriding import overridden
from fleet_components.plan.record import Objects, Record
from fleet_components.rollout.rollout import Done, Placed, Version


@attrs.frozen
class PlacementRecord(Record[Placed, PlacementMemory]):
    """Record of a KubeFleet placement: the scheduler's memory, and rank, wave and revision of each member."""

    DECISION = Placed
    MEMORY = PlacementMemory

    _made: dict[Version, Objects] = attrs.field(init=False, factory=dict, eq=False, repr=False)

    @property
    def members(self) -> frozenset[str]:
        """The members that were sent something, and those that are picked."""
        return frozenset((*self.decisions, *self.memory.bindings))

    def objects(self, placed: Placed, member: Cluster) -> Objects:
        """Return the objects of the revision, changed by the overrides; empty if either is unknown.

        Members with equal overrides share them, unless they are marked to be written again.
        """
        if not self.knows(placed):
            return ()
        if placed.version not in self._made:
            objects = self.contents[placed.revision]
            if placed.overrides is not None:
                objects = overridden(apply_rules(objects, self.overrides[placed.overrides], member))
            self._made[placed.version] = objects
        objects = self._made[placed.version]
        return objects if placed.again is None else tuple(written_again(data, placed) for data in objects)

    @classmethod
    def check_rules(cls, data: Any) -> None:
        """Check the rules of one override."""
        check_rules(data)

    def standing(self, done: Done) -> Placed:
        """Return a decision with the revision that runs; rank and wave do not influence the objects."""
        return Placed(0, 1, -1 if done.revision is None else done.revision, overrides=done.overrides)

    def guarded_as(self, name: str) -> str:
        """Return its own name."""
        return name
