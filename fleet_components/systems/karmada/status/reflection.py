"""Statuses of objects on members, as Karmada collects them.

Source: ``pkg/resourceinterpreter/default/native/reflectstatus.go`` of Karmada 1.19. The generation
of the template is
left out: without a control plane there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.model.manifest import Manifest, value_at

Status = Mapping[str, Any]

_FIELDS = {
    ("apps/v1", "Deployment"): (
        "replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas"
        " observedGeneration"
    ),
    ("apps/v1", "ReplicaSet"): "replicas readyReplicas availableReplicas observedGeneration",
    (
        "apps/v1",
        "StatefulSet",
    ): "availableReplicas currentReplicas readyReplicas replicas updatedReplicas",
    ("apps/v1", "DaemonSet"): (
        "currentNumberScheduled desiredNumberScheduled numberAvailable numberMisscheduled"
        " numberReady updatedNumberScheduled numberUnavailable observedGeneration"
    ),
    ("batch/v1", "Job"): "active succeeded failed conditions startTime completionTime",
    (
        "policy/v1",
        "PodDisruptionBudget",
    ): "disruptionsAllowed expectedPods desiredHealthy currentHealthy disruptedPods",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "currentReplicas desiredReplicas",
}
"""The fields that are collected; of other kinds the whole status."""
_REQUIRED = {
    ("apps/v1", "ReplicaSet"): "replicas",
    ("apps/v1", "StatefulSet"): "availableReplicas replicas",
    (
        "apps/v1",
        "DaemonSet",
    ): "currentNumberScheduled desiredNumberScheduled numberMisscheduled numberReady",
    (
        "policy/v1",
        "PodDisruptionBudget",
    ): "disruptionsAllowed expectedPods desiredHealthy currentHealthy",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "desiredReplicas",
}
"""Those of them that the API writes when they are 0."""
_GENERATED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
"""The kinds of ``apps/v1`` whose generation on the member is collected too."""


def reflected(manifest: Manifest, status: Status, generation: int = 0) -> Status | None:
    """Return what Karmada collects of the status of an object; None if that is nothing.

    Args:
        manifest: the object as it is delivered.
        status: its status on the member.
        generation: its generation there; 0 if that is unknown.
    """
    kind = (manifest.api_version, manifest.kind)
    if kind == ("v1", "Service"):
        is_balancer = value_at(manifest.data, ("spec", "type")) == "LoadBalancer"
        return {"loadBalancer": status.get("loadBalancer") or {}} if is_balancer else None
    if kind not in _FIELDS:
        return status
    first = {"generation": generation} if manifest.kind in _GENERATED and generation else {}
    return {
        **first,
        **written(manifest, {name: status.get(name) for name in _FIELDS[kind].split()}),
    } or None


def written(manifest: Manifest, fields: Status) -> Status:
    """Return the fields that the API writes: those that are not empty, and some that are."""
    required = _REQUIRED.get((manifest.api_version, manifest.kind), "").split()
    return {name: value or 0 for name, value in fields.items() if value or name in required}
