"""Input of the Karmada plug-ins during one run of the algorithm."""

from __future__ import annotations

from functools import cached_property

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import ClusterAffinity, ClusterAffinityTerm, Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler.affinity import matching


@attrs.frozen
class KarmadaState:
    """State of one run of the algorithm.

    Attributes:
        inventory: the fleet.
        template: the template to place.
        placement: where it may go.
        memory: the past decision.
        estimates: how many replicas the members can take.
        rebalances: the names of the requested rebalances.
        empty_workloads: whether selected members get the object even with 0 replicas.
        group: the affinity group to try; None if the placement has no groups.
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
        """Members that have the object now."""
        return self.inventory.mask_of_names(self.memory.clusters)

    @property
    def placed(self) -> Mask:
        """Members that have the object now."""
        return self.targets

    @cached_property
    def assigned(self) -> list[int]:
        """Replicas that each member has now, by position."""
        column = [0] * len(self.inventory)
        for name, replicas in self.memory.clusters.items():
            position = self.inventory.position(name)
            if position is not None:
                column[position] = replicas
        return column

    @property
    def fresh(self) -> bool:
        """True if a rebalance asks for a division from scratch; always False before the first success."""
        return self.memory.scheduled and not self.rebalances <= set(self.memory.rebalances)

    @property
    def affinities(self) -> tuple[ClusterAffinity, ...]:
        """Affinities of which a member must match one: that of the placement or group, then the overflow affinities.

        Overflow affinities apply to workloads only.
        """
        if self.placement.cluster_affinity:
            return (self.placement.cluster_affinity,)
        if self.group is None:
            return ()
        # Without replicas nothing can overflow, so such an object stays with the primary affinity, as in Karmada.
        return (self.group, *self.group.overflow_affinities) if self.template.workload else (self.group,)

    @cached_property
    def selected(self) -> Mask:
        """Members that match one of the affinities; all members if there are no affinities."""
        if not self.affinities:
            return self.inventory.everything
        selected = 0
        for affinity in self.affinities:
            selected |= matching(self.inventory, affinity)
        return selected
