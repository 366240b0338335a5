"""Reads Karmada ``Cluster`` objects, written by hand or exported from a control plane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.model.cluster import Cluster, ResourceModel, ResourceSummary
from fleet_components.model.typed import TRUSTED
from fleet_components.model.wire import read_amounts, read_taint
from fleet_components.systems.karmada.model.resource_models import DEFAULT_MODELS


@TRUSTED
def read_karmada_cluster(data: Mapping[str, Any]) -> Cluster:
    """Return the member that a ``Cluster`` describes. It counts as observed if it has a ``status``.

    Raises:
        ValueError: ``timeAdded`` of a taint is not an RFC 3339 time.
    """
    metadata, spec, status = data["metadata"], data.get("spec") or {}, data.get("status")
    return Cluster(
        kind="Cluster",
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        taints=tuple(read_taint(taint) for taint in spec.get("taints") or ()),
        observed=status is not None,
        leaving=metadata.get("deletionTimestamp") is not None,
        provider=spec.get("provider") or "",
        region=spec.get("region") or "",
        # spec.zone is the deprecated form of spec.zones.
        zones=tuple(spec.get("zones") or filter(None, [spec.get("zone")])),
        api_enablements=None if status is None else _enablements(status),
        resource_models=_models(spec.get("resourceModels")),
        resource_summary=_summary((status or {}).get("resourceSummary")),
    )


def _enablements(status: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (group["groupVersion"], resource["kind"])
        for group in status.get("apiEnablements") or ()
        for resource in group.get("resources") or ()
    )


def _models(models: Sequence[Mapping[str, Any]] | None) -> tuple[ResourceModel, ...] | None:
    """Return the resource models; None for the default ones.

    Every control plane writes the default models into the object; None lets all members share one value.
    """
    read = None if models is None else tuple(map(_model, models))
    return None if read == DEFAULT_MODELS else read


def _model(model: Mapping[str, Any]) -> ResourceModel:
    return ResourceModel(model["grade"], {part["name"]: str(part["min"]) for part in model["ranges"]})


def _summary(summary: Mapping[str, Any] | None) -> ResourceSummary | None:
    if summary is None:
        return None
    grades = summary.get("allocatableModelings")
    return ResourceSummary(
        allocatable=read_amounts(summary.get("allocatable")),
        allocated=read_amounts(summary.get("allocated")),
        allocating=read_amounts(summary.get("allocating")),
        nodes_by_grade=None if grades is None else _counted(grades),
    )


def _counted(grades: Sequence[Mapping[str, Any]]) -> Mapping[int, int]:
    """Return the number of nodes by grade. Counts of a grade that is listed more than once are added."""
    counts: Counter[int] = Counter()
    for part in grades:
        counts[part["grade"]] += part["count"]
    return dict(counts)
