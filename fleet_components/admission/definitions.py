"""Structures of kinds, from the data files of their API versions and the overlay of their system.

A file such as ``schemas/placement.kubernetes-fleet.io_v1.json`` holds all kinds of an API version that are checked, in
the words of ``schema.py``; ``tools/schemas.py`` writes it from CustomResourceDefinitions. Of each kind it says:

- ``namespaced``: whether its objects belong to a namespace;
- ``storage``: whether a hub stores them in this version;
- ``schema``: the structure of the whole object, without ``apiVersion``, ``kind`` and ``metadata``;
- ``status``: names and types of its status, where that is read.

A rule is a message. With ``immutable`` the value, or its field of that name, has to stay as it is; ``absent`` is that
of ``schema.immutable``. The overlay carries out all other rules; ``transition`` marks those that compare with the old
value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fleet_components.admission.overlay import Overlay, name_at, note_at
from fleet_components.admission.registry import whole
from fleet_components.admission.schema import Rule, Schema, anything, immutable

FOLDER = Path(__file__).parent / "schemas"
"""Folder of the data files."""

Node = Mapping[str, Any]
"""Schema of a value in a data file."""

_MADE = ("enum", "fields", "items", "rules")
"""Attributes of a schema that are not as in the data."""
_ANEW = "keep the old value, or create an object of another name"


@cache
def served_versions(group: str) -> tuple[str, ...]:
    """Return the versions of an API group that there are data files of."""
    return tuple(sorted(file.stem.removeprefix(f"{group}_") for file in FOLDER.glob(f"{group}_*.json")))


@cache
def definitions(group: str, version: str) -> Mapping[str, Node]:
    """Return the kinds of a data file, by name."""
    kinds: Mapping[str, Node] = json.loads((FOLDER / f"{group}_{version}.json").read_text(encoding="utf-8"))
    return kinds


@cache
def structure(group: str, version: str, name: str, overlay: Overlay) -> Schema:
    """Return the structure of a whole object.

    Raises:
        KeyError: the overlay does not carry out a rule.
    """
    root = f"{version}.{name.removeprefix('Cluster')}"
    made = _schema(definitions(group, version)[name]["schema"], root, overlay)
    return whole(made.fields, made.rules, go=f"{overlay.package}.{name}")


def status(group: str, version: str, name: str, overlay: Overlay) -> Schema:
    """Return the structure of a status."""
    return _schema(definitions(group, version)[name]["status"], "status", overlay)


def rules_in(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the rules in a schema of a data file, each with the path of its value, as ``Schema.walk`` has it."""
    for rule in node.get("rules", ()):
        yield path, rule
    for name, field in node.get("fields", {}).items():
        yield from rules_in(field, (*path, name))
    if "items" in node:
        yield from rules_in(node["items"], (*path, _item(node)))


def immutable_field(rule: Node) -> tuple[str, ...]:
    """Return the field of a value that has to stay as it is; empty for the value itself."""
    return () if rule["immutable"] is True else (rule["immutable"],)


def _schema(node: Node, path: str, overlay: Overlay) -> Schema:
    if name_at(overlay.loose, path):
        return anything()
    node = {**node, **(note_at(overlay.earlier, path) or {})}
    attributes = {name: value for name, value in node.items() if name not in _MADE and value is not None}
    if name_at(overlay.required, path):
        attributes["required"] = True
    if "items" in node:
        attributes["items"] = _schema(node["items"], path + _item(node), overlay)
    there = [name for name in node.get("fields", {}) if not name_at(overlay.absent, f"{path}.{name}")]
    fields = _in_order(there, (note_at(overlay.order, path) or "").split())
    return Schema(
        **attributes,
        enum=tuple(node.get("enum") or ()),
        fields={name: _schema(node["fields"][name], f"{path}.{name}", overlay) for name in fields},
        rules=tuple(_rule(rule, overlay) for rule in node.get("rules", ()) if not _is_lacking(rule, path, overlay)),
        example=note_at(overlay.examples, path),
        go=note_at(overlay.types, path) or "",
        pointer=note_at(overlay.pointers, path),
    )


def _item(node: Node) -> str:
    return "[]" if node["type"] == "array" else "{}"


def _in_order(fields: Iterable[str], order: list[str]) -> list[str]:
    return sorted(fields, key=lambda name: (order.index(name) if name in order else len(order), name))


def _is_lacking(rule: Node, path: str, overlay: Overlay) -> bool:
    version = overlay.lacking.get(rule["message"])
    return version is not None and version in ("", path.partition(".")[0])


def _rule(rule: Node, overlay: Overlay) -> Rule:
    message = rule["message"]
    if "immutable" not in rule:
        return overlay.rules[message]
    hint = overlay.hints.get(message, _ANEW)
    return immutable(message, *immutable_field(rule), hint=hint, absent=rule.get("absent", "error"))
