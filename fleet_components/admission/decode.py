"""Effects of a mutating webhook written in Go, which decodes an object and encodes it again.

KubeFleet's and Karmada's webhooks decode an object into Go structs and answer with their encoding.
As a result, values of a wrong type are refused in the words of Go's JSON decoder, missing required
fields become zero values (and pass), and optional fields with a zero value disappear (and get their
default).

Source: the JSON decoder of the Kubernetes API machinery and the Go types of the two systems, as far
as the schemas name them in ``go``. Optional numbers are pointers there, so their zero stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.admission.finding import Finding
from fleet_components.admission.schema import Schema
from fleet_components.admission.structure import json_type, mismatches
from fleet_components.model.digits import integer
from fleet_components.model.problem import FieldPath
from fleet_components.model.quantity import parse_quantity

_ZERO: Mapping[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "int-or-string": 0,
}
_MAX_INT32 = 2**31
_DROPPED_ZERO = ("string", "boolean", "array")


def rewritten(schema: Schema, value: Any) -> Any:
    """Return a filled value after decoding into Go structs and encoding again; values of a wrong
    type stay.
    """
    match schema.type, value:
        case "array", list() if schema.items:
            return [
                rewritten(schema.items, _zero(schema.items) if it is None else it) for it in value
            ]
        case "object", Mapping() if schema.fields:
            return _rewritten_fields(schema, value)
    return value


def undecodable(schema: Schema, value: Any) -> list[Finding]:
    """Return findings on what the Go JSON decoder refuses in a filled value, in the order of its
    errors.

    The decoder accepts ``null`` as a zero value.
    """
    return _in_order(schema, value, (*mismatches(schema, value), *_too_great(schema, value, ())))


def too_great(schema: Schema, value: Any) -> list[Finding]:
    """Return what :func:`undecodable` does, for a value without any of a wrong type."""
    return _in_order(schema, value, tuple(_too_great(schema, value, ())))


def _in_order(schema: Schema, value: Any, findings: Sequence[Finding]) -> list[Finding]:
    wrong = [(it, _at(value, it.path)) for it in findings]
    refused = [
        _Refused(it, found, *_locate(schema, it.path)) for it, found in wrong if found is not None
    ]
    # The API server passes objects on with sorted keys, so errors come in the order of paths. An
    # int-or-string has a decoder of its own, whose failure ends the decoding at once.
    refused.sort(key=lambda it: (it.schema.type != "int-or-string", it.finding.path))
    return [attrs.evolve(it.finding, what=it.text, stage="decode") for it in refused]


@attrs.frozen
class _Refused:
    """Value of a wrong type with its schema, the enclosing struct, and the field names that lead to
    it.
    """

    finding: Finding
    value: Any
    schema: Schema
    struct: Schema
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        field = ".".join((self.struct.go.rpartition(".")[2], *self.names))
        return (
            f"json: cannot unmarshal {self._found} into Go struct field {field} of type"
            f" {_go_type(self.schema)}"
        )

    @property
    def _found(self) -> str:
        found = json_type(self.value)
        if found in ("integer", "number") and self.schema.type in ("integer", "int-or-string"):
            return f"number {self.value}"
        return {"boolean": "bool", "integer": "number"}.get(found, found)


def _too_great(schema: Schema, value: Any, path: FieldPath) -> Iterator[Finding]:
    """Yield findings on numbers that do not fit into the 32 bits that the Go struct has for
    them.
    """
    if not schema.narrow:
        return
    match value:
        case int() if schema.format == "int32" or schema.type == "int-or-string":
            if not -_MAX_INT32 <= value < _MAX_INT32:
                yield Finding("", path, "write a smaller number")
        case Mapping() if schema.type == "object":
            for key, item in value.items():
                # The value is filled, so that every key is a known field.
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
        # A missing list is nil in Go and written as null, which counts as absent.
        elif field.required and field.type != "array":
            result[key] = rewritten(field, _zero(field))
    return result


def _zero(schema: Schema) -> Any:
    return _ZERO.get(schema.type, {})


def _is_dropped(schema: Schema, value: Any) -> bool:
    """Return whether an optional field with that value is left out of the encoding."""
    if value:
        return False
    # Written out only where the Go type is not what the type of the field suggests.
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


# Formats values as Go's ``fmt`` package does, for the texts of webhooks.


POINTER = "0xPTR"
"""Placeholder for the address of a struct, which differs from run to run in the real texts."""


def fields(value: Mapping[str, Any], names: Mapping[str, str], **shown: str) -> str:
    """Format a struct with its field names (``%+v``): ``{Key:k Value: Effect:NoSchedule}``.

    ``names`` maps the keys of the value to the names of the struct's fields, in order; ``shown``
    replaces the text of a field.
    """
    texts = (f"{name}:{shown.get(key, value.get(key, ''))}" for key, name in names.items())
    return "{" + " ".join(texts) + "}"


def label_selector(selector: Mapping[str, Any] | None) -> str:
    """Format a label selector (``%+v`` of a pointer to one)."""
    if selector is None:
        return "nil"
    labels = "".join(
        f"{key}: {value}," for key, value in sorted(selector.get("matchLabels", {}).items())
    )
    expressions = "".join(map(_requirement, selector.get("matchExpressions", ())))
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def raw_json(value: Any) -> str:
    """Format a JSON value as the API server passes it on: compact, keys sorted, HTML characters
    escaped.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # As Go's encoder does by default.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _requirement(expression: Mapping[str, Any]) -> str:
    values: Sequence[str] = expression.get("values", ())
    return (
        f"LabelSelectorRequirement{{Key:{expression['key']},Operator:{expression['operator']},"
        f"Values:[{' '.join(values)}],}},"
    )


