"""Removes from an object what KubeFleet removes before it stores the object in a resource
snapshot.

Source: ``generateRawContent`` in ``pkg/utils/controller/resource_selector_resolver.go`` of
KubeFleet 0.3.1. Finalizers, labels and all other annotations are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import attrs

from fleet_components.content.stored import CACHED, Identical, Shape, stored, with_texts
from fleet_components.model.manifest import Manifest, value_at

Path = tuple[str, ...]

_OBJECT: tuple[Path, ...] = (
    ("status",),
    *(
        ("metadata", field)
        for field in (
            "creationTimestamp",
            "deletionTimestamp",
            "generation",
            "managedFields",
            "ownerReferences",
            "resourceVersion",
            "selfLink",
            "uid",
        )
    ),
)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation in which kubectl keeps a copy of the whole object."""
_ANNOTATIONS: tuple[Path, ...] = (
    ("metadata", "annotations", LAST_APPLIED),
    ("metadata", "annotations", "deployment.kubernetes.io/revision"),
)
_JOB_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_JOB: tuple[Path, ...] = (
    *(("spec", "selector", "matchLabels", label) for label in _JOB_LABELS),
    *(("spec", "template", "metadata", "labels", label) for label in _JOB_LABELS),
    ("spec", "template", "metadata", "creationTimestamp"),
)
_PROTECTION = {
    "v1/PersistentVolume": "kubernetes.io/pv-protection",
    "v1/PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "storage.k8s.io/v1/VolumeAttributesClass": "kubernetes.io/vac-protection",
}
"""Finalizers of the admission plug-in StorageObjectInUseProtection: the hub is an ordinary
cluster.
"""


def strip(manifest: Manifest) -> Manifest:
    """Return the object as a resource snapshot contains it."""
    data = _strip_annotations(without(manifest.data, *_OBJECT))
    match manifest.api_version, manifest.kind:
        case "v1", "Service":
            data = _strip_service(data)
        # Each cluster generates selector and labels of a Job, unless manualSelector is set.
        # With it, they are the user's own, and stay.
        case "batch/v1", "Job" if not value_at(data, ("spec", "manualSelector")):
            data = without(data, *_JOB)
    return attrs.evolve(manifest, data=data)


def in_snapshot(data: Mapping[str, Any], custom: Shape | None = None) -> Mapping[str, Any]:
    """Return an object as a snapshot has it.

    Args:
        data: the object as it was written.
        custom: the shape of its kind if that is custom.
    """
    return _in_snapshot(Identical(data), custom)


@lru_cache(maxsize=CACHED)
def _in_snapshot(item: Identical, custom: Shape | None) -> Mapping[str, Any]:
    data = with_texts(stored(item.data, custom), item.data)
    finalizer = _PROTECTION.get(f"{data.get('apiVersion')}/{data.get('kind')}")
    if finalizer:
        metadata = data["metadata"]
        known = metadata.get("finalizers") or []
        if finalizer not in known:
            data = {**data, "metadata": {**metadata, "finalizers": [*known, finalizer]}}
    return strip(Manifest(data)).data


def as_sent(manifest: Manifest) -> dict[str, Any]:
    """Return the object without what an API server writes for itself, so that it can be sent to
    one.

    What each cluster assigns, such as the ports of a Service, stays as it is written.
    """
    return dict(_strip_annotations(without(manifest.data, *_OBJECT)))


def _strip_annotations(data: Mapping[str, Any]) -> Mapping[str, Any]:
    data = without(data, *_ANNOTATIONS)
    # KubeFleet leaves out a map that is empty afterwards, even one that was empty before.
    return (
        data
        if value_at(data, ("metadata", "annotations"))
        else without(data, ("metadata", "annotations"))
    )


def _strip_service(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a Service without the addresses and node ports that each cluster assigns.

    Headless Services stay headless.
    """
    # The text None makes a Service headless; the value None is an absent field.
    if value_at(data, ("spec", "clusterIP")) not in (None, "None"):
        data = without(data, ("spec", "clusterIP"), ("spec", "clusterIPs"))
    data = without(data, ("spec", "healthCheckNodePort"))
    ports = value_at(data, ("spec", "ports"))
    if not isinstance(ports, list):
        return data
    stripped = [
        without(port, ("nodePort",)) if isinstance(port, Mapping) else port for port in ports
    ]
    return {**data, "spec": {**data["spec"], "ports": stripped}}


def without(data: Mapping[str, Any], *paths: Path) -> Mapping[str, Any]:
    """Return the data without the fields at these paths. Unchanged parts are shared with the
    original.
    """
    for path in paths:
        data = _drop(data, path)
    return data


def _drop(data: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    step, *rest = path
    if step not in data:
        return data
    if not rest:
        return {key: value for key, value in data.items() if key != step}
    inner = data[step]
    made = _drop(inner, tuple(rest)) if isinstance(inner, Mapping) else inner
    return data if made is inner else {**data, step: made}
