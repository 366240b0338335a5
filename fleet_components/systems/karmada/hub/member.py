"""Members in the form in which users declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.hub.listing import Object
from fleet_components.systems.karmada.hub.marks import as_written, is_leaving, plain
from fleet_components.systems.karmada.model.resource_models import DEFAULT_MODELS

_SPEC = ("syncMode", "provider", "region", "zone", "zones", "taints", "resourceModels")
_SUMMARY = ("allocatable", "allocated", "allocating", "allocatableModelings")
_CONDITIONS = ("Ready", "CompleteAPIEnablements")


def member_as_written(data: Object) -> dict[str, Any]:
    """Return a ``Cluster`` with what the scheduler reads, and without what changes from minute to
    minute.

    Addresses and references to Secrets are left out, and so are resource models that are the
    default ones.
    """
    written, given, status = as_written(data), data.get("spec") or {}, data.get("status")
    spec = plain({field: given.get(field) for field in _SPEC})
    if _is_default(given.get("resourceModels")):
        del spec["resourceModels"]
    if is_leaving(data):
        written["metadata"]["deletionTimestamp"] = data["metadata"]["deletionTimestamp"]
    seen = {} if status is None else {"status": _status(status)}
    head = {field: written[field] for field in ("apiVersion", "kind", "metadata")}
    return {**head, "spec": {"syncMode": "Push", **spec}, **seen}


def _status(status: Mapping[str, Any]) -> dict[str, Any]:
    summary = status.get("resourceSummary")
    counted = None if summary is None else plain({field: summary.get(field) for field in _SUMMARY})
    conditions = [
        {
            "type": condition["type"],
            "status": condition["status"],
            "reason": condition.get("reason", ""),
        }
        for condition in sorted(status.get("conditions") or (), key=lambda item: str(item["type"]))
        if condition["type"] in _CONDITIONS
    ]
    served = [
        {
            "groupVersion": group["groupVersion"],
            "resources": _resources(group.get("resources") or ()),
        }
        for group in sorted(status.get("apiEnablements") or (), key=lambda group: str(group["groupVersion"]))
    ]
    summed = {} if counted is None else {"resourceSummary": counted}
    return {**plain({"conditions": conditions}), "apiEnablements": served, **summed}


def _resources(resources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        ({"name": resource["name"], "kind": resource["kind"]} for resource in resources),
        key=lambda data: str(data["name"]),
    )


def _is_default(models: Sequence[Mapping[str, Any]] | None) -> bool:
    """Return whether the resource models are those that every joined member gets."""
    if not models:
        return False
    given = [(data["grade"], {part["name"]: str(part["min"]) for part in data["ranges"]}) for data in models]
    return given == [(model.grade, dict(model.minimum)) for model in DEFAULT_MODELS]
