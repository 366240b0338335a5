"""Objects that an object refers to by name and does not work without.

The kinds and fields are those of the Kubernetes 1.36 API, of Gateway API v1 and of KEDA 2. What
pods refer to is read as Karmada 1.19 reads it for ``propagateDeps``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.dependencies import Dependency, dependencies_of
from fleet_components.model.manifest import Manifest, ObjectKey, value_at, values_at

_SERVICES = {
    ("networking.k8s.io", "Ingress"): (
        "spec.defaultBackend.service.name",
        "spec.rules.*.http.paths.*.backend.service.name",
    ),
}
"""Paths at which a kind names Services of its own namespace."""
_ROUTES = ("HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute")
_GATEWAYS = "gateway.networking.k8s.io"
_SCALERS = {("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject")}
_DEPLOYMENT = ("apps", "Deployment")
_PRODUCED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("bitnami.com", "SealedSecret"): ("Secret", "metadata.name"),
    ("cert-manager.io", "Certificate"): ("Secret", "spec.secretName"),
    ("external-secrets.io", "ExternalSecret"): ("Secret", "spec.target.name"),
    ("secrets-store.csi.x-k8s.io", "SecretProviderClass"): (
        "Secret",
        "spec.secretObjects.*.secretName",
    ),
}
"""Kinds whose controllers create an object in the same namespace: its kind, and the path of its
name.
"""
_CERTIFICATES = "cert-manager.io/"
_ROOT = "kube-root-ca.crt"
"""A ConfigMap that every namespace has."""


def references(manifest: Manifest) -> tuple[ObjectKey, ...]:
    """Return the objects that an object needs, sorted; optional references are left out."""
    required = Manifest(_without_optional(manifest.data), manifest.origin)
    found = {
        ObjectKey("", item.kind, item.namespace, item.name)
        for item in _named_by_pods(required)
        if item.name and item.name != _ROOT and not _issued(manifest, item.kind)
    }
    found.update(_services(manifest))
    target = scaled(manifest)
    return tuple(sorted(found | ({target} if target else set())))


def scaled(manifest: Manifest) -> ObjectKey | None:
    """Return the workload that an autoscaler scales; None for any other object."""
    if (manifest.group, manifest.kind) not in _SCALERS:
        return None
    target = value_at(manifest.data, ("spec", "scaleTargetRef"))
    if not isinstance(target, Mapping) or not isinstance(target.get("name"), str):
        return None
    # The default of a ScaledObject; the target of a HorizontalPodAutoscaler always has a kind.
    group, kind = _DEPLOYMENT
    if "apiVersion" in target:
        group = str(target["apiVersion"]).rpartition("/")[0]
    kind = str(target.get("kind") or kind)
    return ObjectKey(group, kind, manifest.namespace, target["name"])


def produced(manifest: Manifest) -> Iterator[ObjectKey]:
    """Yield the objects that a controller on the member creates for an object."""
    kind, path = _PRODUCED.get((manifest.group, manifest.kind), ("", ""))
    if not kind:
        return
    names = [name for name in values_at(manifest.data, path.split(".")) if isinstance(name, str)]
    # An ExternalSecret without a target is called as its Secret.
    for name in names or [manifest.name]:
        yield ObjectKey("", kind, manifest.namespace, name)


def _named_by_pods(manifest: Manifest) -> tuple[Dependency, ...]:
    try:
        return dependencies_of(manifest)
    except (AttributeError, TypeError):
        # A field is not what its kind has there: no API server takes the object.
        return ()


def _services(manifest: Manifest) -> Iterator[ObjectKey]:
    for path in _SERVICES.get((manifest.group, manifest.kind), ()):
        for name in values_at(manifest.data, path.split(".")):
            if isinstance(name, str) and name:
                yield ObjectKey("", "Service", manifest.namespace, name)
    if manifest.group == _GATEWAYS and manifest.kind in _ROUTES:
        for backend in values_at(manifest.data, ("spec", "rules", "*", "backendRefs", "*")):
            # Service is the default kind of a backend.
            if isinstance(backend, Mapping) and backend.get("kind", "Service") == "Service":
                namespace = str(backend.get("namespace") or manifest.namespace)
                yield ObjectKey("", "Service", namespace, str(backend.get("name")))


def _issued(manifest: Manifest, kind: str) -> bool:
    """Return whether cert-manager creates what an Ingress refers to."""
    notes = manifest.metadata.get("annotations") or {}
    is_ingress = (manifest.kind, kind) == ("Ingress", "Secret")
    return is_ingress and any(str(name).startswith(_CERTIFICATES) for name in notes)


def _without_optional(data: Any) -> Any:
    """Return a value without the references that are marked as optional."""
    if isinstance(data, Mapping):
        kept = {key: value for key, value in data.items() if not _is_optional(value)}
        return {key: _without_optional(value) for key, value in kept.items()}
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [_without_optional(item) for item in data]
    return data


def _is_optional(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("optional") is True


# Versions of built-in kinds that Kubernetes serves no more, and what has taken their place.
#
# Source: the Deprecated API Migration Guide of the Kubernetes documentation, as of 1.36.


_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_TABLE = f"""
    1.16 extensions/v1beta1 apps/v1 DaemonSet Deployment ReplicaSet
    1.16 extensions/v1beta1 networking.k8s.io/v1 NetworkPolicy
    1.16 apps/v1beta1 apps/v1 Deployment StatefulSet ControllerRevision
    1.16 apps/v1beta2 apps/v1 DaemonSet Deployment ReplicaSet StatefulSet ControllerRevision
    1.22 extensions/v1beta1 networking.k8s.io/v1 Ingress
    1.22 networking.k8s.io/v1beta1 networking.k8s.io/v1 Ingress IngressClass
    1.22 {_ADMISSION}/v1beta1 {_ADMISSION}/v1 MutatingWebhookConfiguration
    1.22 {_ADMISSION}/v1beta1 {_ADMISSION}/v1 ValidatingWebhookConfiguration
    1.22 apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1 CustomResourceDefinition
    1.22 apiregistration.k8s.io/v1beta1 apiregistration.k8s.io/v1 APIService
    1.22 coordination.k8s.io/v1beta1 coordination.k8s.io/v1 Lease
    1.22 {_RBAC}/v1alpha1 {_RBAC}/v1 ClusterRole ClusterRoleBinding Role RoleBinding
    1.22 {_RBAC}/v1beta1 {_RBAC}/v1 ClusterRole ClusterRoleBinding Role RoleBinding
    1.22 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 PriorityClass
    1.22 storage.k8s.io/v1beta1 storage.k8s.io/v1 CSIDriver CSINode StorageClass VolumeAttachment
    1.25 batch/v1beta1 batch/v1 CronJob
    1.25 discovery.k8s.io/v1beta1 discovery.k8s.io/v1 EndpointSlice
    1.25 events.k8s.io/v1beta1 events.k8s.io/v1 Event
    1.25 autoscaling/v2beta1 autoscaling/v2 HorizontalPodAutoscaler
    1.25 policy/v1beta1 policy/v1 PodDisruptionBudget
    1.25 node.k8s.io/v1beta1 node.k8s.io/v1 RuntimeClass
    1.26 autoscaling/v2beta2 autoscaling/v2 HorizontalPodAutoscaler
    1.27 storage.k8s.io/v1beta1 storage.k8s.io/v1 CSIStorageCapacity
