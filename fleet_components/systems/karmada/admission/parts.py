"""Parts of Karmada's policies as Go encodes them, for texts of webhooks."""

from __future__ import annotations

from typing import Any

from fleet_components.admission.definitions import structure
from fleet_components.systems.karmada.admission.field_error import shown
from fleet_components.systems.karmada.admission.overlay import overlay_of
from fleet_components.systems.karmada.model.release import TABLE

_DECODED = ("policy.karmada.io", "v1alpha1")
"""API version of the Go types that the webhooks decode into."""


def shown_of_propagation(path: str, value: Any) -> str:
    """Format the value of a field in the ``spec`` of a propagation policy; ``[]`` in the path is any item of a list.

    Raises:
        KeyError: the policy has no such field.
    """
    return _shown("PropagationPolicy", path, value)


def shown_of_override(path: str, value: Any) -> str:
    """Format the value of a field in the ``spec`` of an override policy; ``[]`` in the path is any item of a list.

    Raises:
        KeyError: the policy has no such field.
    """
    return _shown("OverridePolicy", path, value)


def _shown(kind: str, path: str, value: Any) -> str:
    schema = structure(*_DECODED, kind, overlay_of(TABLE.named())).fields["spec"]
    for step in path.replace("[]", ".[]").split("."):
        schema = schema.items if step == "[]" and schema.items else schema.fields[step]
    return shown(schema, value)