# Canonical form of quantities, in which webhooks print them: ``1000m`` as ``1``, ``2048Mi`` as
# ``2Gi``.
#
# Source: the ``Quantity`` type of the Kubernetes API machinery,
# ``k8s.io/apimachinery/pkg/api/resource/quantity.go``.


_NANO = 9
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BASE = 1024
_FORM = re.compile(r"[+-]?0*+(?P<whole>[0-9]*+)(?:\.(?P<fraction>[0-9]*+))?(?P<suffix>.*)")
_EXPONENT = re.compile("[eE][-+]?[0-9]")
# By whether the suffix is binary: up to so many digits the parser uses an int64.
_FAST_DIGITS = {True: 15, False: 18}


def canonical(text: str) -> str:
    """Return the canonical form, in the same family of suffixes if that loses no precision.

    Raises:
        ValueError: the text is not a quantity.
    """
    nano = parse_quantity(text).nano
    if not nano:
        return "0"
    if _is_kept(text):
        return text
    whole, rest = divmod(abs(nano), 10**_NANO)
    if text.endswith("i") and not rest and whole >= _BASE:
        return ("-" if nano < 0 else "") + _in_binary(whole)
    return _in_decimal(nano, has_exponent=bool(_EXPONENT.search(text)))


def amount_text(nano: int, like: str) -> str:
    """Return the text of an amount that was computed, as of a sum: canonical, in the family of
    suffixes of a quantity.

    Args:
        nano: the amount in units of 1e-9.
        like: the quantity, the first addend of a sum; a binary one rounds up to whole units.
    """
    whole = -(-abs(nano) // 10**_NANO)
    if like.endswith("i") and whole >= _BASE:
        return ("-" if nano < 0 else "") + _in_binary(whole)
    return _in_decimal(nano, has_exponent=bool(_EXPONENT.search(like))) if nano else "0"


def _is_kept(text: str) -> bool:
    """Return whether the parser considers the text canonical and keeps it unchanged: ``+5``,
    ``1500``, ``24Mi``.
    """
    match = _FORM.fullmatch(text)
    # parse_quantity has accepted the text before.
    assert match
    digits, fraction, suffix = (
        match["whole"] + (match["fraction"] or ""),
        match["fraction"] or "",
        match["suffix"],
    )
    if suffix in _BINARY[1:]:
        magnitude = 3 * _BINARY.index(suffix)
        return (
            not fraction
            and len(digits) + magnitude < _FAST_DIGITS[True]
            and int(digits or "0") % 8 != 0
        )
    scale = _exponent(suffix) - len(fraction)
    fits = len(digits) <= _FAST_DIGITS[False] and scale >= -_NANO
    return fits and scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")


def _exponent(suffix: str) -> int:
    names = {name: power for power, name in _DECIMAL.items()}
    return names[suffix] if suffix in names else integer(suffix[1:])


def _in_binary(amount: int) -> str:
    power = 0
    # Never 0 here, for which this would not end.
    while amount % _BASE == 0:
        amount, power = amount // _BASE, power + 1
    return f"{amount}{_BINARY[power]}"


def _in_decimal(nano: int, *, has_exponent: bool) -> str:
    amount, exponent = nano, -_NANO
    # Never 0 here either: callers write that by themselves.
    while amount % 1000 == 0:
        amount, exponent = amount // 1000, exponent + 3
    if has_exponent:
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_DECIMAL.get(exponent, '')}"
