"""The document of the fields that are not carried out."""

from __future__ import annotations

from typing import Any

from fleet_components.admission import KINDS
from fleet_components.model.codec import camel
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import nearest
from fleet_components.plan.effect import Unheeded
from fleet_components.plan.effects import ALL, EFFECTS
from fleet_components.review.documents.form import VERSION, Document


def fields_document(kind: str | None = None) -> Document:
    """Return the table of fields of all kinds, or of one kind.

    Raises:
        FleetError: the kind is unknown.
    """
    names = list(dict.fromkeys(one.name for one in KINDS.values()))
    known = {name.casefold(): name for name in names}
    if kind is not None and kind.casefold() not in known:
        meant = nearest(kind, names)
        hint = f"write {meant}" if meant else f"one of {', '.join(names)}"
        raise FleetError([Problem(f'there is no kind "{kind}"', hint=hint)])
    name = known[kind.casefold()] if kind else None
    entries = [entry for entry in EFFECTS if name is None or name in entry.kinds]
    return {
        "version": VERSION,
        "kind": name,
        "kinds": names,
        "carriedOut": [one for one in names if one in ALL],
        "fields": [_field(entry, name) for entry in entries],
    }


def _field(entry: Unheeded, kind: str | None) -> dict[str, Any]:
    return {
        "kinds": [kind] if kind else list(entry.kinds),
        "field": entry.field,
        "values": list(entry.only),
        "others": entry.always and any(_alike(other, entry, kind) for other in EFFECTS),
        "beside": dict([entry.beside]) if entry.beside else None,
        "unless": camel(entry.unless) or None,
        "effect": str(entry.effect),
        "reason": entry.reason,
        "onHub": entry.on_hub or None,
        "instead": entry.hint.replace("{name}", "NAME") or None,
    }


def _alike(other: Unheeded, entry: Unheeded, kind: str | None) -> bool:
    """Return whether another entry is about some values of the same field."""
    shared = set(other.kinds) & set(entry.kinds)
    return other is not entry and other.field == entry.field and (kind in shared if kind else bool(shared))
