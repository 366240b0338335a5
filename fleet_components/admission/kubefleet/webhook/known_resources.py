"""Which kinds of object can be selected, and whether they live in a namespace.

Source: the persisted kinds of Kubernetes 1.36 and KubeFleet's envelopes. Custom kinds exist where the context holds
their CustomResourceDefinition or an object of them: without a hub nobody else can tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

from fleet_components.model.manifest import Manifest

Scope = Literal["Cluster", "Namespaced", "unknown"]

_CLUSTER = {
    "": "ComponentStatus Namespace Node PersistentVolume",
    "admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
    "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
    "ValidatingWebhookConfiguration",
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "certificates.k8s.io": "CertificateSigningRequest",
    "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
    "networking.k8s.io": "IngressClass IPAddress ServiceCIDR",
    "node.k8s.io": "RuntimeClass",
    "placement.kubernetes-fleet.io": "ClusterResourceEnvelope",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
    "resource.k8s.io": "DeviceClass ResourceSlice",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
}
_NAMESPACED = {
    "": "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController "
    "ResourceQuota Secret Service ServiceAccount",
    "apps": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "autoscaling": "HorizontalPodAutoscaler",
    "batch": "CronJob Job",
    "coordination.k8s.io": "Lease",
    "discovery.k8s.io": "EndpointSlice",
    "events.k8s.io": "Event",
    "networking.k8s.io": "Ingress NetworkPolicy",
    "placement.kubernetes-fleet.io": "ResourceEnvelope",
    "policy": "PodDisruptionBudget",
    "rbac.authorization.k8s.io": "Role RoleBinding",
    "resource.k8s.io": "ResourceClaim ResourceClaimTemplate",
    "storage.k8s.io": "CSIStorageCapacity",
}
_SCOPES: Mapping[tuple[str, str], Scope] = {
    **{(group, kind): "Cluster" for group, kinds in _CLUSTER.items() for kind in kinds.split()},
    **{(group, kind): "Namespaced" for group, kinds in _NAMESPACED.items() for kind in kinds.split()},
}
_VERSIONS = {"autoscaling": ("v1", "v2"), "placement.kubernetes-fleet.io": ("v1beta1",)}


def scope_of(group: str, version: str, kind: str, context: Sequence[Manifest]) -> Scope | None:
    """Where objects of a kind live; None when there is no such kind."""
    if built_in := _SCOPES.get((group, kind)):
        return built_in if version in served_versions(group, kind) else None
    if not version:
        return None
    for manifest in context:
        if manifest.kind == "CustomResourceDefinition" and _defines(manifest.data, group, version, kind):
            return "Cluster" if manifest.data["spec"].get("scope") == "Cluster" else "Namespaced"
    exists = any((it.group, it.version, it.kind) == (group, version, kind) for it in context)
    return "unknown" if exists else None


def served_versions(group: str, kind: str) -> tuple[str, ...]:
    """The versions of a kind that needs no CustomResourceDefinition in the context; empty for other kinds."""
    return _VERSIONS.get(group, ("v1",)) if (group, kind) in _SCOPES else ()


def meant(group: str, kind: str) -> str:
    """The group, version and kind that were probably meant, as YAML; empty when none are near."""
    same = [known for known in _SCOPES if known[1].casefold() == kind.casefold()]
    near = get_close_matches(kind, [name for at, name in _SCOPES if at == group], n=1, cutoff=0.8)
    found = same or [(group, name) for name in near]
    if not found:
        return ""
    of_group, name = found[0]
    version = served_versions(of_group, name)[-1]
    return f"group: {json.dumps(of_group)}, version: {version}, kind: {name}"


def _defines(definition: Mapping[str, Any], group: str, version: str, kind: str) -> bool:
    spec = definition.get("spec") or {}
    versions = [each.get("name") for each in spec.get("versions") or ()]
    return (spec.get("group"), (spec.get("names") or {}).get("kind")) == (group, kind) and version in versions
