"""Kinds of the data files with all that their structure does not say, and what is remembered of them for updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import attrs

from fleet_components.admission.definitions import (
    Node,
    definitions,
    immutable_field,
    rules_in,
    served_versions,
    status,
    structure,
)
from fleet_components.admission.finding import Denial
from fleet_components.admission.overlay import Overlay
from fleet_components.admission.registry import Kind, Request
from fleet_components.model.problem import FieldPath


@attrs.frozen
class Declared:
    """A kind that is checked.

    Attributes:
        group: the API group.
        name: the kind.
        mutate: the mutating webhook, which changes the decoded object in place; None if there is none.
        validate: the validating webhook; None if there is none.
        held: the fields that the webhook compares with their old values.
        status: the version whose status is read, in objects of all versions; empty if none is.
    """

    group: str
    name: str
    mutate: Callable[[dict[str, Any]], None] | None = None
    validate: Callable[[Request], Denial | None] | None = None
    held: tuple[FieldPath, ...] = ()
    status: str = ""


def kinds_of(declared: Iterable[Declared], overlay: Overlay) -> tuple[Kind, ...]:
    """Return the kinds in all versions that there are data files of; the storage version of each comes last."""
    return tuple(kind for item in declared for kind in _in_versions(item, overlay))


def _in_versions(kind: Declared, overlay: Overlay) -> Iterator[Kind]:
    served = {version: definitions(kind.group, version) for version in served_versions(kind.group)}
    found = {version: kinds[kind.name] for version, kinds in served.items() if kind.name in kinds}
    held = _held((node["schema"] for node in found.values()), overlay) + kind.held
    for version in sorted(found, key=lambda version: (found[version]["storage"], version)):
        yield Kind(
            group=kind.group,
            version=version,
            name=kind.name,
            make=partial(structure, kind.group, version, kind.name, overlay),
            namespaced=found[version]["namespaced"],
            mutate=kind.mutate,
            validate=kind.validate,
            held=held,
            make_status=partial(status, kind.group, kind.status, kind.name, overlay) if kind.status else None,
        )


def _held(schemas: Iterable[Node], overlay: Overlay) -> tuple[FieldPath, ...]:
    """Return the fields that rules compare with their old values, the same in all versions of a kind.

    If one version holds a value as a whole and another one its fields, these are held.
    """
    found = dict.fromkeys(path for schema in schemas for path in _compared(schema, overlay))
    return tuple(path for path in found if not any(other[: len(path)] == path != other for other in found))


def _compared(schema: Node, overlay: Overlay) -> Iterator[FieldPath]:
    for path, rule in rules_in(schema):
        if "[]" in path:  # Items of a list have no old value.
            continue
        if "immutable" in rule:
            yield (*path, *immutable_field(rule))
        elif rule.get("transition"):
            known = overlay.rules.get(rule["message"])
            fields = known.compares if known else ()
            yield from ((*path, *field.split(".")) for field in fields) if fields else [path]
