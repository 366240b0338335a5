"""Structures of kinds, from the data files of their API versions and the overlay of their system.

A file such as ``schemas/placement.kubernetes-fleet.io_v1.json`` holds all kinds of an API version that are checked;
``tools/schemas.py`` writes it from CustomResourceDefinitions. A file that is added serves the kinds in a new version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs

from fleet_components.admission.finding import Denial
from fleet_components.admission.overlay import Overlay, name_at, note_at
from fleet_components.admission.registry import Kind, Request, whole
from fleet_components.admission.schema import Rule, Schema, anything, immutable
from fleet_components.model.problem import FieldPath

FOLDER = Path(__file__).parent / "schemas"
"""Folder of the data files."""

Node = Mapping[str, Any]
"""Schema of a value in a data file."""

_NESTED = ("fields", "items", "rules", "enum")
_ANEW = "keep the old value, or create an object of another name"


@attrs.frozen
class Declared:
    """A kind of the data files that is checked: what its structure does not say.

    Attributes:
        group: the API group.
        name: the kind.
        mutate: the mutating webhook, which changes the decoded object in place; None if there is none.
        validate: the validating webhook; None if there is none.
        held: the fields that the webhook compares with their old values.
        status: the version whose status is read, in all versions; empty if none is.
    """

    group: str
    name: str
    mutate: Callable[[dict[str, Any]], None] | None = None
    validate: Callable[[Request], Denial | None] | None = None
    held: tuple[FieldPath, ...] = ()
    status: str = ""


@cache
def definitions(group: str, version: str) -> Mapping[str, Node]:
    """Return the kinds of a data file, by name."""
    kinds: Mapping[str, Node] = json.loads((FOLDER / f"{group}_{version}.json").read_text(encoding="utf-8"))
    return kinds


def kinds_of(declared: Iterable[Declared], overlay: Overlay) -> tuple[Kind, ...]:
    """Return the kinds in all versions that there are data files of; the storage version of each comes last."""
    return tuple(kind for one in declared for kind in _versions(one, overlay))


@cache
def structure(group: str, version: str, name: str, overlay: Overlay) -> Schema:
    """Return the structure of a whole object."""
    node = definitions(group, version)[name]["schema"]
    made = _schema(node, name.removeprefix("Cluster"), overlay)
    return whole(made.fields, made.rules, go=f"{overlay.package}.{name}")


def rules_in(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the rules in a schema of a data file, each with the path of its value, as ``Schema.walk`` has it."""
    for rule in node.get("rules", ()):
        yield path, rule
    for name, field in node.get("fields", {}).items():
        yield from rules_in(field, (*path, name))
    if "items" in node:
        yield from rules_in(node["items"], (*path, "[]" if node["type"] == "array" else "{}"))


@cache
def _served(group: str) -> tuple[str, ...]:
    files = sorted(FOLDER.glob(f"{group}_*.json"))
    return tuple(file.stem.removeprefix(f"{group}_") for file in files)


def _versions(declared: Declared, overlay: Overlay) -> Iterator[Kind]:
    group, name = declared.group, declared.name
    served = {version: definitions(group, version) for version in _served(group)}
    found = {version: kinds[name] for version, kinds in served.items() if name in kinds}
    held = _held(found.values(), overlay) + declared.held
    status = partial(_status, group, declared.status, name, overlay) if declared.status else None
    for version in sorted(found, key=lambda version: (found[version]["storage"], version)):
        yield Kind(
            group=group,
            version=version,
            name=name,
            make=partial(structure, group, version, name, overlay),
            namespaced=found[version]["namespaced"],
            mutate=declared.mutate,
            validate=declared.validate,
            held=held,
            make_status=status,
        )


def _schema(node: Node, path: str, overlay: Overlay) -> Schema:
    if name_at(overlay.loose, path):
        return anything()
    attributes = {name: value for name, value in node.items() if name not in _NESTED}
    if name_at(overlay.required, path):
        attributes["required"] = True
    names = _in_order(node.get("fields", {}), (note_at(overlay.order, path) or "").split())
    if "items" in node:
        attributes["items"] = _schema(node["items"], path + ("[]" if node["type"] == "array" else "{}"), overlay)
    return Schema(
        **attributes,
        enum=tuple(node.get("enum", ())),
        fields={name: _schema(node["fields"][name], f"{path}.{name}", overlay) for name in names},
        rules=tuple(_rule(rule, overlay) for rule in node.get("rules", ())),
        example=note_at(overlay.examples, path),
        go=note_at(overlay.types, path) or "",
        pointer=note_at(overlay.pointers, path),
    )


def _in_order(fields: Iterable[str], order: list[str]) -> list[str]:
    return sorted(fields, key=lambda name: (order.index(name) if name in order else len(order), name))


def _rule(rule: Node, overlay: Overlay) -> Rule:
    message = rule["message"]
    if "immutable" not in rule:
        return overlay.rules[message]
    hint = overlay.hints.get(message, _ANEW)
    return immutable(message, *_immutable_field(rule), hint=hint, once_set=rule.get("once_set", False))


def _immutable_field(rule: Node) -> tuple[str, ...]:
    """Return the field of the value that has to stay as it is; empty if it is the value itself."""
    return () if rule["immutable"] is True else (rule["immutable"],)


def _status(group: str, version: str, name: str, overlay: Overlay) -> Schema:
    return _schema(definitions(group, version)[name]["status"], "status", overlay)


def _held(kinds: Iterable[Node], overlay: Overlay) -> tuple[FieldPath, ...]:
    """Return the fields that rules of the definitions compare with their old values, in any version.

    A version may hold a value as a whole and another one its fields: then the fields are held, in all versions.
    """
    found = dict.fromkeys(path for kind in kinds for path in _compared(kind["schema"], overlay))
    return tuple(path for path in found if not any(other[: len(path)] == path != other for other in found))


def _compared(schema: Node, overlay: Overlay) -> Iterator[FieldPath]:
    for path, rule in rules_in(schema):
        # Items of a list have no old value.
        if "[]" not in path and ("immutable" in rule or rule.get("transition")):
            yield from ((*path, *field) for field in _fields_compared(rule, overlay))


def _fields_compared(rule: Node, overlay: Overlay) -> Iterable[Sequence[str]]:
    """Return the paths below the value of a rule that it compares; the empty one for the value itself."""
    if "immutable" in rule:
        return [_immutable_field(rule)]
    carried_out = overlay.rules.get(rule["message"])
    return [field.split(".") for field in carried_out.compares] if carried_out and carried_out.compares else [()]
