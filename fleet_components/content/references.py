"""Objects that an object refers to by name and does not work without.

The kinds and fields are those of the Kubernetes 1.36 API, of Gateway API v1 and of KEDA 2. What
pods refer to is read as Karmada 1.19 reads it for ``propagateDeps``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
