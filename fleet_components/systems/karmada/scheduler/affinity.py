"""Evaluation of Karmada's cluster affinities as masks over the fleet."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.selector import Requirement
from fleet_components.systems.karmada.model.policy import ClusterAffinity, FieldSelector

_ZONE = "zone"


def matching(inventory: Inventory, affinity: ClusterAffinity) -> Mask:
    """Return the members that the affinity selects. An invalid selector selects nothing and is not an error."""
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
    """Return the expressions that Karmada treats as label expressions; it does not validate those on zones."""
    return [requirement for requirement in fields.match_expressions if requirement.key != _ZONE]


def meeting_field(inventory: Inventory, requirement: Requirement) -> Mask:
    """Return the members that meet one expression of a field selector."""
    domains = FIELDS[requirement.key](inventory) if requirement.key in FIELDS else {}
    found = inventory.meeting(requirement, domains)
    if (requirement.key, requirement.operator) == (_ZONE, "In"):
        for zone, members in domains.items():
            found &= inventory.everything if zone in requirement.values else ~(members & _in_all_zones(inventory))
    return found


def _in_all_zones(inventory: Inventory) -> Mask:
    """Return the members of which all zones have to be among those that are asked for."""
    return inventory.grouped("in all zones", lambda cluster: ["yes"] * cluster.in_all_zones).get("yes", 0)
