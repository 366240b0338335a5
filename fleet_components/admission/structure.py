"""Structural part of the API server for declared kinds: pruning, defaulting, and checks of types,
ranges and rules.

Source: ``k8s.io/apiextensions-apiserver`` (structural schemas, OpenAPI validation, CEL). The order
is that of the API server: unknown fields and nulls are dropped, defaults are set, the structure is
checked, and the rules are evaluated only if the structure has no error that blocks them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from fleet_components.admission import hint
from fleet_components.admission.finding import Finding, dotted
from fleet_components.admission.schema import (
    Schema,
    ValueRule,
    anything,
    listing,
    mapping,
    struct,
    text,
)
from fleet_components.model.labels import key_errors, subdomain_errors, value_errors
from fleet_components.model.problem import FieldPath

_MAX_INT64 = 2**63


def unknown_fields(schema: Schema, value: Any) -> list[Finding]:
    """Return findings for fields that the kind does not have.

    The API server drops such fields; kubectl refuses them, and so does this package. Fields of an
    object that stands where a list is expected are unknown as well; they only follow from that.
    """
    return [_unknown_field(schema, *found) for found in _unknown(schema, value, ())]


def _unknown_field(schema: Schema, path: FieldPath, holder: Schema, item: Any) -> Finding:
    follows = holder.type == "array"
    meant = (
        f"write a list of such objects in {path[-2]}"
        if follows
        else hint.for_unknown_field(schema, holder, path, item)
    )
    return Finding(f'unknown field "{dotted(path)}"', path, meant, "strict", follows=follows)


def unknown_paths(schema: Schema, value: Any) -> set[FieldPath]:
    """Return the paths of the fields that the kind does not have."""
    return {path for path, _, _ in _unknown(schema, value, ())}


def filled(schema: Schema, value: Any) -> Any:
    """Return the value as the API server stores it: no unknown fields or nulls, defaults set,
    ``3.0`` as ``3``.
    """
    match schema.type, value:
        case "object", Mapping() if schema.items:
            keeps_nulls = schema.items.type == "any"
            return {
                key: filled(schema.items, it)
                for key, it in value.items()
                if keeps_nulls or it is not None
            }
        case "object", Mapping():
            return _filled_fields(schema, value)
        case "array", list() if schema.items:
            return [filled(schema.items, item) for item in value]
        case "integer" | "int-or-string", float() if value.is_integer():
            return int(value)
    return value


def check(schema: Schema, value: Any, old: Any = None) -> list[Finding]:
    """Return the API server's findings on a filled value; ``old`` is the replaced value, None for a
    new object.
    """
    found = list(_structure(schema, value, ()))
    if not any(finding.blocks for finding in found):
        found += _rules(schema, value, old, ())
    return found


def mismatches(schema: Schema, value: Any) -> list[Finding]:
    """Return only the findings on values of a wrong type."""
    return [finding for finding in _structure(schema, value, ()) if finding.mismatch]


def json_type(value: Any) -> str:
    """Return the JSON type of a value in the words of OpenAPI: ``integer`` for a whole number."""
    match value:
        case str():
            return "string"
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer" if abs(value) < _MAX_INT64 else "number"
        case float():
            return "integer" if value.is_integer() else "number"
        case list():
            return "array"
        case dict() | Mapping():
            return "object"
    return type(value).__name__


def _unknown(
    schema: Schema, value: Any, path: FieldPath
) -> Iterator[tuple[FieldPath, Schema, Any]]:
    """Yield each unknown field: its path, the schema of the object that holds it, and its value."""
    match schema.type, value:
        case "object", Mapping():
            for key, item in value.items():
                at = (*path, key)
                field = schema.items or schema.fields.get(key)
                if field:
                    yield from _unknown(field, item, at)
                else:
                    yield at, schema, item
        case "array", list() if schema.items:
            for index, item in enumerate(value):
                yield from _unknown(schema.items, item, (*path, index))
        case "array", Mapping():
            yield from (((*path, key), schema, item) for key, item in value.items())


def _filled_fields(schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    known = ((key, schema.fields[key], item) for key, item in value.items() if key in schema.fields)
    result = {key: filled(field, item) for key, field, item in known if item is not None}
    for key, field in schema.defaulted.items():
        if key not in result:
            result[key] = filled(field, field.default)
    return result


def _structure(schema: Schema, value: Any, path: FieldPath) -> Iterator[Finding]:
    if not _has_type(schema, value):
        yield _mismatch(schema, value, path)
        return
    match value:
        case str():
            yield from _text(schema, value, path)
        # Before the numbers: a bool is an int to Python, and has no range.
        case bool():
            pass
        case int() | float():
            yield from _range(schema, value, path)
        case list() if schema.items:
            yield from _size(schema, len(value), "items", path)
            for index, item in enumerate(value):
                yield from _structure(schema.items, item, (*path, index))
        case dict() | Mapping() if schema.type == "object":
            yield from _size(schema, len(value), "properties", path)
            yield from _required(schema, value, path)
            for key, item in value.items():
                yield from _structure(schema.items or schema.fields[key], item, (*path, key))


def _has_type(schema: Schema, value: Any) -> bool:
    if schema.type == "any":
        return True
    found = json_type(value)
    match schema.type:
        case "int-or-string":
            return found in ("integer", "string")
        case "number":
            return found in ("integer", "number")
    return found == schema.type


def _mismatch(schema: Schema, value: Any, path: FieldPath) -> Finding:
    expected = "integer,string" if schema.type == "int-or-string" else schema.type
    found = json_type(value)
    what = f'Invalid value: "{found}": {dotted(path)} in body must be of type {expected}: "{found}"'
    do = hint.for_mismatch(path[-1], schema, value, found) if path else ""
    return Finding(what, path, do, blocks=True, mismatch=True)


def _required(schema: Schema, value: Mapping[str, Any], path: FieldPath) -> Iterator[Finding]:
    for key, field in schema.needed.items():
        if key not in value:
            do = f"add {hint.snippet(key, hint.example(field))}"
            yield Finding("Required value", (*path, key), do, blocks=True)


def _text(schema: Schema, value: str, path: FieldPath) -> Iterator[Finding]:
    if schema.enum and value not in schema.enum:
        supported = ", ".join(map(_quoted, schema.enum))
        what = f"Unsupported value: {_quoted(value)}: supported values: {supported}"
        yield Finding(what, path, hint.for_enum(path[-1], schema, value), blocks=True)
    # Counted in characters, though the text of the API server says bytes.
    if schema.max_length is not None and len(value) > schema.max_length:
        what = f"Too long: may not be more than {schema.max_length} bytes"
        yield Finding(what, path, f"write at most {schema.max_length} characters", blocks=True)
    if schema.min_length is not None and len(value) < schema.min_length:
        yield _out(value, f"should be at least {schema.min_length} chars long", path, schema)
    if schema.pattern and not _compiled(schema.pattern).search(value):
        yield _out(value, f"should match '{schema.pattern}'", path, schema)


def _range(schema: Schema, value: float, path: FieldPath) -> Iterator[Finding]:
    if schema.maximum is not None and value > schema.maximum:
        yield _out(
            value,
            f"should be less than or equal to {schema.maximum}",
            path,
            schema.but(example=schema.maximum),
        )
    if schema.minimum is not None and value < schema.minimum:
        yield _out(value, f"should be greater than or equal to {schema.minimum}", path, schema)


def _size(schema: Schema, size: int, unit: str, path: FieldPath) -> Iterator[Finding]:
    if schema.max_items is not None and size > schema.max_items:
        what = (
            f"Too many: {size}: must have at most {schema.max_items}"
            f" item{'s' * (schema.max_items != 1)}"
        )
        yield Finding(what, path, f"keep {schema.max_items} of them", blocks=True)
    if schema.min_items is not None and size < schema.min_items:
        yield _out(size, f"should have at least {schema.min_items} {unit}", path, schema)


def _out(value: Any, why: str, path: FieldPath, schema: Schema) -> Finding:
    """Return the finding for a value that has the right type but is out of bounds."""
    shown = _quoted(value) if isinstance(value, str) else value
    do = f"write {hint.snippet(path[-1], hint.example(schema))}"
    return Finding(f"Invalid value: {shown}: {dotted(path)} in body {why}", path, do)


def _rules(schema: Schema, value: Any, old: Any, path: FieldPath) -> Iterator[Finding]:
    if not schema.ruled:
        return
    for rule in schema.rules:
        if old is None and rule.transition:
            continue
        message = _broken(rule, value, old)
        if message:
            # The API server shows the type instead of the value here.
            shown = json.dumps(
                ""
                if schema.type == "int-or-string"
                else value
                if schema.type == "any"
                else schema.type
            )
            yield Finding(f"Invalid value: {shown}: {message}", path, rule.hint)
    match schema.type, value:
        case "object", Mapping():
            was = old if isinstance(old, Mapping) else {}
            for key, item in value.items():
                yield from _rules(
                    schema.items or schema.fields[key], item, was.get(key), (*path, key)
                )
        case "array", list() if schema.items:
            # Items of a list have no old value: the API server cannot tell which old item each one
            # replaces.
            for index, item in enumerate(value):
                yield from _rules(schema.items, item, None, (*path, index))


def _broken(rule: ValueRule, value: Any, old: Any) -> str:
    """Return the message of a rule that does not hold; empty if it holds."""
    try:
        return "" if rule.holds(value, old) else rule.message
    except KeyError as missing:
        return f"no such key: {missing.args[0]} evaluating rule: {rule.message}"


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Go's $ matches only at the very end of the text, Python's also before a final line break.
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


# Structure of ``metadata``, and the API server's checks of names, labels and annotations.
#
# Source: the object metadata validation of the Kubernetes API machinery,
# ``k8s.io/apimachinery/pkg/api/validation``.


_SET_BY_SERVER = (
    "creationTimestamp deletionGracePeriodSeconds deletionTimestamp generation managedFields"
    " ownerReferences resourceVersion selfLink uid"
)

METADATA = struct(
    {
        "name": text(example="my-name"),
        "generateName": text(),
        "namespace": text(example="my-namespace"),
        "labels": mapping(text(), example={"env": "prod"}),
        "annotations": mapping(text(), example={"owner": "team-a"}),
        "finalizers": listing(text()),
        **dict.fromkeys(_SET_BY_SERVER.split(), anything()),
    },
    go="v1.ObjectMeta",
    example={"name": "my-name"},
)


def check_metadata(metadata: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield findings on the values of a well-formed ``metadata``."""
    yield from _check_name(metadata)
    for field in ("labels", "annotations"):
        for key in metadata.get(field, {}):
            for error in key_errors(key):
                yield _invalid(key, error, field, key, hint="write, for example, example.com/owner")
    for key, value in metadata.get("labels", {}).items():
        for error in value_errors(value):
            yield _invalid(
                value, error, "labels", key, hint="write another value, or make it an annotation"
            )


def _check_name(metadata: Mapping[str, Any]) -> Iterator[Finding]:
    name = metadata.get("name", "")
    if not name and not metadata.get("generateName"):
        what = "Required value: name or generateName is required"
        yield Finding(what, ("metadata", "name"), "add metadata: {name: my-name}")
    for error in subdomain_errors(name) if name else ():
        yield _invalid(name, error, "name", hint="write lower-case letters, digits and '-'")


def _invalid(value: str, error: str, *path: str, hint: str) -> Finding:
    shown = json.dumps(value, ensure_ascii=False)
    return Finding(f"Invalid value: {shown}: {error}", ("metadata", *path), hint)
