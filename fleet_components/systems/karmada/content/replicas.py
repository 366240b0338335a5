"""Reads the number of replicas of a workload, and sets it for each member.

Source: ``pkg/resourceinterpreter/default/native`` of Karmada 1.19, for objects as the API server stores them: a
Deployment without replicas has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.problem import FleetError
from fleet_components.systems.karmada.content.workload import shape_of
from fleet_components.systems.karmada.model.webster import divide
from fleet_components.systems.karmada.model.workload_shape import WorkloadShape

_COMPLETIONS = ("spec", "completions")
_PARALLELISM = ("spec", "parallelism")


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
    replicas = _number(manifest, shape.replicas, shape.default)
    completions = completions_of(manifest)
    # A Job never runs more pods at once than it has completions (``jobReplica`` in native/replica.go, Karmada 1.19).
    return replicas if completions is None else min(replicas, completions)


def completions_of(manifest: Manifest) -> int | None:
    """Return the completions of a Job; None for a work queue and for other kinds.

    A Job with neither completions nor parallelism has one completion.
    """
    if not _is(manifest, "batch/v1", "Job"):
        return None
    if value_at(manifest.data, _COMPLETIONS) is None:
        return 1 if value_at(manifest.data, _PARALLELISM) is None else None
    return _number(manifest, _COMPLETIONS, 1)


def divide_completions(manifest: Manifest, replicas: Mapping[str, int], uid: str) -> dict[str, int]:
    """Return the completions of a divided Job by member, in proportion to each member's parallelism.

    Args:
        manifest: the template.
        replicas: replicas by member.
        uid: the template's stable uid; decides ties.

    Returns:
        Completions by member; empty if the object has no completions to divide.
    """
    completions = completions_of(manifest)
    return {} if completions is None else divide(completions, replicas, uid)


def with_replicas(
    manifest: Manifest, replicas: int, completions: int | None = None, declared: Iterable[WorkloadShape] = ()
) -> Mapping[str, Any]:
    """Return the object for one member, with its replicas and, for a divided Job, its completions.

    Objects without replicas are returned unchanged.
    """
    shape = shape_of(manifest, declared)
    data = manifest.data
    if shape and shape.replicas:
        data = _put(data, shape.replicas, replicas)
    return data if completions is None else _put(data, _COMPLETIONS, completions)


def _is(manifest: Manifest, api_version: str, kind: str) -> bool:
    return (manifest.api_version, manifest.kind) == (api_version, kind)


def _number(manifest: Manifest, path: tuple[str, ...], default: int | None) -> int:
    value = value_at(manifest.data, path)
    if value is None and default is not None:
        return default
    if value is None:
        raise FleetError([manifest.problem("there is no number of replicas", path, "write it, or declare a default")])
    return int(value)


def _put(data: Any, path: tuple[str, ...], value: int) -> dict[str, Any]:
    first, *rest = path
    parent = data if isinstance(data, Mapping) else {}
    return {**parent, first: _put(parent.get(first), tuple(rest), value) if rest else value}
