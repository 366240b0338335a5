"""What the Karmada plug-ins see during one run of the algorithm."""

from __future__ import annotations

from functools import cached_property

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import ClusterAffinity, ClusterAffinityTerm, Placement
from fleet_components.model.mask import Mask
from fleet_components.model.memory import TemplateMemory
from fleet_components.model.template import Estimates, Template
from fleet_components.scheduler.karmada.affinity import matching


@attrs.frozen
class CycleState:
    """One run.

    Attributes:
        inventory: the fleet.
        template: the object that is placed.
        placement: where it may go.
        memory: what was decided before.
        estimates: how much the members can take.
        rebalances: the names of the rebalances that were asked for.
        empty_workloads: members that were selected get the object with 0 replicas too.
        group: the affinity group that is tried; None where there are no groups.
    """

    inventory: Inventory
    template: Template
    placement: Placement
    memory: TemplateMemory = TemplateMemory()
    estimates: Estimates = Estimates()
    rebalances: frozenset[str] = frozenset()
    empty_workloads: bool = False
    group: ClusterAffinityTerm | None = None

    @cached_property
    def targets(self) -> Mask:
        """The members that have the object now."""
        return self.inventory.mask_of_names(self.memory.clusters)

    @cached_property
    def assigned(self) -> list[int]:
        """The replicas of each member now, by position."""
        column = [0] * len(self.inventory)
        for name, replicas in self.memory.clusters.items():
            position = self.inventory.position(name)
            if position is not None:
                column[position] = replicas
        return column

    @property
    def fresh(self) -> bool:
        """A rebalance asks for a division from scratch. There is none to do before the first success."""
        return self.memory.scheduled and not self.rebalances <= set(self.memory.rebalances)

    @property
    def affinities(self) -> tuple[ClusterAffinity, ...]:
        """The affinities of which one must match: that of the placement or group, then the overflow ones."""
        if self.placement.cluster_affinity:
            return (self.placement.cluster_affinity,)
        if self.group is None:
            return ()
        return (self.group, *self.group.overflow_affinities) if self.template.workload else (self.group,)

    @cached_property
    def selected(self) -> Mask:
        """The members that one of the affinities selects; all of them where there are none."""
        if not self.affinities:
            return self.inventory.everything
        selected = 0
        for affinity in self.affinities:
            selected |= matching(self.inventory, affinity)
        return selected
