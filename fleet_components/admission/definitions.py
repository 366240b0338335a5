"""Structures of kinds, from the data files of their API versions and the overlay of their system.

A file such as ``schemas/placement.kubernetes-fleet.io_v1.json`` holds all kinds of an API version
that are checked, in the words of ``schema.py``; ``tools/schemas.py`` writes it from
CustomResourceDefinitions. Of each kind it says:

- ``namespaced``: whether its objects belong to a namespace;
- ``storage``: whether a hub stores them in this version;
- ``schema``: the structure of the whole object, without ``apiVersion``, ``kind`` and ``metadata``;
- ``status``: names and types of its status, where that is read.

A rule is a message. With ``immutable`` the value, or its field of that name, has to stay as it is;
``absent`` is that of ``schema.immutable``. The overlay carries out all other rules; ``transition``
marks those that compare with the old value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import attrs

from fleet_components.admission.finding import Denial
from fleet_components.admission.registry import AdmissionRequest, AdmittedKind, whole
from fleet_components.admission.schema import Schema, ValueRule, anything, immutable
from fleet_components.model.problem import FieldPath
from fleet_components.model.release import Release

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
    return tuple(
        sorted(file.stem.removeprefix(f"{group}_") for file in FOLDER.glob(f"{group}_*.json"))
    )


@cache
def definitions(group: str, version: str) -> Mapping[str, Node]:
    """Return the kinds of a data file, by name."""
    kinds: Mapping[str, Node] = json.loads(
        (FOLDER / f"{group}_{version}.json").read_text(encoding="utf-8")
    )
    return kinds


@cache
def structure(group: str, version: str, name: str, overlay: Overlay) -> Schema:
    """Return the structure of a whole object.

    Raises:
        KeyError: the overlay does not carry out a rule.
    """
    root = f"{version}.{name.removeprefix('Cluster')}"
    # Notes of an overlay are for both scopes of a kind, so that Cluster is left out of the path.
    made = _schema(definitions(group, version)[name]["schema"], root, overlay)
    return whole(made.fields, made.rules, go=f"{overlay.package}.{name}")


def status(group: str, version: str, name: str, overlay: Overlay) -> Schema:
    """Return the structure of a status."""
    return _schema(definitions(group, version)[name]["status"], "status", overlay)


def rules_in(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the rules in a schema of a data file, each with the path of its value, as
    ``Schema.walk`` has it.
    """
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
    # An attribute that an earlier release lacks is None here, and is dropped below.
    node = {**node, **(note_at(overlay.earlier, path) or {})}
    attributes = {
        name: value for name, value in node.items() if name not in _MADE and value is not None
    }
    if name_at(overlay.required, path):
        attributes["required"] = True
    if "items" in node:
        attributes["items"] = _schema(node["items"], path + _item(node), overlay)
    there = [
        name for name in node.get("fields", {}) if not name_at(overlay.absent, f"{path}.{name}")
    ]
    fields = _in_order(there, (note_at(overlay.order, path) or "").split())
    return Schema(
        **attributes,
        enum=tuple(node.get("enum") or ()),
        fields={name: _schema(node["fields"][name], f"{path}.{name}", overlay) for name in fields},
        rules=tuple(
            _rule(rule, overlay)
            for rule in node.get("rules", ())
            if not _is_lacking(rule, path, overlay)
        ),
        example=note_at(overlay.examples, path),
        go=note_at(overlay.types, path) or "",
        pointer=note_at(overlay.pointers, path),
    )


def _item(node: Node) -> str:
    return "[]" if node["type"] == "array" else "{}"


def _in_order(fields: Iterable[str], order: list[str]) -> list[str]:
    return sorted(
        fields, key=lambda name: (order.index(name) if name in order else len(order), name)
    )


def _is_lacking(rule: Node, path: str, overlay: Overlay) -> bool:
    version = overlay.lacking.get(rule["message"])
    # A path begins with the version: see structure().
    return version is not None and version in ("", path.partition(".")[0])


def _rule(rule: Node, overlay: Overlay) -> ValueRule:
    message = rule["message"]
    if "immutable" not in rule:
        return overlay.rules[message]
    hint = overlay.hints.get(message, _ANEW)
    return immutable(message, *immutable_field(rule), hint=hint, absent=rule.get("absent", "error"))


# Kinds of the data files with all that their structure does not say, and what is remembered of
# them for updates.


