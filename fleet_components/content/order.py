"""The two orders of objects in KubeFleet, and what an object lives in.

Source: ``pkg/utils/controller/resource_selector_resolver.go`` (snapshots) and
``pkg/controllers/workapplier/waves.go`` (applying) of KubeFleet 0.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fleet_components.model.manifest import Manifest, ObjectKey, value_at, values_at

_SNAPSHOT = """
    PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodDisruptionBudget
    ServiceAccount Secret ConfigMap StorageClass PersistentVolume PersistentVolumeClaim
    CustomResourceDefinition ClusterRole ClusterRoleBinding Role RoleBinding Service DaemonSet Pod
    ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job CronJob
    IngressClass Ingress APIService MutatingWebhookConfiguration ValidatingWebhookConfiguration
"""
_RANK = {kind: rank for rank, kind in enumerate(_SNAPSHOT.split())}

_PHASES = (
    "Namespace PriorityClass",
    (
        "NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy PodDisruptionBudget"
        " ServiceAccount Secret ConfigMap StorageClass PersistentVolume PersistentVolumeClaim"
        " CustomResourceDefinition IngressClass"
    ),
    "ClusterRole Role",
    "ClusterRoleBinding RoleBinding",
    (
        "Service DaemonSet Pod ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler"
        " StatefulSet Job CronJob Ingress"
    ),
    "APIService ValidatingWebhookConfiguration MutatingWebhookConfiguration",
)
_PHASE = {kind: number for number, kinds in enumerate(_PHASES) for kind in kinds.split()}
_KNOWN_GROUPS = """
    admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps autoscaling batch
    networking.k8s.io policy rbac.authorization.k8s.io scheduling.k8s.io storage.k8s.io
"""
LAST_PHASE = len(_PHASES)
_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_BY_NAME = (
    ("", "ServiceAccount", "{pod}.serviceAccountName"),
    ("scheduling.k8s.io", "PriorityClass", "{pod}.priorityClassName"),
    ("networking.k8s.io", "IngressClass", "spec.ingressClassName"),
    ("storage.k8s.io", "StorageClass", "spec.storageClassName"),
    ("storage.k8s.io", "StorageClass", "spec.volumeClaimTemplates.*.spec.storageClassName"),
)
"""Group and kind of what an object names, with the path of the name."""
_POD_SPECS = ("spec", "spec.template.spec", "spec.jobTemplate.spec.template.spec")
_NAMES = tuple(
    (group, kind, tuple(path.format(pod=pod).split(".")))
    for group, kind, path in _BY_NAME
    for pod in (_POD_SPECS if "{pod}" in path else ("",))
)
_SERVICES = {
    "APIService": ("spec", "service"),
    "MutatingWebhookConfiguration": ("webhooks", "*", "clientConfig", "service"),
    "ValidatingWebhookConfiguration": ("webhooks", "*", "clientConfig", "service"),
}


def in_snapshot_order(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Return the objects in the order of a resource snapshot: by kind, group and version, namespace
    and name.
    """
    return tuple(sorted(manifests, key=_snapshot_rank))


def phases(manifests: Iterable[Manifest]) -> list[tuple[int, tuple[Manifest, ...]]]:
    """Return the objects by the phase in which they are applied, 0 to 6, in the given order within
    a phase.

    The objects of a phase do not wait for one another. Custom resources and unknown kinds are in
    the last phase.
    """
    found: dict[int, list[Manifest]] = {}
    for manifest in manifests:
        found.setdefault(phase(manifest), []).append(manifest)
    return [(number, tuple(found[number])) for number in sorted(found)]


def phase(manifest: Manifest) -> int:
    """Return the phase in which an object is applied, 0 to 6."""
    # Unlike in the order of a snapshot, KubeFleet asks for the group here: a custom kind may be
    # called Job too.
    is_known = not manifest.group or manifest.group in _KNOWN_GROUPS.split()
    return _PHASE.get(manifest.kind, LAST_PHASE) if is_known else LAST_PHASE


def _snapshot_rank(manifest: Manifest) -> tuple[int, str, str]:
    """Return the sort key. Known kinds are recognized in any group; others follow by
    ``group/version, Kind=kind``.
    """
    place = f"{manifest.namespace}/{manifest.name}"
    if manifest.kind in _RANK:
        return _RANK[manifest.kind], manifest.api_version, place
    return len(_RANK), f"{manifest.group}/{manifest.version}, Kind={manifest.kind}", place


def provided(manifest: Manifest) -> ObjectKey:
    """Return what an object is to those that need it: its key.

    A CustomResourceDefinition is what it defines: group and kind, in whatever version.
    """
    if (manifest.group, manifest.kind) != _DEFINITION:
        return manifest.key
    group = value_at(manifest.data, ("spec", "group"))
    kind = value_at(manifest.data, ("spec", "names", "kind"))
    return definition_of(str(group), str(kind))


def definition_of(group: str, kind: str) -> ObjectKey:
    """Return what defines a kind, in the form of :func:`provided`."""
    return ObjectKey(group, _DEFINITION[1], "", kind)


def needed(manifest: Manifest) -> Iterator[ObjectKey]:
    """Yield what an object lives in, in the form of :func:`provided`.

    It is the Namespace and the CustomResourceDefinition, without which an API server refuses the
    object; of pods the ServiceAccount and PriorityClass; of claims and volumes the StorageClass, of
    an Ingress the IngressClass, and the Services that webhooks and API services lead to. All of
    these come in earlier phases, or need nothing of their own phase, so that objects never need
    each other in a circle.
    """
    if manifest.namespace:
        yield ObjectKey("", "Namespace", "", manifest.namespace)
    if "." in manifest.group:  # only groups of Kubernetes itself may lack a dot
        yield definition_of(manifest.group, manifest.kind)
    for group, kind, path in _NAMES:
        # The only kind of these that lives in a namespace.
        home = manifest.namespace if kind == "ServiceAccount" else ""
        names = (name for name in values_at(manifest.data, path) if isinstance(name, str) and name)
        yield from (ObjectKey(group, kind, home, name) for name in names)
    # For any other kind the path is empty, and yields the object itself.
    for service in values_at(manifest.data, _SERVICES.get(manifest.kind, ())):
        if isinstance(service, Mapping) and manifest.kind in _SERVICES:
            yield ObjectKey("", "Service", str(service.get("namespace")), str(service.get("name")))
