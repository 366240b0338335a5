"""Karmada's resource models: grades of nodes, and the resource summary of a member by its nodes.

Source: ``pkg/apis/cluster/mutation/mutation.go`` (defaults) and ``pkg/modeling/modeling.go`` of Karmada 1.19. A grade
is represented by the lower bounds of its ranges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fleet_components.model.cluster import ResourceModel, ResourceSummary
from fleet_components.model.quantity import parse_quantity

_MEMORY = ("0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1Ti")
_BOUNDS = tuple(zip((0, 1, 2, 4, 8, 16, 32, 64, 128), _MEMORY, strict=True))
DEFAULT_MODELS = tuple(
    ResourceModel(grade, {"cpu": str(cores), "memory": amount}) for grade, (cores, amount) in enumerate(_BOUNDS)
)
"""The nine models that every joined member gets by default, with the amounts as Karmada writes them."""


def grade_of(free: Mapping[str, str], models: Sequence[ResourceModel] = DEFAULT_MODELS) -> int | None:
    """Return the highest grade whose lower bounds the free amounts of a node reach; None if there is none."""
    places = [_last_reached(free.get(name, "0"), [m.minimum.get(name, "0") for m in models]) for name in _names(models)]
    place = min(places, default=-1)
    return models[place].grade if place >= 0 else None


def summarize(
    nodes: Iterable[tuple[int, Mapping[str, str]]], models: Sequence[ResourceModel] = DEFAULT_MODELS
) -> ResourceSummary:
    """Return the resource summary of a member whose nodes are all free.

    Args:
        nodes: pairs of the number of nodes and the allocatable amounts of each (``cpu``, ``memory``, ``pods``, ...).
        models: the member's resource models.

    Raises:
        ValueError: an amount is not a quantity.
    """
    total: Counter[str] = Counter()
    grades = Counter({model.grade: 0 for model in models})
    for count, allocatable in nodes:
        for name, amount in allocatable.items():
            total[name] += count * parse_quantity(amount).nano
        grade = grade_of(allocatable, models)
        if grade is not None:
            grades[grade] += count
    return ResourceSummary({name: _text(nano) for name, nano in total.items()}, nodes_by_grade=dict(grades))


def _names(models: Sequence[ResourceModel]) -> Iterable[str]:
    return models[0].minimum if models else ()


def _last_reached(amount: str, bounds: Sequence[str]) -> int:
    free = parse_quantity(amount)
    return max((place for place, bound in enumerate(bounds) if parse_quantity(bound) <= free), default=-1)


def _text(nano: int) -> str:
    for unit, suffix in ((10**9, ""), (10**6, "m")):
        if nano % unit == 0:
            return f"{nano // unit}{suffix}"
    return f"{nano}n"
