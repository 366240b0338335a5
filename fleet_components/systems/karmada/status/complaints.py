"""Reasons that the status of a binding has for members on which not all is well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.hub.listing import Listing, Object
from fleet_components.model.manifest import ObjectKey
from fleet_components.systems.karmada.hub.kinds import BINDINGS, WORK_GROUP


def complaints(status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the members of a template on which not all is well, each with the reasons.

    Args:
        status: the status of the binding.
    """
    for item in status.get("aggregatedStatus") or ():
        wrong = [] if item.get("applied") else [item.get("appliedMessage") or "is not applied yet"]
        wrong += [f"is {item['health']}"] if item.get("health") == "Unhealthy" else []
        if item.get("clusterName") and wrong:
            yield item["clusterName"], wrong


def binding_of(template: ObjectKey, listing: Listing) -> Object | None:
    """Return the binding of a template; None if there is none."""
    bindings = (data for kind in BINDINGS for data in listing.all(kind, WORK_GROUP))
    return next((binding for binding in bindings if _is_of(binding, template)), None)


def _is_of(binding: Object, template: ObjectKey) -> bool:
    resource = (binding.get("spec") or {}).get("resource") or {}
    group = str(resource.get("apiVersion", "")).rpartition("/")[0]
    asked = (group, resource.get("kind"), resource.get("namespace") or "", resource.get("name"))
    return asked == (template.group, template.kind, template.namespace, template.name)
