"""Objects that KubeFleet never places, whatever a placement selects.

Source: ``pkg/utils/apiresources.go`` (disabled APIs) and ``ShouldPropagateObj`` in
``pkg/utils/controller/resource_selector_resolver.go`` of KubeFleet 0.3.1, for a hub agent without
an allow list and with workloads disabled on the hub.
"""

from __future__ import annotations

from fleet_components.content.catalogue import Catalogue
from fleet_components.model.manifest import Manifest, ObjectKey

_GROUPS = ("cluster.kubernetes-fleet.io", "coordination.k8s.io", "events.k8s.io", "metrics.k8s.io")
_PLACEMENT = """
    ApprovalRequest ClusterApprovalRequest ClusterResourceBinding ClusterResourceOverride
    ClusterResourceOverrideSnapshot ClusterResourcePlacement
    ClusterResourcePlacementDisruptionBudget ClusterResourcePlacementEviction
    ClusterResourcePlacementStatus ClusterResourceSnapshot ClusterSchedulingPolicySnapshot
    ClusterStagedUpdateRun ClusterStagedUpdateStrategy ResourceBinding ResourceOverride
    ResourceOverrideSnapshot ResourcePlacement ResourceSnapshot SchedulingPolicySnapshot
    StagedUpdateRun StagedUpdateStrategy Work
"""
_KINDS = {
    "placement.kubernetes-fleet.io": _PLACEMENT.split(),
    "networking.fleet.azure.com": [
        "ServiceImport",
        "TrafficManagerBackend",
        "TrafficManagerProfile",
    ],
    "": ["Node", "Pod"],
}
_RESERVED_PREFIXES = ("kube-", "fleet-")


def is_reserved(namespace: str) -> bool:
    """Return whether a namespace is reserved, so that nothing in it may be placed."""
    return namespace.startswith(_RESERVED_PREFIXES)


def is_disabled(group: str, kind: str) -> bool:
    """Return whether objects of the kind are never placed."""
    return group in _GROUPS or kind in _KINDS.get(group, ())


def why_skipped(manifest: Manifest, catalogue: Catalogue) -> str:
    """Return why a selected object is not placed; empty if it is placed."""
    if is_disabled(manifest.group, manifest.kind):
        return f"{manifest.kind} objects are never placed"
    # A source may be the export of a hub, which has objects on their way out.
    if manifest.metadata.get("deletionTimestamp"):
        return "it is being deleted"
    match manifest.api_version, manifest.kind:
        case "apps/v1", "ReplicaSet" | "ControllerRevision" if manifest.metadata.get(
            "ownerReferences"
        ):
            return "its owner makes it on each cluster"
        case "v1", "ConfigMap" if manifest.name == "kube-root-ca.crt":
            return "each cluster has one of its own in every namespace"
        case "v1", "ServiceAccount" if manifest.name == "default":
            return "each cluster has one of its own in every namespace"
        case "v1", "Secret" if manifest.data.get("type") == "kubernetes.io/service-account-token":
            return "service account tokens are made by each cluster"
        case "v1", "Endpoints" if catalogue.get(
            ObjectKey("", "Service", manifest.namespace, manifest.name)
        ):
            return "its Service makes it on each cluster"
        case "discovery.k8s.io/v1", "EndpointSlice" if (
            "endpointslice.kubernetes.io/managed-by" in manifest.labels
        ):
            return "its controller makes it on each cluster"
    return ""
