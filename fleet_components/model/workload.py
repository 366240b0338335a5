"""Workloads: the paths of their replicas and of their pod template, and their number of replicas.

Source: ``pkg/resourceinterpreter/default`` of Karmada 1.19, native kinds and those third-party
kinds whose scripts only name fields, for objects as the API server stores them: a Deployment
without replicas has one. Kinds that it does not know are declared in ``KarmadaSettings``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError

COMPLETIONS = ("spec", "completions")
PARALLELISM = ("spec", "parallelism")


@attrs.frozen
class WorkloadShape:
    """Paths of the parts of a workload.

    Attributes:
        api_version: ``group/version`` of the kind.
        kind: the kind.
        replicas: the path of the number of replicas; None for kinds without replicas (a DaemonSet).
        template: the path of the pod template; None if there is none. The empty path means the
            object itself.
        default: the number of replicas if the field is absent; None if the field is required.
    """

    api_version: str
    kind: str
    replicas: tuple[str, ...] | None = ("spec", "replicas")
    template: tuple[str, ...] | None = ("spec", "template")
    default: int | None = 0


_KNOWN = (
    WorkloadShape("apps/v1", "Deployment", default=1),
    WorkloadShape("apps/v1", "ReplicaSet", default=1),
    WorkloadShape("apps/v1", "StatefulSet", default=1),
    WorkloadShape("apps/v1", "DaemonSet", replicas=None),
    WorkloadShape("batch/v1", "Job", replicas=("spec", "parallelism"), default=1),
    WorkloadShape(
        "batch/v1", "CronJob", replicas=None, template=("spec", "jobTemplate", "spec", "template")
    ),
    WorkloadShape("v1", "Pod", replicas=None, template=()),
    WorkloadShape("apps.kruise.io/v1alpha1", "CloneSet"),
    WorkloadShape("apps.kruise.io/v1alpha1", "UnitedDeployment"),
    WorkloadShape(
        "apps.kruise.io/v1alpha1", "BroadcastJob", replicas=("spec", "parallelism"), default=1
    ),
    WorkloadShape("apps.kruise.io/v1alpha1", "DaemonSet", replicas=None),
    WorkloadShape("apps.kruise.io/v1beta1", "StatefulSet"),
    WorkloadShape(
        "argoproj.io/v1alpha1", "Workflow", replicas=("spec", "parallelism"), template=(), default=1
    ),
)
_BY_KIND = {(shape.api_version, shape.kind): shape for shape in _KNOWN}


def shape_of(manifest: Manifest, declared: Iterable[WorkloadShape] = ()) -> WorkloadShape | None:
    """Return the shape of an object; None if it is not a workload. A declared shape overrides a
    known one.
    """
    key = (manifest.api_version, manifest.kind)
    return next(
        (shape for shape in declared if (shape.api_version, shape.kind) == key), _BY_KIND.get(key)
    )


def pod_spec(manifest: Manifest, shape: WorkloadShape | None) -> Mapping[str, Any]:
    """Return the pod spec of a workload; empty if there is none."""
    if shape is None or shape.template is None:
        return {}
    return value_at(manifest.data, (*shape.template, "spec")) or {}


def replicas_of(manifest: Manifest, declared: Iterable[WorkloadShape] = ()) -> int:
    """Return the number of replicas of an object; 0 if it has none. A Pod counts as one replica.

    Raises:
        FleetError: the field is absent and the kind has no default.
    """
    shape = shape_of(manifest, declared)
    if _is(manifest, "v1", "Pod"):
        return 1
    if shape is None or shape.replicas is None:
        return 0
    replicas = number_at(manifest, shape.replicas, shape.default)
    completions = completions_of(manifest)
    # A Job never runs more pods at once than it has completions (``jobReplica`` in
    # native/replica.go, Karmada 1.19).
    return replicas if completions is None else min(replicas, completions)


def completions_of(manifest: Manifest) -> int | None:
    """Return the completions of a Job; None for a work queue and for other kinds.

    A Job with neither completions nor parallelism has one completion.
    """
    if not _is(manifest, "batch/v1", "Job"):
        return None
    if value_at(manifest.data, COMPLETIONS) is None:
        return 1 if value_at(manifest.data, PARALLELISM) is None else None
    return number_at(manifest, COMPLETIONS, 1)


def _is(manifest: Manifest, api_version: str, kind: str) -> bool:
    return (manifest.api_version, manifest.kind) == (api_version, kind)


def number_at(manifest: Manifest, path: tuple[str, ...], default: int | None) -> int:
    """Return the number at a path; the default if there is none.

    Raises:
        FleetError: there is neither.
    """
    value = value_at(manifest.data, path)
    if value is None and default is not None:
        return default
    if value is None:
        raise FleetError(
            [
                manifest.problem(
                    Message("no-number-replicas", "there is no number of replicas"),
                    path,
                    "write it, or declare a default",
                )
            ]
        )
    return int(value)
