"""Writes ``docs/fields-by-delivery.md``, what each delivery does with every field of a policy:
``python -m tools.deliveries``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import attrs

from fleet_components.admission import KINDS
from fleet_components.admission.schema import Schema
from fleet_components.model.codec import camel
from fleet_components.plan.effect import Effect, Elsewhere, Steps, Unheeded
from fleet_components.plan.effects import EFFECTS, ELSEWHERE, STEERING
from tools.fields import table

Entry = Unheeded | Elsewhere
_CARRIED_OUT = "carried out"
_PAGE = """\
# What each delivery does with a field

Written by `make docs` from the table that every plan goes by.
[Which delivery when](which-delivery.md) says what else they differ in, and [fields](fields.md) why
something is not carried out.

Every field of `spec` is here, of every kind of policy: those that not all deliveries carry out in a
table, all others below it by the highest field of which everything is carried out. "The same" is
what the direct delivery does. A render for Argo CD or Flux refuses what a plan refuses. Whatever a
hub decides, it decides as soon as it sees a reason; the others decide with each update, or with
each render.
"""


@attrs.frozen
class PolicyFields:
    """The fields of ``spec`` of a kind of policy.

    Attributes:
        entries: what not all deliveries carry out.
        carried_out: the highest fields of which every delivery carries out everything.
    """

    entries: tuple[Entry, ...]
    carried_out: tuple[str, ...]

    @classmethod
    def of(cls, kind: str) -> PolicyFields:
        """Return the fields of a kind, in the order of its schema."""
        every: tuple[Entry, ...] = (*EFFECTS, *ELSEWHERE)
        known = [entry for entry in every if kind in entry.kinds and entry.steps[:1] == ("spec",)]
        schemas = [
            found.structure.fields["spec"]
            for (_, name), found in KINDS.items()
            if name == kind and "spec" in found.structure.fields
        ]
        parts = [part for schema in schemas for part in _parts(schema, ("spec",), known)]
        entries = {
            (entry.field, _values(entry)): entry for entry in parts if not isinstance(entry, str)
        }
        carried_out = dict.fromkeys(part for part in parts if isinstance(part, str))
        return cls(tuple(entries.values()), tuple(carried_out))

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row of the table for each entry."""
        return [(f"`{_place(entry)}`", *_cells(entry)) for entry in self.entries]


def page() -> str:
    """Return the whole page; kinds with the same fields share a part."""
    kinds_by_text: dict[str, list[str]] = {}
    for kind in STEERING:
        kinds_by_text.setdefault(_text(PolicyFields.of(kind)), []).append(kind)
    parts = (f"## {', '.join(kinds)}\n\n{text}" for text, kinds in kinds_by_text.items())
    return "\n".join([_PAGE, *parts])


def _text(fields: PolicyFields) -> str:
    head = ("field", "direct", "through a hub", "Argo CD", "Flux")
    named = ", ".join(f"`{name}`" for name in fields.carried_out)
    parts = (
        table(head, fields.rows) if fields.entries else "",
        f"Carried out by every delivery: {named}.\n" if named else "",
    )
    return "\n".join(filter(None, parts))


def _parts(schema: Schema, steps: Steps, entries: list[Entry]) -> Iterator[Entry | str]:
    """Yield the entries of a field and of all below, and the highest fields that every delivery
    carries out.
    """
    own = [entry for entry in entries if entry.steps == steps]
    below = [entry for entry in entries if entry.steps[: len(steps)] == steps and entry not in own]
    yield from own
    if not below:
        # An entry for some values says nothing of the others.
        if not own:
            yield ".".join(steps).replace(".[]", "[]").replace(".{}", "{}")
        return
    inner = {(*steps, name): field for name, field in schema.fields.items()}
    if schema.items:
        inner[(*steps, "[]" if schema.type == "array" else "{}")] = schema.items
    for path, field in inner.items():
        yield from _parts(field, path, below)


def _place(entry: Entry) -> str:
    """Return the field with its values: ``spec.strategy.applyStrategy.type: ReportDiff``."""
    return entry.field + _values(entry)


def _values(entry: Entry) -> str:
    values = f": {', '.join(entry.only)}" if entry.only else ""
    beside = entry.beside if isinstance(entry, Unheeded) else None
    if beside is None:
        return values
    name, pattern = beside
    wanted = "" if pattern == "?*" else f": {pattern.replace('!', 'not ')}"
    return f"{values} beside {name}{wanted}"


def _cells(entry: Entry) -> list[str]:
    direct, *others = _treatments(entry)
    return [direct, *("the same" if text == direct != _CARRIED_OUT else text for text in others)]


def _treatments(entry: Entry) -> tuple[str, ...]:
    """Return what the direct delivery does with a field, that through a hub, Argo CD and Flux."""
    if isinstance(entry, Elsewhere):
        treatments = ("", entry.on_hub, entry.argocd, entry.flux)
        return tuple(text or _CARRIED_OUT for text in treatments)
    here = str(entry.effect)
    if entry.unless:
        here += f", but for {camel(entry.unless)}: true in a KarmadaSettings"
    # What an API asks for is on the hub like everything else.
    same = _CARRIED_OUT if entry.effect is Effect.NOT_NEEDED else str(entry.effect)
    return here, entry.on_hub or same, here, here


if __name__ == "__main__":
    sys.stdout.write(page())
