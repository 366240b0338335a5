"""Paths of the replicas and the pod template in each kind of workload.

Source: the default resource interpreter of Karmada 1.19 (``pkg/resourceinterpreter/default``), with those third-party
kinds whose scripts only name fields. Kinds that it does not know are declared in ``KarmadaSettings``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.model.manifest import Manifest, value_at
from fleet_components.systems.karmada.model.workload_shape import WorkloadShape

_KNOWN = (
    WorkloadShape("apps/v1", "Deployment", default=1),
    WorkloadShape("apps/v1", "ReplicaSet", default=1),
    WorkloadShape("apps/v1", "StatefulSet", default=1),
    WorkloadShape("apps/v1", "DaemonSet", replicas=None),
    WorkloadShape("batch/v1", "Job", replicas=("spec", "parallelism"), default=1),
    WorkloadShape("batch/v1", "CronJob", replicas=None, template=("spec", "jobTemplate", "spec", "template")),
    WorkloadShape("v1", "Pod", replicas=None, template=()),
    WorkloadShape("apps.kruise.io/v1alpha1", "CloneSet"),
    WorkloadShape("apps.kruise.io/v1alpha1", "UnitedDeployment"),
    WorkloadShape("apps.kruise.io/v1alpha1", "BroadcastJob", replicas=("spec", "parallelism"), default=1),
    WorkloadShape("apps.kruise.io/v1alpha1", "DaemonSet", replicas=None),
    WorkloadShape("apps.kruise.io/v1beta1", "StatefulSet"),
    WorkloadShape("argoproj.io/v1alpha1", "Workflow", replicas=("spec", "parallelism"), template=(), default=1),
)
_BY_KIND = {(shape.api_version, shape.kind): shape for shape in _KNOWN}


def shape_of(manifest: Manifest, declared: Iterable[WorkloadShape] = ()) -> WorkloadShape | None:
    """Return the shape of an object; None if it is not a workload. A declared shape overrides a known one."""
    key = (manifest.api_version, manifest.kind)
    return next((shape for shape in declared if (shape.api_version, shape.kind) == key), _BY_KIND.get(key))


def pod_spec(manifest: Manifest, shape: WorkloadShape | None) -> Mapping[str, Any]:
    """Return the pod spec of a workload; empty if there is none."""
    if shape is None or shape.template is None:
        return {}
    return value_at(manifest.data, (*shape.template, "spec")) or {}
