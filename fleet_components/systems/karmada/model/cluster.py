"""Reads Karmada ``Cluster`` objects, written by hand or exported from a control plane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fleet_components.model.cluster import (
    Cluster,
    ResourceModel,
    ResourceSummary,
    read_amounts,
    read_taint,
)
from fleet_components.model.quantity import parse_quantity
from fleet_components.model.typed import TRUSTED


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

    Every control plane writes the default models into the object; None lets all members share one
    value.
    """
    read = None if models is None else tuple(map(_model, models))
    return None if read == DEFAULT_MODELS else read


def _model(model: Mapping[str, Any]) -> ResourceModel:
    return ResourceModel(
        model["grade"], {part["name"]: str(part["min"]) for part in model["ranges"]}
    )


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
    """Return the number of nodes by grade. Counts of a grade that is listed more than once are
    added.
    """
    counts: Counter[int] = Counter()
    for part in grades:
        counts[part["grade"]] += part["count"]
    return dict(counts)


# Karmada's resource models: grades of nodes, and the resource summary of a member by its nodes.
#
# Source: ``pkg/apis/cluster/mutation/mutation.go`` (defaults) and ``pkg/modeling/modeling.go`` of
# Karmada 1.19. A grade is represented by the lower bounds of its ranges.


_MEMORY = ("0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1Ti")
_BOUNDS = tuple(zip((0, 1, 2, 4, 8, 16, 32, 64, 128), _MEMORY, strict=True))
DEFAULT_MODELS = tuple(
    ResourceModel(grade, {"cpu": str(cores), "memory": amount})
    for grade, (cores, amount) in enumerate(_BOUNDS)
)
"""The nine models that every joined member gets by default, with the amounts as Karmada writes
them.
"""


def grade_of(
    free: Mapping[str, str], models: Sequence[ResourceModel] = DEFAULT_MODELS
) -> int | None:
    """Return the highest grade whose lower bounds the free amounts of a node reach; None if there
    is none.
    """
    places = [
        _last_reached(free.get(name, "0"), [m.minimum.get(name, "0") for m in models])
        for name in _names(models)
    ]
    place = min(places, default=-1)
    return models[place].grade if place >= 0 else None


def summarize(
    nodes: Iterable[tuple[int, Mapping[str, str]]], models: Sequence[ResourceModel] = DEFAULT_MODELS
) -> ResourceSummary:
    """Return the resource summary of a member whose nodes are all free.

    Args:
        nodes: pairs of the number of nodes and the allocatable amounts of each (``cpu``,
            ``memory``, ``pods``, ...).
        models: the member's resource models.

    Raises:
        ValueError: an amount is not a quantity.
    """
    total: Counter[str] = Counter()
    # With zeros, so that grades without nodes are listed too.
    grades = Counter({model.grade: 0 for model in models})
    for count, allocatable in nodes:
        for name, amount in allocatable.items():
            total[name] += count * parse_quantity(amount).nano
        grade = grade_of(allocatable, models)
        if grade is not None:
            grades[grade] += count
    return ResourceSummary(
        {name: _text(nano) for name, nano in total.items()}, nodes_by_grade=dict(grades)
    )


def _names(models: Sequence[ResourceModel]) -> Iterable[str]:
    return models[0].minimum if models else ()


def _last_reached(amount: str, bounds: Sequence[str]) -> int:
    free = parse_quantity(amount)
    return max(
        (place for place, bound in enumerate(bounds) if parse_quantity(bound) <= free), default=-1
    )


def _text(nano: int) -> str:
    for unit, suffix in ((10**9, ""), (10**6, "m")):
        if nano % unit == 0:
            return f"{nano // unit}{suffix}"
    return f"{nano}n"
