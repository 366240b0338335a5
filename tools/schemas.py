"""Writes the API schemas of the package, from the CustomResourceDefinitions of KubeFleet and
Karmada::

    python -m tools.schemas FILE_OR_FOLDER... [--into FOLDER]

It reads YAML files, and those of a folder. Each API version that has kinds that the package checks
becomes a file such as ``placement.kubernetes-fleet.io_v1.json``: the structure of each kind in the
words of ``fleet_components/admission/schema.py``, without any prose. A rule that a value is
immutable becomes data; of any other rule the message is kept, by which ``rules.py`` of KubeFleet
names what carries it out.

All versions of a kind have to be given together. Files of API versions that are not given stay as
they are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fleet_components.admission.definitions import FOLDER, Declared
from fleet_components.systems.karmada import admission as karmada
from fleet_components.systems.kubefleet import admission as kubefleet

Node = Mapping[str, Any]
"""Schema of a value, in the words of OpenAPI."""

_DECLARED = {(kind.group, kind.name): kind for kind in (*kubefleet.DECLARED, *karmada.DECLARED)}
_ATTRIBUTES = {
    **{
        name: name
        for name in ("type", "default", "enum", "pattern", "format", "minimum", "maximum")
    },
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
    "minProperties": "min_items",
    "maxProperties": "max_items",
}
_STRUCTURE = ("properties", "required", "items", "additionalProperties")
_OWN = ("validations", "int-or-string", "preserve-unknown-fields", "list-type", "map-type")
_KNOWN = {
    *_ATTRIBUTES,
    *_STRUCTURE,
    *(f"x-kubernetes-{name}" for name in _OWN),
    "description",
    "anyOf",
}
_COMMON = ("apiVersion", "kind", "metadata")
_IMMUTABLE: Mapping[str, Node] = {
    r"self == oldSelf": {},
    r"!\(self\.(\w+) != oldSelf\.\1\)": {},
    r"\(has\(oldSelf\.(\w+)\) && has\(self\.\1\) && oldSelf\.\1 == self\.\1\) \|\| "
    r"\(!has\(oldSelf\.\1\) && !has\(self\.\1\)\)": {"absent": "kept"},
    r"!has\(oldSelf\.(\w+)\) \|\| self\.\1 == oldSelf\.\1": {"absent": "free"},
}
"""Forms of the rule that a value, or one of its fields, stays as it is, and what they say of an
absent field.
"""
_WIDTH = 100


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="Write the API schemas of the package.")
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="FILE_OR_FOLDER", help="CustomResourceDefinitions"
    )
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder to write to")
    arguments = parser.parse_args()
    write(arguments.paths, arguments.into)


def write(paths: Iterable[Path], into: Path) -> None:
    """Write a file for each API version of the definitions.

    Raises:
        ValueError: a definition has a keyword that the package does not know.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for definition in _definitions(paths):
        if kind := _DECLARED.get((definition["group"], definition["names"]["kind"])):
            for version in (each for each in definition["versions"] if each["served"]):
                known = found.setdefault((kind.group, version["name"]), {})
                known[kind.name] = _kind(kind, definition["scope"], version)
    for (group, version_name), kinds in found.items():
        (into / f"{group}_{version_name}.json").write_text(_text(kinds) + "\n", encoding="utf-8")


def _definitions(paths: Iterable[Path]) -> Iterator[Node]:
    """Yield the ``spec`` of each definition."""
    for path in paths:
        for file in sorted(path.glob("*.yaml")) if path.is_dir() else [path]:
            for document in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader):
                if document and document.get("kind") == "CustomResourceDefinition":
                    yield document["spec"]


def _kind(kind: Declared, scope: str, version: Node) -> dict[str, Any]:
    whole = version["schema"]["openAPIV3Schema"]
    fields = {name: field for name, field in whole["properties"].items() if name not in _COMMON}
    status = fields.get("status")
    known = {**fields, "status": {}} if status else fields
    read = {"status": _types(status)} if status and kind.status == version["name"] else {}
    schema = _structure({**whole, "properties": known, "required": _own(whole.get("required", []))})
    return {
        "namespaced": scope == "Namespaced",
        "storage": version["storage"],
        "schema": schema,
        **read,
    }


def _own(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in _COMMON]


def _structure(node: Node) -> dict[str, Any]:
    """Return a schema in the words of the package."""
    if unknown := node.keys() - _KNOWN:
        raise ValueError(f"unknown keywords in a definition: {', '.join(sorted(unknown))}")
    schema = {ours: node[theirs] for theirs, ours in _ATTRIBUTES.items() if theirs in node}
    schema["type"] = _type(node)
    if fields := node.get("properties"):
        required = node.get("required", [])
        schema["fields"] = {name: _field(field, name in required) for name, field in fields.items()}
    elif items := _items(node):
        schema["items"] = _structure(items)
    if rules := node.get("x-kubernetes-validations"):
        schema["rules"] = [_rule(rule) for rule in rules]
    return schema


def _field(node: Node, required: bool) -> dict[str, Any]:
    return {**_structure(node), "required": True} if required else _structure(node)


def _type(node: Node) -> str:
    return (
        "int-or-string" if node.get("x-kubernetes-int-or-string") else str(node.get("type", "any"))
    )


def _items(node: Node) -> Node | None:
    """Return the schema of items of a list or of values of a mapping; an empty one allows
    anything.
    """
    items: Node | None = node.get("items", node.get("additionalProperties"))
    keeps = node.get("type") == "object" and node.get("x-kubernetes-preserve-unknown-fields")
    return {"x-kubernetes-preserve-unknown-fields": True} if keeps else items


def _rule(rule: Node) -> dict[str, Any]:
    if unknown := rule.keys() - {"rule", "message"}:
        raise ValueError(f"unknown keywords in a rule: {', '.join(sorted(unknown))}")
    text = rule["rule"]
    message = {"message": rule.get("message", f"failed rule: {text}")}
    for form, more in _IMMUTABLE.items():
        if same := re.fullmatch(form, text):
            return {**message, "immutable": same[1] if same.groups() else True, **more}
    return {**message, "transition": True} if "oldSelf" in text else message


def _types(node: Node) -> dict[str, Any]:
    """Return the names and types of a status alone: an API server accepts any status from those who
    may write it.
    """
    if fields := node.get("properties"):
        return {
            "type": _type(node),
            "fields": {name: _types(field) for name, field in fields.items()},
        }
    items = _items(node)
    return {"type": _type(node), "items": _types(items)} if items else {"type": _type(node)}


def _text(value: Any, indent: int = 0) -> str:
    """Return JSON with sorted keys, each value on one line if it fits."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or indent + len(line) <= _WIDTH:
        return line
    if isinstance(value, list):
        parts, (start, end) = [_text(item, indent + 1) for item in value], "[]"
    else:
        parts, (start, end) = (
            [f"{json.dumps(key)}: {_text(value[key], indent + 1)}" for key in sorted(value)],
            "{}",
        )
    pad = "\n" + " " * indent
    return f"{start}{pad} " + f",{pad} ".join(parts) + f"{pad}{end}"


if __name__ == "__main__":
    main()
