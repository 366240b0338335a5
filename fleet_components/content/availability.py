"""KubeFleet's rules for the availability of an applied object.

Source: ``pkg/controllers/workapplier/availability_tracker.go`` of KubeFleet 0.3.1. Each kind is recognized in exactly
one API version.
"""

from __future__ import annotations

from typing import Literal

from fleet_components.model.manifest import Manifest

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
    """Return whether availability is tracked, immediate (assumed as soon as the object is applied), or untrackable.

    An untrackable object makes its member wait for ``unavailablePeriodSeconds`` in a rolling update.
    """
    if manifest.kind in _TRACKABLE.get(manifest.api_version, "").split():
        return "untrackable" if _is_external(manifest) else "trackable"
    return "immediate" if manifest.kind in _IMMEDIATE.get(manifest.api_version, "").split() else "untrackable"


def _is_external(manifest: Manifest) -> bool:
    # KubeFleet does not know how to tell that a Service of this type is available (``trackServiceAvailability``).
    return manifest.kind == "Service" and (manifest.data.get("spec") or {}).get("type") == "ExternalName"
