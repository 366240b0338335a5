"""What would bring a placement to further regions or members, in the words of its system."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fleet_components.model.kubefleet.placement import PICK_FIXED, PICK_N
from fleet_components.model.text import few
from fleet_components.testing.planned_member import FIELDS, By, Members, noun_of
from fleet_components.testing.planned_placement import PlannedPlacement

__tracebackhide__ = True


def remedy(placement: PlannedPlacement, here: Collection[str], number: int, by: By) -> str:
    """Return what would bring a placement to a number of regions, or of whatever members are told apart by.

    Args:
        placement: the placement.
        here: the regions that it is in.
        number: the number that is asked for.
        by: what members are told apart by.
    """
    groups = placement.fleet.grouped(placement.fleet.members, by)
    elsewhere = {value: members for value, members in groups.items() if value and value not in here}
    if len(elsewhere) + len(here) < number:
        return f"more {noun_of(by, 2)}: the fleet has {few([value for value in groups if value]) or 'none'} only"
    if not placement.policy:
        return "a policy that selects it"
    return _asked(placement, elsewhere, number, by)


def _asked(placement: PlannedPlacement, elsewhere: Mapping[str, Members], number: int, by: By) -> str:
    there = f"members in {few([f'{value} ({few(many, 3)})' for value, many in elsewhere.items()], 3)}"
    if by == "member":
        there = few(list(elsewhere))
    match placement.placement_type:
        case "":
            return _by_karmada(placement, there, number, by)
        case one if one == PICK_FIXED:
            return f"clusterNames with {there}"
        case one if one == PICK_N and len(placement.picked) < number:
            return f"numberOfClusters: {number}, if its filters let {there} pass"
        case one if one == PICK_N and by != "member":
            label = _label_of(elsewhere, by)
            if label in placement.spread_over:
                return f"filters that let {there} pass: it is spread over {label} as far as they do"
            return f"topologySpreadConstraints over {label or 'a label that tells them apart'}, to reach {there}"
    return f"filters that let {there} pass"


def _by_karmada(placement: PlannedPlacement, there: str, number: int, by: By) -> str:
    field = "cluster" if by == "member" else by
    if isinstance(field, str) and (by in FIELDS) and field not in placement.spread_over:
        return f"spreadConstraints with spreadByField: {field} and minGroups: {number}, to reach {there}"
    return f"a clusterAffinity that allows {there}"


def _label_of(groups: Mapping[str, Members], by: By) -> str:
    """Return the label whose value says which group a member is in; empty if none does."""
    if isinstance(by, str) and by not in FIELDS:
        return by
    members = [(value, one) for value, many in groups.items() for one in many]
    keys = sorted(members[0][1].labels) if members else ()
    return next((key for key in keys if all(one.labels.get(key) == value for value, one in members)), "")
