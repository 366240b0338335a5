"""Objects as a resource snapshot of KubeFleet has them: what overrides apply to.

The hub agent reads an object from the API server of its hub and leaves out what each cluster writes for itself. The
hub is an ordinary cluster, so that its admission plug-in StorageObjectInUseProtection adds finalizers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fleet_components.content.stored import CACHED, Identical, Shape, stored
from fleet_components.content.strip import strip
from fleet_components.model.manifest import Manifest

_PROTECTION = {
    "v1/PersistentVolume": "kubernetes.io/pv-protection",
    "v1/PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "storage.k8s.io/v1/VolumeAttributesClass": "kubernetes.io/vac-protection",
}


def in_snapshot(data: Mapping[str, Any], custom: Shape | None = None) -> Mapping[str, Any]:
    """Return an object as a snapshot has it.

    Args:
        data: the object as it was written.
        custom: the shape of its kind if that is custom.
    """
    return _in_snapshot(Identical(data), custom)


@lru_cache(maxsize=CACHED)
def _in_snapshot(one: Identical, custom: Shape | None) -> Mapping[str, Any]:
    data = stored(one.data, custom)
    finalizer = _PROTECTION.get(f"{data.get('apiVersion')}/{data.get('kind')}")
    if finalizer:
        metadata = data["metadata"]
        known = metadata.get("finalizers") or []
        if finalizer not in known:
            data = {**data, "metadata": {**metadata, "finalizers": [*known, finalizer]}}
    return strip(Manifest(data)).data
