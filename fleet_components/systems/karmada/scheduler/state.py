"""Input of the Karmada plug-ins during one run of the algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.selector import Requirement
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    ClusterAffinityTerm,
    FieldSelector,
    Placement,
)
from fleet_components.systems.karmada.model.template import Estimates, Template


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
        """True if a rebalance asks for a division from scratch; always False before the first
        success.
        """
        return self.memory.scheduled and not self.rebalances <= set(self.memory.rebalances)

    @property
    def affinities(self) -> tuple[ClusterAffinity, ...]:
        """Affinities of which a member must match one: that of the placement or group, then the
        overflow affinities.

        Overflow affinities apply to workloads only.
        """
        if self.placement.cluster_affinity:
            return (self.placement.cluster_affinity,)
        if self.group is None:
            return ()
        # Without replicas nothing can overflow, so such an object stays with the primary affinity,
        # as in Karmada.
        return (
            (self.group, *self.group.overflow_affinities)
            if self.template.workload
            else (self.group,)
        )

    @cached_property
    def selected(self) -> Mask:
        """Members that match one of the affinities; all members if there are no affinities."""
        if not self.affinities:
            return self.inventory.everything
        selected = 0
        for affinity in self.affinities:
            selected |= matching(self.inventory, affinity)
        return selected


# Evaluation of Karmada's cluster affinities as masks over the fleet.


_ZONE = "zone"


def matching(inventory: Inventory, affinity: ClusterAffinity) -> Mask:
    """Return the members that the affinity selects. An invalid selector selects nothing and is not
    an error.
    """
    labels = affinity.label_selector.requirements() if affinity.label_selector else ()
    fields = affinity.field_selector or FieldSelector()
    if not all(requirement.valid for requirement in (*labels, *_single_valued(fields))):
        return 0
    matched = inventory.matching(affinity.label_selector)
    for requirement in fields.match_expressions:
        matched &= meeting_field(inventory, requirement)
    if affinity.cluster_names:
        matched &= inventory.mask_of_names(affinity.cluster_names)
    return matched & ~inventory.mask_of_names(affinity.exclude) if affinity.exclude else matched


def zones(inventory: Inventory) -> Mapping[str, Mask]:
    """Return the members of each zone; a member may be in several zones."""
    return inventory.grouped(_ZONE, lambda cluster: cluster.zones)


def regions(inventory: Inventory) -> Mapping[str, Mask]:
    """Return the members of each region; members without a region are left out."""
    return inventory.grouped("region", lambda cluster: filter(None, [cluster.region]))


def providers(inventory: Inventory) -> Mapping[str, Mask]:
    """Return the members of each provider; members without a provider are left out."""
    return inventory.grouped("provider", lambda cluster: filter(None, [cluster.provider]))


FIELDS = {_ZONE: zones, "region": regions, "provider": providers}
"""Function that groups the members by value, for each field that a field selector accepts."""


def _single_valued(fields: FieldSelector) -> list[Requirement]:
    """Return the expressions that Karmada treats as label expressions; it does not validate those
    on zones.
    """
    return [requirement for requirement in fields.match_expressions if requirement.key != _ZONE]


def meeting_field(inventory: Inventory, requirement: Requirement) -> Mask:
    """Return the members that meet one expression of a field selector."""
    domains = FIELDS[requirement.key](inventory) if requirement.key in FIELDS else {}
    found = inventory.meeting(requirement, domains)
    if (requirement.key, requirement.operator) == (_ZONE, "In"):
        for zone, members in domains.items():
            found &= (
                inventory.everything
                if zone in requirement.values
                else ~(members & _in_all_zones(inventory))
            )
    return found


def _in_all_zones(inventory: Inventory) -> Mask:
    """Return the members of which all zones have to be among those that are asked for."""
    return inventory.grouped("in all zones", lambda cluster: ["yes"] * cluster.in_all_zones).get(
        "yes", 0
    )
