"""Schemas as lines of text, to compare ours with those of CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleet_components.admission.schema import Schema


def lines(path: str, schema: Schema) -> Iterator[str]:
    """What our schema declares, a line for each field."""
    facts = {
        "default": schema.default,
        "enum": list(schema.enum) or None,
        "pattern": schema.pattern or None,
        "format": schema.format or None,
        "minimum": schema.minimum,
        "maximum": schema.maximum,
        "least": schema.min_length if schema.type == "string" else schema.min_items,
        "most": schema.max_length if schema.type == "string" else schema.max_items,
        "required": sorted(key for key, field in schema.fields.items() if field.required) or None,
        "rules": sorted(rule.message for rule in schema.rules) or None,
        "transitions": sum(rule.transition for rule in schema.rules),
    }
    yield f"{path} {schema.type} {facts}"
    for key in sorted(schema.fields):
        yield from lines(f"{path}.{key}", schema.fields[key])
    if schema.items and schema.items.type != "any":
        yield from lines(f"{path}[]", schema.items)


def genuine_lines(path: str, schema: dict[str, Any]) -> Iterator[str]:
    """The same of the OpenAPI schema of a CustomResourceDefinition."""
    kind = (
        "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema.get("type", "any")
    )
    rules = schema.get("x-kubernetes-validations", [])
    facts = {
        "default": schema.get("default"),
        "enum": schema.get("enum"),
        "pattern": schema.get("pattern"),
        "format": schema.get("format"),
        "minimum": schema.get("minimum"),
        "maximum": schema.get("maximum"),
        "least": schema.get("minLength", schema.get("minItems", schema.get("minProperties"))),
        "most": schema.get("maxLength", schema.get("maxItems", schema.get("maxProperties"))),
        "required": sorted(schema.get("required", [])) or None,
        "rules": sorted(rule["message"] for rule in rules) or None,
        "transitions": sum("oldSelf" in rule["rule"] for rule in rules),
    }
    yield f"{path} {kind} {facts}"
    for key in sorted(schema.get("properties", {})):
        if path or key not in ("metadata", "status"):
            yield from genuine_lines(f"{path}.{key}", schema["properties"][key])
    items = schema.get("items") or schema.get("additionalProperties")
    if isinstance(items, dict):
        yield from genuine_lines(f"{path}[]", items)
