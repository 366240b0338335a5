"""Lookup of placements, templates and members by the names that a command line gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan.subject import Decided


def find(decided: Sequence[Decided], wanted: str | None) -> list[Decided]:
    """Return the placement or template of a key, or ``Kind/key``; all of them for None.

    Raises:
        FleetError: there is none.
    """
    found = [item for item in decided if wanted in (None, item.subject.key, item.name)]
    if not found and wanted is not None:
        raise FleetError([unknown("placement or template", wanted, [item.subject.key for item in decided])])
    return found


def unknown(noun: str, wanted: str, known: Iterable[str]) -> Problem:
    """Return the problem of a name that nothing has, with the name that was probably meant."""
    names = sorted(known)
    near = nearest(wanted, names)
    hint = f"did you mean {near}?" if near else f"there is: {few(names, 20) or 'none'}"
    return Problem(f'there is no {noun} "{wanted}"', hint=hint)
