"""Field errors in the words of Karmada's validating webhooks.

Source: ``k8s.io/apimachinery`` 0.36, ``pkg/util/validation/field/errors.go``. Values are shown as
JSON, structs in the order of their Go fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.admission.decode import raw_json, rewritten
from fleet_components.admission.definitions import structure
from fleet_components.admission.finding import Denial, Finding, dotted
from fleet_components.admission.schema import Schema
from fleet_components.model.problem import FieldPath
from fleet_components.systems.karmada.admission.overlay import overlay_of
from fleet_components.systems.karmada.model.release import TABLE

_MISNAMED: Mapping[FieldPath, FieldPath] = {
    ("spec", "spec"): ("spec",),
    ("spec", "Zones"): ("spec", "zones"),
    ("spec", "suspension", "suspension"): ("spec", "suspension"),
}
"""Wrong paths in Karmada's texts, and the fields they refer to."""


def invalid(path: FieldPath, shown: str, detail: str, hint: str) -> Finding:
    """Return an ``Invalid value`` finding; ``shown`` is the value as text."""
    return Finding(f"Invalid value: {shown}: {detail}", path, hint)


def required(path: FieldPath, detail: str, hint: str) -> Finding:
    """Return a ``Required value`` finding."""
    return Finding(f"Required value: {detail}" if detail else "Required value", path, hint)


def unsupported(path: FieldPath, value: str, supported: Iterable[str], hint: str) -> Finding:
    """Return an ``Unsupported value`` finding."""
    listed = ", ".join(map(quoted, supported))
    return Finding(f"Unsupported value: {quoted(value)}: supported values: {listed}", path, hint)


def duplicate(path: FieldPath, shown: str, hint: str) -> Finding:
    """Return a ``Duplicate value`` finding; ``shown`` is the value as text."""
    return Finding(f"Duplicate value: {shown}", path, hint)


def forbidden(path: FieldPath, detail: str, hint: str) -> Finding:
    """Return a ``Forbidden`` finding."""
    return Finding(f"Forbidden: {detail}", path, hint)


def deny_fields(findings: Iterable[Finding]) -> Denial | None:
    """Return the refusal that a webhook makes of field errors, with each text once; None if there
    are none.
    """
    listed = tuple(findings)
    texts = list(dict.fromkeys(f"{dotted(finding.path)}: {finding.what}" for finding in listed))
    placed = tuple(
        attrs.evolve(it, path=_MISNAMED.get(it.path, it.path), stage="webhook") for it in listed
    )
    return (
        Denial(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]", placed) if placed else None
    )


def quoted(text: str) -> str:
    """Return a text in quotes, as Go prints it."""
    return json.dumps(text, ensure_ascii=False)


def shown(schema: Schema, value: Any) -> str:
    """Format a value as Go encodes the struct that it was decoded into."""
    return _shown(schema, rewritten(schema, value))


def _shown(schema: Schema, value: Any) -> str:
    match schema, value:
        case Schema(type="array", items=Schema() as items), list():
            return "[" + ",".join(_shown(items, item) for item in value) + "]"
        case Schema(type="object", items=None), Mapping():
            return "{" + ",".join(_entries(schema, value)) + "}"
    return raw_json(value)


def _entries(schema: Schema, value: Mapping[str, Any]) -> Iterable[str]:
    for key, field in schema.fields.items():
        # A field of raw JSON is encoded even if it is absent, since it has no zero value to leave
        # out.
        if key in value or field.type == "any":
            yield f'"{key}":{_shown(field, value.get(key))}'


# Parts of Karmada's policies as Go encodes them, for texts of webhooks.


_DECODED = ("policy.karmada.io", "v1alpha1")
"""API version of the Go types that the webhooks decode into."""


def shown_of_propagation(path: str, value: Any) -> str:
    """Format the value of a field in the ``spec`` of a propagation policy; ``[]`` in the path is
    any item of a list.

    Raises:
        KeyError: the policy has no such field.
    """
    return _shown_part("PropagationPolicy", path, value)


def shown_of_override(path: str, value: Any) -> str:
    """Format the value of a field in the ``spec`` of an override policy; ``[]`` in the path is any
    item of a list.

    Raises:
        KeyError: the policy has no such field.
    """
    return _shown_part("OverridePolicy", path, value)


def _shown_part(kind: str, path: str, value: Any) -> str:
    schema = structure(*_DECODED, kind, overlay_of(TABLE.named())).fields["spec"]
    for step in path.replace("[]", ".[]").split("."):
        schema = schema.items if step == "[]" and schema.items else schema.fields[step]
    return shown(schema, value)
