"""Hints at what would bring a placement to further regions or members, in the words of its
system.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fleet_components.model.text import few
from fleet_components.systems.kubefleet.model.placement import PICK_FIXED, PICK_N
from fleet_components.testing.planned_member import FIELDS, By, Members, noun_of
from fleet_components.testing.planned_placement import PlannedPlacement

__tracebackhide__ = True
EXPLAIN = "see what fleet explain says of each member"


def remedy(placement: PlannedPlacement, here: Collection[str], number: int, by: By) -> str:
    """Return what would bring a placement to a number of regions, or of other groups by which
    members are distinguished.

    Args:
        placement: the placement.
        here: the regions that it is in.
        number: the number that is asked for.
        by: what members are distinguished by.
    """
    groups = placement.fleet.grouped(placement.fleet.members, by)
    elsewhere = {value: members for value, members in groups.items() if value and value not in here}
    if len(elsewhere) + len(here) < number:
        return (
            f"more {noun_of(by, 2)}: the fleet has"
            f" {few([value for value in groups if value]) or 'none'} only"
        )
    if not placement.policy:
        return "a policy that selects it"
    return _asked(placement, elsewhere, number - len(here), number, by) or EXPLAIN


def staying(placement: PlannedPlacement, allowed: Collection[str], abroad: Members, by: By) -> str:
    """Return what would keep a placement in the regions, or whatever members are distinguished by,
    that are allowed.

    Args:
        placement: the placement.
        allowed: the regions that are allowed.
        abroad: the members elsewhere.
        by: what members are distinguished by.
    """
    if placement.placement_type == PICK_FIXED:
        return f"clusterNames without {few(abroad)}"
    if by == "member":
        return f"filters that {few(abroad)} does not pass"
    groups = placement.fleet.grouped(placement.fleet.members, by)
    label = _label_of({value: members for value, members in groups.items() if value}, by)
    named = (
        f"{label} in ({', '.join(sorted(allowed))})"
        if label
        else "a label that only those allowed have"
    )
    return f"require {named} of its members"


def _asked(
    placement: PlannedPlacement, elsewhere: Mapping[str, Members], missing: int, number: int, by: By
) -> str:
    there = few(list(elsewhere)) if by == "member" else f"members in {_shown(elsewhere)}"
    allowed = set(placement.allowed(planned for many in elsewhere.values() for planned in many))
    # Fewer of the other groups have a member that filters allow than are missing.
    barred = sum(not allowed.isdisjoint(many) for many in elsewhere.values()) < missing
    match placement.placement_type:
        case "":
            asked = (
                [f"a clusterAffinity that allows {there}"]
                if barred
                else _spread(placement, number, by)
            )
        # A guard, because a bare name in a pattern captures and does not compare.
        case one if one == PICK_FIXED:
            asked = [f"clusterNames with {there}"]
        case one if one == PICK_N:
            asked = [f"numberOfClusters: {number}"] if len(placement.picked) < number else []
            asked += [f"filters that let {there} pass"] if barred else []
            label = _label_of(elsewhere, by)
            spread = by == "member" or label in placement.spread_over
            asked += (
                []
                if spread
                else [f"topologySpreadConstraints over {label or 'a label that tells them apart'}"]
            )
        case _:
            asked = [f"filters that let {there} pass"]
    shown = " and ".join(asked)
    return shown if not shown or there in shown else f"{shown}, to reach {there}"


def _spread(placement: PlannedPlacement, number: int, by: By) -> list[str]:
    """Return the constraint that a Karmada policy lacks; nothing if it has it, or if there is none
    for it.
    """
    field = "cluster" if by == "member" else by
    if not isinstance(field, str) or by not in FIELDS or field in placement.spread_over:
        return []
    # Karmada's webhook refuses any field without that one.
    besides = (
        [] if "cluster" in (field, *placement.spread_over) else ["one with spreadByField: cluster"]
    )
    return [f"spreadConstraints with spreadByField: {field} and minGroups: {number}", *besides]


def _shown(groups: Mapping[str, Members]) -> str:
    return few([f"{value} ({few(many, 3)})" for value, many in groups.items()], 3)


def _label_of(groups: Mapping[str, Members], by: By) -> str:
    """Return the label whose value says which group a member is in; empty if none does."""
    if isinstance(by, str) and by not in FIELDS:
        return by
    members = [(value, planned) for value, many in groups.items() for planned in many]
    keys = sorted(members[0][1].labels) if members else ()
    return next(
        (
            key
            for key in keys
            if all(planned.labels.get(key) == value for value, planned in members)
        ),
        "",
    )
