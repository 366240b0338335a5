"""Nodes and pods for tests, in few words."""

from __future__ import annotations

from typing import Any

from fleet_components.hub.cluster_facts import ClusterFacts
from fleet_components.hub.listing import Object


def node(
    name: str = "n", ready: Any = True, labels: Any = None, provider: Any = "", **allocatable: str
) -> Object:
    amounts = {key.replace("_", "-"): text for key, text in allocatable.items()}
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"providerID": provider} if provider else {},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": conditions},
    }


def pod(
    name: str = "p",
    on: str = "n",
    phase: str = "Running",
    init: Any = (),
    overhead: Any = None,
    **requests: str,
) -> Object:
    """A pod with one container that requests this, and init containers that request those."""
    spec: dict[str, Any] = {
        "containers": [{"name": "c", "resources": {"requests": requests} if requests else {}}],
        "initContainers": [{"name": "i", "resources": {"requests": item}} for item in init],
    }
    spec |= {"nodeName": on} if on else {}
    spec |= {"overhead": overhead} if overhead else {}
    metadata = {"name": name, "namespace": "shop"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }


def facts(*found: Object, **more: Any) -> ClusterFacts:
    """What a cluster tells that has these nodes and pods."""
    nodes = tuple(item for item in found if item["kind"] == "Node")
    return ClusterFacts(nodes, tuple(item for item in found if item["kind"] == "Pod"), **more)
