"""Availability of objects as members have them, as KubeFleet's agent judges it."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.content.availability import availability

APPS = {"apiVersion": "apps/v1", "metadata": {"name": "it", "generation": 3}}
CORE = {"apiVersion": "v1", "metadata": {"name": "it"}}


def deployment(**status: Any) -> dict[str, Any]:
    full = {"observedGeneration": 3, "availableReplicas": 2, "updatedReplicas": 2, **status}
    return {**APPS, "kind": "Deployment", "spec": {"replicas": 2}, "status": full}


def stateful_set(**status: Any) -> dict[str, Any]:
    replicas = {
        "observedGeneration": 3,
        "availableReplicas": 1,
        "currentReplicas": 1,
        "updatedReplicas": 1,
    }
    revisions = {"currentRevision": "a", "updateRevision": "a"}
    return {
        **APPS,
        "kind": "StatefulSet",
        "spec": {},
        "status": {**replicas, **revisions, **status},
    }


def daemon_set(**status: Any) -> dict[str, Any]:
    scheduled = {
        "desiredNumberScheduled": 2,
        "currentNumberScheduled": 2,
        "updatedNumberScheduled": 2,
    }
    full = {"observedGeneration": 3, "numberAvailable": 2, **scheduled, **status}
    return {**APPS, "kind": "DaemonSet", "spec": {}, "status": full}


def service(kind: str, status: Any = None, **spec: Any) -> dict[str, Any]:
    return {**CORE, "kind": "Service", "spec": {"type": kind, **spec}, "status": status or {}}


def definition(*conditions: str) -> dict[str, Any]:
    true = [{"type": condition, "status": "True"} for condition in conditions]
    whole = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "it"},
    }
    return {**whole, "status": {"conditions": true}}


def budget(observed: int) -> dict[str, Any]:
    conditions = [{"type": "DisruptionAllowed", "observedGeneration": observed}]
    whole = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "it", "generation": 3},
    }
    return {**whole, "status": {"observedGeneration": observed, "conditions": conditions}}


@pytest.mark.parametrize(
    "live",
    [
        deployment(),
        stateful_set(),
        daemon_set(),
        service("ClusterIP", clusterIPs=["None"]),
        service("NodePort", clusterIPs=["10.0.0.1"]),
        service("LoadBalancer", {"loadBalancer": {"ingress": [{"hostname": "h"}]}}),
        definition("Established", "NamesAccepted"),
        budget(3),
        {**CORE, "kind": "ConfigMap"},
    ],
)
def test_available(live: dict[str, Any]) -> None:
    assert availability(live) == "Available"


@pytest.mark.parametrize(
    "live",
    [
        deployment(observedGeneration=2),
        deployment(availableReplicas=1),
        deployment(updatedReplicas=1),
        deployment(unavailableReplicas=1),
        stateful_set(observedGeneration=2),
        stateful_set(availableReplicas=0),
        stateful_set(currentReplicas=0),
        stateful_set(updateRevision="b"),
        daemon_set(observedGeneration=2),
        daemon_set(numberAvailable=1),
        daemon_set(updatedNumberScheduled=1),
        service("ClusterIP"),
        service("LoadBalancer", clusterIPs=["10.0.0.1"]),
        definition("Established"),
        budget(2),
    ],
)
def test_not_yet(live: dict[str, Any]) -> None:
    assert availability(live) == "ManifestNotAvailableYet"


@pytest.mark.parametrize(
    "live", [service("ExternalName"), {**CORE, "kind": "Pod"}, {**APPS, "kind": "ReplicaSet"}]
)
def test_nobody_can_tell(live: dict[str, Any]) -> None:
    assert availability(live) == "NotTrackable"
