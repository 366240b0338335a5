"""Effects of a mutating webhook written in Go, which decodes an object and encodes it again.

KubeFleet's and Karmada's webhooks decode an object into Go structs and answer with their encoding. As a result, values
of a wrong type are refused in the words of Go's JSON decoder, missing required fields become zero values (and
pass), and optional fields with a zero value disappear (and get their default).

Source: the JSON decoder of the Kubernetes API machinery and the Go types of the two systems, as far as the schemas
name them in ``go``. Optional numbers are pointers there, so their zero stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.admission.finding import Finding
from fleet_components.admission.schema import Schema
from fleet_components.admission.structure import json_type, mismatches
from fleet_components.model.problem import FieldPath

_ZERO: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "int-or-string": 0}
_MAX_INT32 = 2**31
_DROPPED_ZERO = ("string", "boolean", "array")


def rewritten(schema: Schema, value: Any) -> Any:
    """Return a filled value after decoding into Go structs and encoding again; values of a wrong type stay."""
    match schema.type, value:
        case "array", list() if schema.items:
            return [rewritten(schema.items, _zero(schema.items) if it is None else it) for it in value]
        case "object", Mapping() if schema.fields:
            return _rewritten_fields(schema, value)
    return value


def undecodable(schema: Schema, value: Any) -> list[Finding]:
    """Return findings on what the Go JSON decoder refuses in a filled value, in the order of its errors.

    The decoder accepts ``null`` as a zero value.
    """
    return _in_order(schema, value, (*mismatches(schema, value), *_too_great(schema, value, ())))


def too_great(schema: Schema, value: Any) -> list[Finding]:
    """Return what :func:`undecodable` does, for a value without any of a wrong type."""
    return _in_order(schema, value, tuple(_too_great(schema, value, ())))


def _in_order(schema: Schema, value: Any, findings: Sequence[Finding]) -> list[Finding]:
    wrong = [(it, _at(value, it.path)) for it in findings]
    refused = [_Refused(it, found, *_locate(schema, it.path)) for it, found in wrong if found is not None]
    # The API server passes objects on with sorted keys, so errors come in the order of paths. An int-or-string has a
    # decoder of its own, whose failure ends the decoding at once.
    refused.sort(key=lambda it: (it.schema.type != "int-or-string", it.finding.path))
    return [attrs.evolve(it.finding, what=it.text, stage="decode") for it in refused]


@attrs.frozen
class _Refused:
    """Value of a wrong type with its schema, the enclosing struct, and the field names that lead to it."""

    finding: Finding
    value: Any
    schema: Schema
    struct: Schema
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        field = ".".join((self.struct.go.rpartition(".")[2], *self.names))
        return f"json: cannot unmarshal {self._found} into Go struct field {field} of type {_go_type(self.schema)}"

    @property
    def _found(self) -> str:
        found = json_type(self.value)
        if found in ("integer", "number") and self.schema.type in ("integer", "int-or-string"):
            return f"number {self.value}"
        return {"boolean": "bool", "integer": "number"}.get(found, found)


def _too_great(schema: Schema, value: Any, path: FieldPath) -> Iterator[Finding]:
    """Yield findings on numbers that do not fit into the 32 bits that the Go struct has for them."""
    if not schema.narrow:
        return
    match value:
        case int() if schema.format == "int32" or schema.type == "int-or-string":
            if not -_MAX_INT32 <= value < _MAX_INT32:
                yield Finding("", path, "write a smaller number")
        case Mapping() if schema.type == "object":
            for key, item in value.items():
                yield from _too_great(schema.items or schema.fields[key], item, (*path, key))
        case list() if schema.items:
            for index, item in enumerate(value):
                yield from _too_great(schema.items, item, (*path, index))


def _at(value: Any, path: FieldPath) -> Any:
    for step in path:
        value = value[step]
    return value


def _locate(root: Schema, path: FieldPath) -> tuple[Schema, Schema, tuple[str, ...]]:
    schema, struct, names = root, root, []
    for step in path:
        if schema.items:
            schema = schema.items
        else:
            struct, schema = schema, schema.fields[str(step)]
            names.append(str(step))
    return schema, struct, tuple(names)


def _rewritten_fields(schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    result = {}
    for key, field in schema.fields.items():
        if key in value:
            written = rewritten(field, value[key])
            if field.required or not _is_dropped(field, written):
                result[key] = written
        elif field.required and field.type != "array":
            result[key] = rewritten(field, _zero(field))
    return result


def _zero(schema: Schema) -> Any:
    return _ZERO.get(schema.type, {})


def _is_dropped(schema: Schema, value: Any) -> bool:
    """Return whether an optional field with that value is left out of the encoding."""
    if value:
        return False
    if schema.pointer is not None:
        return not schema.pointer
    return schema.type in _DROPPED_ZERO or (schema.type == "object" and schema.items is not None)


def _go_type(schema: Schema) -> str:
    if schema.go:
        return schema.go
    match schema.type:
        case "array" if schema.items:
            return f"[]{_go_type(schema.items)}"
        case "object" if schema.items:
            return f"map[string]{_go_type(schema.items)}"
        case "integer" | "int-or-string":
            return schema.format or ("int" if schema.type == "integer" else "int32")
        case "boolean":
            return "bool"
    return schema.type
