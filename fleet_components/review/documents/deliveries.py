"""The document of what each delivery does with every field of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.admission import KINDS
from fleet_components.admission.schema import Schema
from fleet_components.model.codec import camel
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.effect import Effect, Elsewhere, Steps, Unheeded
from fleet_components.plan.effects import EFFECTS, ELSEWHERE, STEERING
from fleet_components.review.documents.form import VERSION, Document

Entry = Unheeded | Elsewhere
CARRIED_OUT = "carried out"
DELIVERIES = ("direct", "hub", "argocd", "flux")
"""Keys of a row: what the delivery to members, that through a hub, and the two tools that pull do
with a field.
"""


def deliveries_document(kind: str | None = None) -> Document:
    """Return, of every kind of policy or of one, the fields that not all deliveries carry out, and
    those that all do.

    Kinds with the same fields share an entry.

    Raises:
        FleetError: the kind is unknown, or is no policy.
    """
    if kind is not None and kind.casefold() not in {name.casefold() for name in STEERING}:
        raise FleetError(
            [
                Problem(
                    Message("no-kind-policy", 'there is no kind of policy "{kind}"', kind=kind),
                    hint=f"one of {', '.join(STEERING)}",
                )
            ]
        )
    found: list[dict[str, Any]] = []
    for name in STEERING:
        if kind is None or kind.casefold() == name.casefold():
            fields = _of_kind(name)
            same = next((data for data in found if fields.items() <= data.items()), None)
            if same is None:
                same = {"kinds": [], **fields}
                found.append(same)
            same["kinds"].append(name)
    return {"version": VERSION, "policies": found}


def _of_kind(name: str) -> dict[str, Any]:
    every: tuple[Entry, ...] = (*EFFECTS, *ELSEWHERE)
    entries = [item for item in every if name in item.kinds and item.steps[:1] == ("spec",)]
    rows, alike = dict[str, Any](), dict[str, None]()
    for (_, kind), known in KINDS.items():
        if kind == name and "spec" in known.structure.fields:
            for row in _rows(known.structure.fields["spec"], ("spec",), entries):
                if isinstance(row, str):
                    alike[row] = None
                else:
                    rows[f"{row['field']}: {row['values']}"] = row
    return {"fields": list(rows.values()), "carriedOut": list(alike)}


def _rows(schema: Schema, steps: Steps, entries: list[Entry]) -> Iterator[dict[str, Any] | str]:
    """Yield the rows of a field and all below, and the highest fields that every delivery carries
    out.
    """
    own = [entry for entry in entries if entry.steps == steps]
    below = [entry for entry in entries if entry.steps[: len(steps)] == steps and entry not in own]
    yield from map(_row, own)
    if not below:
        # An entry for some values says nothing of the others.
        if not own:
            yield _named(steps)
        return
    inner = {(*steps, name): field for name, field in schema.fields.items()}
    if schema.items:
        inner[(*steps, "[]" if schema.type == "array" else "{}")] = schema.items
    for path, field in inner.items():
        yield from _rows(field, path, below)


def _row(entry: Entry) -> dict[str, Any]:
    return {"field": entry.field, "values": _values(entry), **_treated(entry)}


def _values(entry: Entry) -> list[str]:
    beside = entry.beside if isinstance(entry, Unheeded) else None
    if beside is None:
        return list(entry.only)
    name, pattern = beside
    wanted = "" if pattern == "?*" else f": {pattern.replace('!', 'not ')}"
    return [*entry.only, f"beside {name}{wanted}"]


def _treated(entry: Entry) -> Mapping[str, str]:
    if isinstance(entry, Elsewhere):
        words = (CARRIED_OUT, entry.on_hub, entry.argocd, entry.flux)
        return {name: text or CARRIED_OUT for name, text in zip(DELIVERIES, words, strict=True)}
    here = str(entry.effect)
    if entry.unless:
        here += f", but for {camel(entry.unless)}: true in a KarmadaSettings"
    # What an API asks for is on the hub like everything else.
    there = entry.on_hub or (
        CARRIED_OUT if entry.effect is Effect.NOT_NEEDED else str(entry.effect)
    )
    return {"direct": here, "hub": there, "argocd": here, "flux": here}


def _named(steps: Steps) -> str:
    return ".".join(steps).replace(".[]", "[]").replace(".{}", "{}")
