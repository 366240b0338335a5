"""KubeFleet's rules for the availability of an applied object.

Source: ``pkg/controllers/workapplier/availability_tracker.go`` of KubeFleet 0.3.1. Each kind is
recognized in exactly one API version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.observed import Available

Availability = Literal["trackable", "immediate", "untrackable"]

_TRACKABLE = {
    "apps/v1": "DaemonSet Deployment StatefulSet",
    "v1": "Service",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "policy/v1": "PodDisruptionBudget",
}
_IMMEDIATE = {
    "v1": "ConfigMap LimitRange Namespace ResourceQuota Secret ServiceAccount",
    "apps/v1": "ControllerRevision",
    "networking.k8s.io/v1": "IngressClass NetworkPolicy",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": "CSIDriver CSINode CSIStorageCapacity StorageClass",
}


def trackable(manifest: Manifest) -> Availability:
    """Return whether availability is tracked, immediate (assumed as soon as the object is applied),
    or untrackable.

    An untrackable object makes its member wait for ``unavailablePeriodSeconds`` in a rolling
    update.
    """
    if manifest.kind in _TRACKABLE.get(manifest.api_version, "").split():
        return "untrackable" if _is_external(manifest) else "trackable"
    return (
        "immediate"
        if manifest.kind in _IMMEDIATE.get(manifest.api_version, "").split()
        else "untrackable"
    )


def availability(live: Mapping[str, Any]) -> Available:
    """Return the availability of an object as a member has it, as KubeFleet's agent judges it."""
    manifest = Manifest(live)
    match trackable(manifest):
        case "untrackable":
            return "NotTrackable"
        case "immediate":
            return "Available"
    # Its keys are the trackable kinds.
    ready = _READY[manifest.kind](
        live.get("spec") or {}, live.get("status") or {}, _generation(live)
    )
    return "Available" if ready else "ManifestNotAvailableYet"


def _generation(live: Mapping[str, Any]) -> int:
    return int(value_at(live, ("metadata", "generation")) or 0)


def _deployment(spec: Mapping[str, Any], status: Mapping[str, Any], generation: int) -> bool:
    wanted = spec.get("replicas", 1)
    counts = [
        status.get(field, 0)
        for field in ("availableReplicas", "updatedReplicas", "unavailableReplicas")
    ]
    # An old generation means that the controller has not seen the last change.
    return status.get("observedGeneration", 0) == generation and counts == [wanted, wanted, 0]


def _stateful_set(spec: Mapping[str, Any], status: Mapping[str, Any], generation: int) -> bool:
    there = [
        status.get(field, 0)
        for field in ("observedGeneration", "availableReplicas", "currentReplicas")
    ]
    wanted = [generation, spec.get("replicas", 1), status.get("updatedReplicas", 0)]
    return there == wanted and bool(
        status.get("currentRevision", "") == status.get("updateRevision", "")
    )


def _daemon_set(_: Mapping[str, Any], status: Mapping[str, Any], generation: int) -> bool:
    there = [
        status.get(field, 0)
        for field in ("observedGeneration", "numberAvailable", "currentNumberScheduled")
    ]
    wanted = [
        generation,
        status.get("desiredNumberScheduled", 0),
        status.get("updatedNumberScheduled", 0),
    ]
    return there == wanted


def _service(spec: Mapping[str, Any], status: Mapping[str, Any], _: int) -> bool:
    # Only the first ingress, or the first cluster IP, counts.
    if spec.get("type") == "LoadBalancer":
        first = ((status.get("loadBalancer") or {}).get("ingress") or [{}])[0]
        return bool(first.get("ip") or first.get("hostname"))
    return bool((spec.get("clusterIPs") or [""])[0])


def _definition(_: Mapping[str, Any], status: Mapping[str, Any], __: int) -> bool:
    true = {
        item.get("type") for item in status.get("conditions") or () if item.get("status") == "True"
    }
    return {"Established", "NamesAccepted"} <= true


def _disruption_budget(_: Mapping[str, Any], status: Mapping[str, Any], generation: int) -> bool:
    # ConditionsAreUpToDate of k8s.io/kubectl/pkg/util/podutils: the condition, and the status, are
    # of this generation.
    found = [
        item for item in status.get("conditions") or () if item.get("type") == "DisruptionAllowed"
    ]
    observed = status.get("observedGeneration", 0)
    return observed == generation and any(
        item.get("observedGeneration", 0) == observed for item in found
    )


_READY = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Service": _service,
    "CustomResourceDefinition": _definition,
    "PodDisruptionBudget": _disruption_budget,
}


def _is_external(manifest: Manifest) -> bool:
    # KubeFleet does not know how to tell that a Service of this type is available
    # (``trackServiceAvailability``).
    return (
        manifest.kind == "Service"
        and (manifest.data.get("spec") or {}).get("type") == "ExternalName"
    )
