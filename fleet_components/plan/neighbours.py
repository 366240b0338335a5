"""Fleets of one program: objects that move from one to another stay alive, and no object has two of
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.departures import UNRECORDED, Departure, Fate
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.refusals import Places, refusals

_ENDS = (Fate.DELETED, Fate.KEPT, Fate.SWEPT, Fate.UNDONE)
"""Fates of objects that another fleet may bring from now on."""
_TWICE = Message(
    "brought-by-two-fleets",
    "is brought to {where} by {own} of the fleet {fleet}, and by {other} of the fleet"
    " {neighbour}{there}",
)
_HINT = "take it out of one of the two fleets, or keep their policies on different clusters"


def judged_together(plans: Sequence[FleetPlan]) -> tuple[FleetPlan, ...]:
    """Return the plans of all fleets of a program, each with what it hands over to another one.

    Args:
        plans: the plans as each fleet has made it for itself, in the order in which the program
            declares them; plans that were judged before may be among them.
    """
    # By identity: plans may be equal, those of two empty fleets for example.
    return tuple(_beside(plan, [item for item in plans if item is not plan]) for plan in plans)


def refuses_losses_alone(plan: FleetPlan) -> bool:
    """Return whether a plan would not be refused if other fleets brought all that leaves this
    one.
    """
    moved = (
        attrs.evolve(departure, fate=Fate.MOVED, fleet="another") for departure in plan.departures
    )
    elsewhere = frozenset(plan.past.members)
    return not any(refusals(attrs.evolve(plan, departures=tuple(moved), elsewhere=elsewhere)))


def _beside(plan: FleetPlan, others: Sequence[FleetPlan]) -> FleetPlan:
    """Return the plan of a fleet beside those of others."""
    if not others:
        return plan
    departures, problems = plan.departures, list[Problem]()
    joined = set[str]()
    for other in others:
        members = {*plan.members, *plan.past.members}
        shared = [
            (member, neighbour)
            for member in sorted(members)
            for neighbour in other.members
            if plan.known(member).is_cluster(other.known(neighbour))
        ]
        # One fleet after the other: what one takes over is no longer left for the next.
        departures = tuple(_handed_over(plan, departures, other, dict(shared)))
        problems += _clashes(plan, other, dict(shared))
        joined.update(member for member, _ in shared)
    plan = attrs.evolve(plan, departures=departures, elsewhere=frozenset(joined))
    return attrs.evolve(plan, refused=(*problems, *refusals(plan)))


def _handed_over(
    plan: FleetPlan,
    departures: Sequence[Departure],
    other: FleetPlan,
    shared: Mapping[str, str],
) -> Iterator[Departure]:
    """Yield the departures; those of objects that another fleet brings to the same cluster move."""
    for departure in departures:
        # No member has an empty name, so that a pair with one is found nowhere.
        pair = shared.get(departure.cluster, ""), departure.key
        owner = other.brought.get(pair)
        claimed = any(plan.is_called(claim.fleet) for claim in other.taken_over.get(pair, ()))
        # What no state records has no URN that the other fleet would have to take over.
        if owner and departure.fate in _ENDS and (claimed or departure.fate in UNRECORDED):
            yield attrs.evolve(departure, fate=Fate.MOVED, to=owner.name, fleet=other.options.fleet)
        else:
            yield departure


def _clashes(plan: FleetPlan, other: FleetPlan, shared: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the objects that two fleets bring to the same cluster."""
    both = (
        (key, decided.name, other.brought[shared[member], key].name, member)
        for (member, key), decided in plan.brought.items()
        if (shared.get(member, ""), key) in other.brought
    )
    alike = grouped(both, lambda found: found[:3])
    places, theirs = (Places(item.subjects, item.written) for item in (plan, other))
    for (key, mine, second), found in sorted(alike.items()):
        there = next(iter(theirs.of(second, key)), None)
        here = next(iter(places.of(mine, key)), None)
        yield Problem(
            _TWICE.filled(
                where=few(sorted(member for *_, member in found)),
                own=mine,
                fleet=plan.options.fleet,
                other=second,
                neighbour=other.options.fleet,
                there=f" ({there.location})" if there else "",
            ),
            subject=str(key),
            hint=_HINT,
            file=here.file if here else "",
            line=here.line if here else None,
        )
