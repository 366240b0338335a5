"""Reasons that the status of a placement has for members on which not all is well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_PASSING = ("True", None)


def complaints(status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the members of a placement on which not all is well, each with what the hub says.

    Args:
        status: the status of the placement.
    """
    # The field has another name in version v1beta1.
    members = status.get("perClusterPlacementStatuses") or status.get("placementStatuses") or ()
    for item in members:
        wrong = [*_conditions(item.get("conditions")), *_failed(item)]
        if item.get("clusterName") and wrong:
            yield item["clusterName"], wrong


def _conditions(conditions: Iterable[Mapping[str, Any]] | None) -> Iterator[str]:
    for condition in conditions or ():
        if condition.get("status") not in _PASSING:
            yield f"{condition.get('reason')}: {condition.get('message')}"


def _failed(cluster: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a member of KubeFleet said of single objects."""
    for item in cluster.get("failedPlacements") or ():
        message = (item.get("condition") or {}).get("message")
        yield (
            f"{item.get('kind')}"
            f" {'/'.join(filter(None, (item.get('namespace'), item.get('name'))))}: {message}"
        )
