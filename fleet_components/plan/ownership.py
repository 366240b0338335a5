"""Owners of the objects that a member has before the stack writes them: another stack, or somebody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.replacement import as_sent
from fleet_components.content.stamp import STACK_ANNOTATION, manager_of
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, value_at
from fleet_components.model.problem import FieldPath, Problem, show_path
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan, grouped

_SHOWN = 10
_LONGEST_NAME = 200
_ANOTHERS = "is on {where} already, and belongs to the stack {owner}"
_HINT = "let one of the two stacks bring it; where that stack is gone, take its annotation {annotation} away"
_TAKEN = "somebody else has made it on {where}: it is taken over{changes}"


@attrs.frozen
class Arrival:
    """An object that a member gets, and that the stack does not have there yet.

    Attributes:
        cluster: the member.
        data: the object as it is wanted.
        adopts: True if it is taken over where it is there already; False if it is refused then.
    """

    cluster: str
    data: Mapping[str, Any]
    adopts: bool

    @property
    def key(self) -> ObjectKey:
        """The object's key."""
        return Manifest(self.data).key


Live = Callable[[Arrival], Mapping[str, Any] | None]
"""Returns an object as its member has it; None if it is not there, or could not be asked for."""


def arrivals(plan: FleetPlan, cluster: str) -> tuple[Arrival, ...]:
    """Return the objects that are new to the stack on a member."""
    deliveries = (delivery for one in plan.subjects if (delivery := one.deliveries.get(cluster)))
    found = (Arrival(cluster, data, delivery.adopts) for delivery in deliveries for data in delivery.objects)
    known = plan.standing.keys() | plan.taken_over.keys()
    return tuple(one for one in found if (cluster, one.key) not in known)


def anothers(
    arriving: Sequence[Arrival], live: Live, plan: FleetPlan, written: Mapping[ObjectKey, Origin]
) -> Iterator[Problem]:
    """Yield a problem for each object that another stack has brought.

    Args:
        arriving: the objects that are new to the stack.
        live: returns them as their members have them.
        plan: the plan.
        written: where the objects are written.
    """
    owned = [(one, _owner(there)) for one in arriving if (there := live(one))]
    ours = ("", plan.options.stack)
    # Under the recorded manager, what the stack has left behind before it was renamed is its own.
    foreign = [(one, owner) for one, owner in owned if owner not in ours and manager_of(owner) != plan.manager]
    for (key, owner), found in sorted(grouped(foreign, lambda it: (it[0].key, it[1])).items()):
        where = few(sorted(one.cluster for one, _ in found))
        origin = written.get(key)
        yield Problem(
            _ANOTHERS.format(where=where, owner=owner[:_LONGEST_NAME]),
            subject=str(key),
            hint=_HINT.format(annotation=STACK_ANNOTATION),
            file=origin.file if origin else "",
            line=origin.line if origin else None,
        )


def taken_over(arriving: Sequence[Arrival], live: Live) -> Iterator[Problem]:
    """Yield a warning for each object that somebody else has made, with the fields that change."""
    made = [
        (one, tuple(map(show_path, _overwritten(_wanted(one.data), there))))
        for one in arriving
        if one.adopts and (there := live(one)) and not _owner(there)
    ]
    for (key, fields), found in sorted(grouped(made, lambda it: (it[0].key, it[1])).items()):
        changes = f", and changed in {few(fields, _SHOWN)}" if fields else ""
        where = few(sorted(one.cluster for one, _ in found))
        yield Problem(_TAKEN.format(where=where, changes=changes), subject=str(key))


def _owner(live: Mapping[str, Any]) -> str:
    """Return the stack that has brought an object; empty if none has."""
    owner = value_at(live, ("metadata", "annotations", STACK_ANNOTATION))
    return owner if isinstance(owner, str) else ""


def _wanted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object as it is compared: in the fields that are sent, without those that name it."""
    return {key: value for key, value in as_sent(data).items() if key not in ("apiVersion", "kind")}


def _overwritten(wanted: Any, live: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the fields that have another value now; those that are only added are left out."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        for key in sorted(wanted.keys() & live.keys()):
            yield from _overwritten(wanted[key], live[key], (*path, key))
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        for index, (item, there) in enumerate(zip(wanted, live, strict=True)):
            yield from _overwritten(item, there, (*path, index))
    elif wanted is not None and wanted != live:
        yield path