"""
"""The release without it, the version, its successor, and the kinds."""
_FLOW = "flowcontrol.apiserver.k8s.io"
_FLOW_RELEASES = (("v1beta1", "1.26"), ("v1beta2", "1.29"), ("v1beta3", "1.32"))
_POD_SECURITY = "label the Namespace for Pod Security Admission instead"


@attrs.frozen
class Retired:
    """A version of a kind that is served no more.

    Attributes:
        release: the first release of Kubernetes without it.
        hint: what to do.
    """

    release: str
    hint: str


def retired(manifest: Manifest) -> Retired | None:
    """Return what is known of the version of an object; None if it may be served."""
    return _RETIRED.get((manifest.api_version, manifest.kind))


def _retired() -> Mapping[tuple[str, str], Retired]:
    found = {}
    for line in _TABLE.strip().splitlines():
        release, version, successor, *kinds = line.split()
        known = Retired(release, f"write apiVersion: {successor}")
        found.update({(version, kind): known for kind in kinds})
    for version, release in _FLOW_RELEASES:
        known = Retired(release, f"write apiVersion: {_FLOW}/v1")
        for kind in ("FlowSchema", "PriorityLevelConfiguration"):
            found[f"{_FLOW}/{version}", kind] = known
    for version in ("policy/v1beta1", "extensions/v1beta1"):
        found[version, "PodSecurityPolicy"] = Retired("1.25", _POD_SECURITY)
    return found


_RETIRED = _retired()
