"""Hints on what to write instead, as YAML that can be pasted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from fleet_components.admission.schema import Schema
from fleet_components.model.problem import FieldPath, show_path
from fleet_components.model.text import nearest

_MOST = 2.0**63
_PLAIN = {
    "array": "a list",
    "object": "an object",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "int-or-string": "a whole number or a string",
    "null": "nothing",
}


def snippet(key: str | int, value: Any) -> str:
    """Return ``key: value`` as one line of YAML; only the value if the key is an index."""
    shown = value if isinstance(key, int) else {key: value}
    # PyYAML would fold a line of more than 80 columns.
    flow = yaml.safe_dump(
        shown, default_flow_style=True, sort_keys=False, width=2**20, allow_unicode=True
    )
    # PyYAML writes the end of the document after a value that is neither a map nor a list.
    line = flow.removesuffix("\n").removesuffix("\n...")
    # Without the braces that the map of one field has in flow style.
    return line if isinstance(key, int) else line[1:-1]


def mended(schema: Schema, value: Any) -> Any:
    """Return the value of the right type that is nearest to the user's, or an example if there is
    none.
    """
    match schema.type, value:
        case "any", _:
            return value
        case "array", list():
            return [mended(_item(schema), item) for item in value]
        case "array", None:
            return example(schema)
        # A single value was probably meant as the only item.
        case "array", _:
            return [mended(_item(schema), value)]
        case "object", Mapping():
            return _mended_object(schema, value)
        case "object", [Mapping() as only]:
            return _mended_object(schema, only)
        case "string", str() | int() | float():
            return _mended_text(schema, _plain_text(value))
        # Before the numbers, since a bool is an int to Python.
        case "integer" | "int-or-string", bool():
            return example(schema)
        case "integer" | "number" | "int-or-string", int() | float() | str():
            return _mended_number(schema, value)
        case "boolean", str() if value.lower() in ("true", "false"):
            return value.lower() == "true"
        case "boolean", bool():
            return value
    return example(schema)


def as_meant(schema: Schema, value: Any) -> Any:
    """Return the value with unknown fields renamed to the probably intended fields, unless these
    are given too.
    """
    match schema.type, value:
        case "object", Mapping() if schema.items:
            return {key: as_meant(schema.items, item) for key, item in value.items()}
        case "object", Mapping():
            names = {
                key: key if key in schema.fields else nearest(str(key), schema.fields)
                for key in value
            }
            meant = {
                name: key
                for key, name in names.items()
                if name and (name == key or name not in value)
            }
            return {name: as_meant(schema.fields[name], value[key]) for name, key in meant.items()}
        case "array", list() if schema.items:
            return [as_meant(schema.items, item) for item in value]
    return value


def example(schema: Schema) -> Any:
    """Return a valid value: the declared example, the default, or one built from the required
    fields.
    """
    if schema.example is not None:
        return schema.example
    if schema.default is not None:
        return schema.default
    match schema.type:
        case "array":
            return [example(_item(schema))]
        case "object":
            return {key: example(field) for key, field in schema.fields.items() if field.required}
        case "boolean":
            return True
        case "string" | "any":
            return schema.enum[0] if schema.enum else "..."
    # Only numbers are left.
    return max(1, schema.minimum or 0)


def for_unknown_field(root: Schema, holder: Schema, path: FieldPath, value: Any) -> str:
    """Return what to write instead of a field that the object does not have."""
    # From the surest guess to the weakest: one level deeper, another spelling, another place in
    # the object, a key of a map.
    name = str(path[-1])
    deeper = [key for key, field in holder.fields.items() if name in field.fields]
    # In one place only, or the hint would be a guess.
    if len(deeper) == 1:
        return f"it belongs at {show_path((*path[:-1], deeper[0], name))}"
    meant = nearest(name, holder.fields)
    if meant:
        return f'write "{meant}"'
    homes = tuple(_homes(holder, name, path[:-1])) or tuple(_homes(root, name, ()))
    if homes:
        return f"it belongs at {' or '.join(homes[:2])}"
    for key, field in holder.fields.items():
        if field.type == "object" and field.items and not isinstance(value, Mapping | list):
            return f"write {snippet(key, mended(field, {name: value}))}"
    return f"known here: {', '.join(holder.fields)}"


def for_mismatch(key: str | int, schema: Schema, value: Any, found: str) -> str:
    """Return what to write instead of a value of a wrong type; ``found`` names that type."""
    expected = _PLAIN.get(schema.type, schema.type)
    return (
        f"expected {expected}, found {_PLAIN.get(found, found)}: write"
        f" {snippet(key, mended(schema, value))}"
    )


def for_enum(key: str | int, schema: Schema, value: Any) -> str:
    """Return which of the allowed values to write."""
    meant = schema.enum[0] if len(schema.enum) == 1 else nearest(str(value), schema.enum)
    return f"write {snippet(key, meant)}" if meant else f"write one of {', '.join(schema.enum)}"


def _item(schema: Schema) -> Schema:
    assert schema.items is not None
    return schema.items


def _mended_object(schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    if schema.items:
        return {key: mended(schema.items, item) for key, item in value.items()}
    named = {
        (key if key in schema.fields else nearest(str(key), schema.fields)): it
        for key, it in value.items()
    }
    return {key: mended(schema.fields[key], item) for key, item in named.items() if key}


def _plain_text(value: str | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _mended_text(schema: Schema, value: str) -> str:
    return value if not schema.enum else nearest(value, schema.enum) or str(example(schema))


def _mended_number(schema: Schema, value: float | str) -> Any:
    try:
        exact = float(value)
    except (ValueError, OverflowError):
        return example(schema)
    if abs(exact) >= _MOST:
        return example(schema)
    return (
        int(exact) if exact.is_integer() else example(schema) if schema.type != "number" else exact
    )


def _homes(schema: Schema, name: str, path: FieldPath) -> Iterable[str]:
    """Yield the paths below the schema where a field of that name exists; lists are shown as their
    first item.
    """
    for key, field in schema.fields.items():
        if key == name:
            yield show_path((*path, key))
        else:
            yield from _homes(field, name, (*path, key))
    if schema.type == "array" and schema.items:
        yield from _homes(schema.items, name, (*path, 0))
