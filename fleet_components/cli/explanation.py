"""Explanations as a document: every member of a fleet, and what each plug-in says of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import attrs

from fleet_components.cli.document import VERSION, Document
from fleet_components.cli.planned import Decided, Planned
from fleet_components.model.problem import FleetError, Problem
from fleet_components.scheduler.explain import MemberExplanation


def explanation(planned: Planned, placement: str | None = None, member: str | None = None) -> Document:
    """Why each member is in a placement, or is not.

    Args:
        planned: the fleet, planned.
        placement: the key of one placement, or ``Kind/key``; None for all.
        member: the name of one member; None for all.

    Raises:
        FleetError: there is no such placement or member.
    """
    chosen = planned.placements if placement is None else _find(planned.placements, placement)
    explained = [(decided, decided.explain(None if member is None else {member})) for decided in chosen]
    if member is not None and not any(members for _, members in explained):
        raise FleetError([_unknown("member", member, planned.inventory.names)])
    return {"version": VERSION, "placements": [_placement(decided, members) for decided, members in explained]}


def _find(placements: Iterable[Decided], wanted: str) -> list[Decided]:
    found = [decided for decided in placements if wanted in (decided.key, decided.name)]
    if not found:
        raise FleetError([_unknown("placement", wanted, [decided.key for decided in placements])])
    return found


def _unknown(noun: str, wanted: str, known: Iterable[str]) -> Problem:
    names = sorted(known)
    near = difflib.get_close_matches(wanted, names, 1)
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    hint = f"did you mean {near[0]}?" if near else f"there is: {listed or 'none'}"
    return Problem(f'there is no {noun} "{wanted}"', hint=hint)


def _placement(decided: Decided, members: Iterable[MemberExplanation]) -> Document:
    condition = decided.outcome.decision.status.placement_condition(decided.kind)
    return {
        "kind": decided.kind,
        "key": decided.key,
        "source": decided.place or None,
        "condition": attrs.asdict(condition),
        "members": [_member(one) for one in members],
    }


def _member(explained: MemberExplanation) -> Document:
    return {
        "name": explained.cluster,
        "selected": explained.selected,
        "summary": explained.summary,
        "verdicts": [attrs.asdict(verdict) for verdict in explained.verdicts],
    }