@attrs.frozen
class Declared:
    """A kind that is checked.

    Attributes:
        group: the API group.
        name: the kind.
        mutate: the mutating webhook, which changes the decoded object in place; None if there is
            none.
        validate: the validating webhook; None if there is none.
        held: the fields that the webhook compares with their old values.
        status: the version whose status is read, in objects of all versions; empty if none is.
    """

    group: str
    name: str
    mutate: Callable[[dict[str, Any]], None] | None = None
    validate: Callable[[AdmissionRequest], Denial | None] | None = None
    held: tuple[FieldPath, ...] = ()
    status: str = ""


def kinds_of(declared: Iterable[Declared], overlay: Overlay) -> tuple[AdmittedKind, ...]:
    """Return the kinds in all versions that there are data files of; the storage version of each
    comes last.
    """
    return tuple(kind for item in declared for kind in _in_versions(item, overlay))


def _in_versions(kind: Declared, overlay: Overlay) -> Iterator[AdmittedKind]:
    served = {version: definitions(kind.group, version) for version in served_versions(kind.group)}
    found = {version: kinds[kind.name] for version, kinds in served.items() if kind.name in kinds}
    held = _held((node["schema"] for node in found.values()), overlay) + kind.held
    # False sorts before True: the storage version comes last.
    for version in sorted(found, key=lambda version: (found[version]["storage"], version)):
        yield AdmittedKind(
            group=kind.group,
            version=version,
            name=kind.name,
            make=partial(structure, kind.group, version, kind.name, overlay),
            namespaced=found[version]["namespaced"],
            mutate=kind.mutate,
            validate=kind.validate,
            held=held,
            make_status=partial(status, kind.group, kind.status, kind.name, overlay)
            if kind.status
            else None,
        )


def _held(schemas: Iterable[Node], overlay: Overlay) -> tuple[FieldPath, ...]:
    """Return the fields that rules compare with their old values, the same in all versions of a
    kind.

    If one version holds a value as a whole and another one its fields, these are held.
    """
    found = dict.fromkeys(path for schema in schemas for path in _compared(schema, overlay))
    return tuple(
        path for path in found if not any(other[: len(path)] == path != other for other in found)
    )


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


# Overlay of a system: what its definitions do not say of a field, and what carries out their
# rules.


_Value = TypeVar("_Value")


@attrs.frozen(eq=False)
class Overlay:
    """Notes on fields, for all kinds and versions of a system.

    A field is named by the end of its path, as long as it takes to distinguish it from others, such
    as ``tolerations[].key``; of several names the longest counts. The path begins with the kind
    without a leading ``Cluster``: ``ResourceOverride.spec.policy`` is that of a ResourceOverride
    and of a ClusterResourceOverride.

    Attributes:
        package: the Go package of the types of whole objects, such as ``v1beta1``.
        types: the Go types, for texts of webhooks that decode.
        order: the fields of a Go struct in its order; others follow by name.
        examples: valid values, for hints.
        pointers: whether the Go field is a pointer, where it is not as ``Schema.pointer`` says.
        rules: the rules of the definitions that are not plain data, by message.
        hints: what to write instead of a changed immutable value, by message.
        required: the fields of a status that have to be written.
        loose: the fields of a status that may be of any type.
        earlier: attributes of fields that are not as in the data files, which are of the newest
            release; None for one that is absent. The path may begin with the version, as in
            ``v1.ResourcePlacement.spec``.
        absent: fields that are not there, though the data files have them.
        lacking: messages of the rules that are absent, each with the version that lacks it; empty
            for all versions.
    """

    package: str
    types: Mapping[str, str]
    order: Mapping[str, str]
    examples: Mapping[str, Any]
    pointers: Mapping[str, bool]
    rules: Mapping[str, ValueRule] = attrs.field(factory=dict)
    hints: Mapping[str, str] = attrs.field(factory=dict)
    required: Collection[str] = ()
    loose: Collection[str] = ()
    earlier: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    absent: Collection[str] = ()
    lacking: Mapping[str, str] = attrs.field(factory=dict)


def without(release: Release, table: Mapping[Any, Mapping[str, _Value]]) -> dict[str, _Value]:
    """Return what a table has by rule, of all rules that a release lacks."""
    lacking = (entries for rule, entries in table.items() if not release.has(rule))
    return {name: value for entries in lacking for name, value in entries.items()}


def note_at(table: Mapping[str, _Value], path: str) -> _Value | None:
    """Return what a table says of the field at a path; None if it says nothing."""
    name = name_at(table, path)
    return None if name is None else table[name]


def name_at(table: Container[str], path: str) -> str | None:
    """Return the name under which a table has the field at a path; None if it has not."""
    # Shortened from the left, so that the longest end of the path is tried first.
    while path not in table:
        path = path.partition(".")[2]
        if not path:
            return None
    return path
