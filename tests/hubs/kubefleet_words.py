"""What a KubeFleet hub says of a placement, against what a plan would have it say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.status.placements import api_objects
from tests.hubs.objects import Objects

_PARTS = ("type", "status", "reason", "message")


def placement_words(decided: Decided, hub: Objects) -> Iterator[str]:
    """Yield what the hub says otherwise of what is scheduled: the condition, and the entry of each member."""
    placement, snapshot = api_objects(decided)
    found = hub.get(hub.judge.path(placement))
    assert found, decided.name
    for what, read in (
        ("condition", _condition),
        ("members", _members),
        ("observed revision", _index),
        ("selected objects", _selected),
    ):
        planned, said = read(placement["status"]), read(found.get("status") or {})
        if planned != said:
            yield f"{what}: {said}, not {planned}"
    kept = hub.get(hub.judge.path(snapshot))
    if kept is None:
        yield f"there is no {snapshot['kind']} {snapshot['metadata']['name']}"
    else:
        planned_scores, scores = _scores(snapshot["status"]), _scores(kept.get("status") or {})
        if planned_scores != scores:
            yield f"scores: {scores}, not {planned_scores}"


def _condition(status: Mapping[str, Any]) -> list[Any]:
    return [
        _plain(item) for item in status.get("conditions", ()) if item["type"].endswith("Scheduled")
    ]


def _members(status: Mapping[str, Any]) -> Counter[Any]:
    """The entries of members, which are in no order."""
    return Counter(
        (
            item.get("clusterName", ""),
            *(_plain(each) for each in item["conditions"] if each["type"] == "Scheduled"),
        )
        for item in status.get("placementStatuses", ())
    )


def _index(status: Mapping[str, Any]) -> str:
    return str(status.get("observedResourceIndex", ""))


def _selected(status: Mapping[str, Any]) -> Counter[Any]:
    return Counter(tuple(sorted(item.items())) for item in status.get("selectedResources", ()))


def _scores(status: Mapping[str, Any]) -> Counter[Any]:
    """What the scheduler has decided of each member that it has picked."""
    return Counter(
        (
            item["clusterName"],
            tuple(sorted((item.get("clusterScore") or {}).items())),
            item["reason"],
        )
        for item in status.get("targetClusters", ())
        if item["selected"]
    )


def _plain(condition: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(condition.get(part) for part in _PARTS)
