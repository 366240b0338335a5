"""What is kept of a placement from run to run."""

from __future__ import annotations

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.memory import PlacementMemory
from fleet_components.plan.again import written_again
from fleet_components.plan.record import Objects, Record
from fleet_components.rollout.plan import Done, Placed


@attrs.frozen
class PlacementRecord(Record[Placed, PlacementMemory]):
    """The record of a KubeFleet placement: the scheduler's memory, and a wave for each cluster."""

    DECISION = Placed
    MEMORY = PlacementMemory

    def objects(self, placed: Placed, member: Cluster) -> Objects:
        """The objects of the revision; they are the same for every member."""
        objects = self.contents.get(placed.revision, ())
        return objects if placed.again is None else tuple(written_again(data, placed) for data in objects)

    def standing(self, done: Done) -> Placed:
        """Rank and wave do not bear on the objects."""
        return Placed(0, 1, -1 if done.revision is None else done.revision)

    def guarded_as(self, name: str) -> str:
        """It stands for itself."""
        return name
