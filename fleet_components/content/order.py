"""The two orders of objects in KubeFleet: in a resource snapshot, and when they are applied on a member.

Source: ``pkg/utils/controller/resource_selector_resolver.go`` (snapshots) and ``pkg/controllers/workapplier/waves.go``
(applying) of KubeFleet 0.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.manifest import Manifest

_SNAPSHOT = """
    PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodDisruptionBudget ServiceAccount Secret
    ConfigMap StorageClass PersistentVolume PersistentVolumeClaim CustomResourceDefinition ClusterRole
    ClusterRoleBinding Role RoleBinding Service DaemonSet Pod ReplicationController ReplicaSet Deployment
    HorizontalPodAutoscaler StatefulSet Job CronJob IngressClass Ingress APIService
    MutatingWebhookConfiguration ValidatingWebhookConfiguration
"""
_RANK = {kind: rank for rank, kind in enumerate(_SNAPSHOT.split())}

_PHASES = (
    "Namespace PriorityClass",
    "NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy PodDisruptionBudget ServiceAccount Secret ConfigMap"
    " StorageClass PersistentVolume PersistentVolumeClaim CustomResourceDefinition IngressClass",
    "ClusterRole Role",
    "ClusterRoleBinding RoleBinding",
    "Service DaemonSet Pod ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job"
    " CronJob Ingress",
    "APIService ValidatingWebhookConfiguration MutatingWebhookConfiguration",
)
_PHASE = {kind: number for number, kinds in enumerate(_PHASES) for kind in kinds.split()}
_KNOWN_GROUPS = """
    admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps autoscaling batch
    networking.k8s.io policy rbac.authorization.k8s.io scheduling.k8s.io storage.k8s.io
"""
LAST_PHASE = len(_PHASES)


def in_snapshot_order(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Return the objects in the order of a resource snapshot: by kind, group and version, namespace and name."""
    return tuple(sorted(manifests, key=_snapshot_rank))


def phases(manifests: Iterable[Manifest]) -> list[tuple[int, tuple[Manifest, ...]]]:
    """Return the objects by the phase in which they are applied, 0 to 6, in the given order within a phase.

    The objects of a phase do not wait for one another. Custom resources and unknown kinds are in the last phase.
    """
    found: dict[int, list[Manifest]] = {}
    for manifest in manifests:
        found.setdefault(phase(manifest), []).append(manifest)
    return [(number, tuple(found[number])) for number in sorted(found)]


def phase(manifest: Manifest) -> int:
    """Return the phase in which an object is applied, 0 to 6."""
    # Unlike in the order of a snapshot, KubeFleet asks for the group here: a custom kind may be called Job too.
    is_known = not manifest.group or manifest.group in _KNOWN_GROUPS.split()
    return _PHASE.get(manifest.kind, LAST_PHASE) if is_known else LAST_PHASE


def _snapshot_rank(manifest: Manifest) -> tuple[int, str, str]:
    """Return the sort key. Known kinds are recognized in any group; others follow by ``group/version, Kind=kind``."""
    place = f"{manifest.namespace}/{manifest.name}"
    if manifest.kind in _RANK:
        return _RANK[manifest.kind], manifest.api_version, place
    return len(_RANK), f"{manifest.group}/{manifest.version}, Kind={manifest.kind}", place
