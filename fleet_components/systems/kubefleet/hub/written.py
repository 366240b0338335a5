"""Objects of a hub in the form in which users write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.content.strip import LAST_APPLIED
from fleet_components.hub.listing import Object

_HEADER = ("apiVersion", "kind", "metadata")


def as_written(data: Object) -> dict[str, Any]:
    """Return a policy or a member without what the hub adds: status, and all metadata but names and
    labels.

    Of annotations those stay that somebody may have written.
    """
    metadata = data["metadata"]
    annotations = {key: text for key, text in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    kept = {
        "name": metadata["name"],
        "namespace": metadata.get("namespace"),
        "labels": metadata.get("labels"),
        "annotations": annotations,
    }
    rest = {field: value for field, value in data.items() if field not in (*_HEADER, "status")}
    header = {"apiVersion": data["apiVersion"], "kind": data["kind"]}
    return {**header, "metadata": {field: value for field, value in kept.items() if value}, **rest}


def conditions_of(status: Mapping[str, Any] | None) -> dict[str, Object]:
    """Return the conditions of a status by type."""
    return {condition["type"]: condition for condition in (status or {}).get("conditions") or ()}
