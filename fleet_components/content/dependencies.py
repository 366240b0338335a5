"""Objects that a workload refers to and that are placed with it (``propagateDeps``).

Source: ``pkg/resourceinterpreter/default/native/dependencies.go`` and ``pkg/util/helper/pod.go`` of
Karmada 1.19.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, WorkloadShape, pod_spec, shape_of, value_at

_SECRET_OF_VOLUME = {
    "azureFile": ("secretName",),
    "cephfs": ("secretRef", "name"),
    "cinder": ("secretRef", "name"),
    "flexVolume": ("secretRef", "name"),
    "rbd": ("secretRef", "name"),
    "secret": ("secretName",),
    "scaleIO": ("secretRef", "name"),
    "iscsi": ("secretRef", "name"),
    "storageos": ("secretRef", "name"),
    "csi": ("nodePublishSecretRef", "name"),
}
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")

_Named = tuple[str, Any]
"""A kind of the core group, and the name of an object. A name that is not text refers to
nothing.
"""


@attrs.frozen(order=True)
class Dependency:
    """A dependency in the namespace of the workload: one object by name, or several by labels.

    Attributes:
        kind: the kind.
        name: the name; empty if labels select.
        api_version: ``group/version`` of the kind.
        namespace: the namespace.
        labels: the labels that all of the objects have, as pairs; empty if the name selects.
    """

    kind: str
    name: str
    api_version: str
    namespace: str
    labels: tuple[tuple[str, str], ...] = ()


def dependencies_of(
    manifest: Manifest, declared: Iterable[WorkloadShape] = ()
) -> tuple[Dependency, ...]:
    """Return the dependencies of an object, sorted and without duplicates. They need not exist."""
    match (manifest.api_version, manifest.kind):
        case ("networking.k8s.io/v1", "Ingress"):
            found = [
                ("Secret", tls.get("secretName"))
                for tls in value_at(manifest.data, ("spec", "tls")) or ()
            ]
        case ("multicluster.x-k8s.io/v1alpha1", "ServiceImport"):
            return _derived_service(manifest)
        case _:
            found = list(_named_by_pod(pod_spec(manifest, shape_of(manifest, declared))))
    own = _own_claims(manifest)
    names = {
        (kind, name)
        for kind, name in found
        if name and isinstance(name, str) and (kind, name) not in own
    }
    return tuple(sorted(Dependency(kind, name, "v1", manifest.namespace) for kind, name in names))


def _named_by_pod(pod: Mapping[str, Any]) -> Iterator[_Named]:
    for reference in pod.get("imagePullSecrets") or ():
        yield "Secret", reference.get("name")
    for container in (part for field in _CONTAINERS for part in pod.get(field) or ()):
        yield from _named_by_container(container)
    for volume in pod.get("volumes") or ():
        yield from _named_by_volume(volume)
    # serviceAccount is the deprecated name of the field.
    account = pod.get("serviceAccountName") or pod.get("serviceAccount")
    # Every namespace of every member has a ServiceAccount of this name already.
    if account != "default":
        yield "ServiceAccount", account


def _named_by_container(container: Mapping[str, Any]) -> Iterator[_Named]:
    for source in container.get("envFrom") or ():
        yield "Secret", value_at(source, ("secretRef", "name"))
        yield "ConfigMap", value_at(source, ("configMapRef", "name"))
    for variable in container.get("env") or ():
        yield "Secret", value_at(variable, ("valueFrom", "secretKeyRef", "name"))
        yield "ConfigMap", value_at(variable, ("valueFrom", "configMapKeyRef", "name"))


def _named_by_volume(volume: Mapping[str, Any]) -> Iterator[_Named]:
    for kind, path in _SECRET_OF_VOLUME.items():
        yield "Secret", value_at(volume, (kind, *path))
    yield "ConfigMap", value_at(volume, ("configMap", "name"))
    yield "PersistentVolumeClaim", value_at(volume, ("persistentVolumeClaim", "claimName"))
    for source in value_at(volume, ("projected", "sources")) or ():
        yield "Secret", value_at(source, ("secret", "name"))
        yield "ConfigMap", value_at(source, ("configMap", "name"))


def _own_claims(manifest: Manifest) -> set[_Named]:
    """Return the claims that a StatefulSet creates itself from its templates."""
    if (manifest.api_version, manifest.kind) != ("apps/v1", "StatefulSet"):
        return set()
    templates = value_at(manifest.data, ("spec", "volumeClaimTemplates")) or ()
    return {
        ("PersistentVolumeClaim", value_at(template, ("metadata", "name")))
        for template in templates
    }


def _derived_service(manifest: Manifest) -> tuple[Dependency, ...]:
    """Return the Service that Karmada derives from a ServiceImport, and its endpoints."""
    service = f"derived-{manifest.name}"
    labels = (("kubernetes.io/service-name", service),)
    return (
        Dependency("EndpointSlice", "", "discovery.k8s.io/v1", manifest.namespace, labels),
        Dependency("Service", service, "v1", manifest.namespace),
    )
