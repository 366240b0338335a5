"""Which members a cluster affinity selects, as a mask."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import ClusterAffinity, FieldSelector
from fleet_components.model.mask import Mask
from fleet_components.model.selector import Requirement

_ZONE = "zone"


def matching(inventory: Inventory, affinity: ClusterAffinity) -> Mask:
    """The members that the affinity selects. An invalid selector selects nothing, without an error."""
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
    """The members by zone; one may be in several."""
    return inventory.grouped(_ZONE, lambda cluster: cluster.zones)


def regions(inventory: Inventory) -> Mapping[str, Mask]:
    """The members by region; those without are in none."""
    return inventory.grouped("region", lambda cluster: filter(None, [cluster.region]))


def providers(inventory: Inventory) -> Mapping[str, Mask]:
    """The members by provider; those without are in none."""
    return inventory.grouped("provider", lambda cluster: filter(None, [cluster.provider]))


FIELDS = {_ZONE: zones, "region": regions, "provider": providers}
"""The members by the values of each field that can be asked for."""


def _single_valued(fields: FieldSelector) -> list[Requirement]:
    """The expressions that Karmada reads as label expressions; zones are looked at without checking them."""
    return [requirement for requirement in fields.match_expressions if requirement.key != _ZONE]


def meeting_field(inventory: Inventory, requirement: Requirement) -> Mask:
    """The members that meet one expression of a field selector."""
    domains = FIELDS[requirement.key](inventory) if requirement.key in FIELDS else {}
    return inventory.meeting(requirement, domains)
