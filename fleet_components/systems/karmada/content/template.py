"""Objects as Karmada reads them from the API server of its control plane, and as it sends them to
members.

Karmada reads every object in the preferred version of its kind
(``pkg/util/lifted/discovery.go``), with the marks of the policy that has claimed it
(``pkg/detector/claim.go``). What it sends has been pruned after replicas and overrides were set
(``pkg/resourceinterpreter/default/native/prune/prune.go``). All of Karmada 1.19.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import attrs

from fleet_components.content.custom_kinds import CustomKind
from fleet_components.content.stored import (
    CACHED,
    LABELLED_BY_SERVER,
    Identical,
    preferred_version,
    stored,
    with_texts,
)
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.systems.karmada.model.policy import CLUSTER_PROPAGATION, PROPAGATION

Object = Mapping[str, Any]

_MARK = "by Karmada"
"""Stands for the values of marks, such as the id of a policy."""
_LABELS = {
    PROPAGATION: ("propagationpolicy.karmada.io/permanent-id",),
    CLUSTER_PROPAGATION: ("clusterpropagationpolicy.karmada.io/permanent-id",),
}
_ANNOTATIONS = {
    PROPAGATION: ("propagationpolicy.karmada.io/namespace", "propagationpolicy.karmada.io/name"),
    CLUSTER_PROPAGATION: ("clusterpropagationpolicy.karmada.io/name",),
}
CLAIMED_BY_ANY = (PROPAGATION, CLUSTER_PROPAGATION)
"""Kinds of policies that claim objects."""
_UNKNOWN = CustomKind()


def in_preferred_version(data: Object, kind: CustomKind | None = None) -> Object:
    """Return an object in the version in which Karmada reads it, without defaults; itself if that
    is its version.

    The versions of a custom kind are taken to differ in their name alone.

    Args:
        data: the object.
        kind: its kind if that is custom.
    """
    manifest = Manifest(data)
    version = kind.preferred if kind else preferred_version(manifest.group, manifest.kind)
    if version in ("", manifest.version):
        return data
    converted = {**data, "apiVersion": f"{manifest.group}/{version}"}
    return _CONVERSIONS.get((manifest.group, manifest.kind), _unchanged)(converted)


def as_matched(manifest: Manifest, kind: CustomKind | None = None) -> Manifest:
    """Return an object as policies select it and as it is interpreted: in its preferred version,
    with its labels.

    Otherwise the defaults of built-in kinds are left out: code that reads the object knows them.
    """
    data = in_preferred_version(manifest.data, kind)
    if kind:
        data = _with_defaults(data, manifest.version, kind)
    elif (manifest.api_version, manifest.kind) in LABELLED_BY_SERVER:
        data = {**data, "metadata": {**data["metadata"], "labels": Manifest(stored(data)).labels}}
    return manifest if data is manifest.data else attrs.evolve(manifest, data=data)


def as_read(data: Object, kind: CustomKind | None = None, claimed_by: Iterable[str] = ()) -> Object:
    """Return an object as Karmada reads it when it applies overrides.

    Args:
        data: the object as it was written.
        kind: its kind if that is custom.
        claimed_by: the kinds of the policies that have claimed it.
    """
    return _as_read(Identical(data), kind, tuple(claimed_by))


@lru_cache(maxsize=CACHED)
def _as_read(item: Identical, kind: CustomKind | None, claimed_by: tuple[str, ...]) -> Object:
    converted = in_preferred_version(item.data, kind)
    found = _with_defaults(converted, Manifest(item.data).version, kind or _UNKNOWN)
    data = with_texts(found, item.data)
    labels = {label: _MARK for policy in claimed_by for label in _LABELS[policy]}
    annotations = {
        annotation: _MARK for policy in claimed_by for annotation in _ANNOTATIONS[policy]
    }
    metadata = data.get("metadata")
    if not isinstance(metadata, Mapping) or not labels:
        return data
    marks = {"labels": labels, "annotations": annotations}
    marked = {field: {**(metadata.get(field) or {}), **found} for field, found in marks.items()}
    return {**data, "metadata": {**metadata, **marked}}


def _with_defaults(data: Object, written_in: str, kind: CustomKind) -> Object:
    """Return an object with the defaults of the version in which it was written, and of the one
    in which it is read.
    """
    found = stored(data, kind.shape(written_in))
    # Written defaults first: those of the other version only fill what is still missing.
    version = Manifest(data).version
    return found if version == written_in else stored(found, kind.shape(version))


def _unchanged(data: Object) -> Object:
    return data


def _autoscaler(data: Object) -> Object:
    """Return an autoscaler of version 1 in the form of version 2."""
    spec = data.get("spec")
    target = value_at(spec, ("targetCPUUtilizationPercentage",))
    if not isinstance(spec, Mapping) or target is None:
        return data
    wanted = {"type": "Utilization", "averageUtilization": target}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": wanted}}]
    rest = {
        field: value for field, value in spec.items() if field != "targetCPUUtilizationPercentage"
    }
    return {**data, "spec": {**rest, "metrics": metrics}}


_CONVERSIONS: Mapping[tuple[str, str], Callable[[Object], Object]] = MappingProxyType(
    {("autoscaling", "HorizontalPodAutoscaler"): _autoscaler}
)
