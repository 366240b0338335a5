"""The number of replicas of a workload: read from the template, set for each member.

Source: Karmada's default resource interpreter, on objects as the API server stores them: a Deployment without
replicas has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.content.karmada.workload import shape_of, value_at
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.model.webster import divide
from fleet_components.model.workload_shape import WorkloadShape

_COMPLETIONS = ("spec", "completions")
_PARALLELISM = ("spec", "parallelism")


def replicas_of(manifest: Manifest, declared: Iterable[WorkloadShape] = ()) -> int:
    """How many replicas an object asks for; 0 for what has none. A Pod is one replica of itself.

    Raises:
        FleetError: a kind without a default does not say it.
    """
    shape = shape_of(manifest, declared)
    if _is(manifest, "v1", "Pod"):
        return 1
    if shape is None or shape.replicas is None:
        return 0
    replicas = _number(manifest, shape.replicas, shape.default)
    completions = completions_of(manifest)
    return replicas if completions is None else min(replicas, completions)


def completions_of(manifest: Manifest) -> int | None:
    """The completions of a Job; None for a work queue, and for other kinds. A Job that says nothing has one."""
    if not _is(manifest, "batch/v1", "Job"):
        return None
    if value_at(manifest.data, _COMPLETIONS) is None:
        return 1 if value_at(manifest.data, _PARALLELISM) is None else None
    return _number(manifest, _COMPLETIONS, 1)


def divide_completions(manifest: Manifest, replicas: Mapping[str, int], uid: str) -> dict[str, int]:
    """The completions of a divided Job by member, in proportion to the parallelism that each member got.

    Args:
        manifest: the template.
        replicas: the replicas by member.
        uid: the template's stable uid; decides ties.

    Returns:
        Empty where nothing is to be divided.
    """
    completions = completions_of(manifest)
    return {} if completions is None else divide(completions, replicas, uid)


def with_replicas(
    manifest: Manifest, replicas: int, completions: int | None = None, declared: Iterable[WorkloadShape] = ()
) -> Mapping[str, Any]:
    """The object for one member: with its replicas and, for a divided Job, its completions. Others stay as they are."""
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
