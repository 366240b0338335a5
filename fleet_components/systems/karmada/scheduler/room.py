"""Room for replicas on a member, as changes of what is allocatable there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from fleet_components.model.cluster import Cluster, ResourceSummary
from fleet_components.model.quantity import is_quantity
from fleet_components.scheduler.edit import MEMBER, SET, Edit, Edits
from fleet_components.systems.karmada.scheduler.estimator import Replica, free_amount

_PODS, _CPU = "pods", "cpu"
_MOST = 50
"""Number of further replicas for which room is proposed."""
_BINARY = ("Ti", "Gi", "Mi", "Ki")


def more_room(cluster: Cluster, requests: Mapping[str, str] | None, replicas: int) -> Iterator[Edits]:
    """Yield the fewest amounts with which one more replica fits on a member, then one more, up to all of them."""
    summary, taken = _countable(cluster), _taken(requests)
    if summary is None:
        return
    for number in range(1, min(replicas, _MOST) + 1):
        lacking = {name: amount * number - free_amount(summary, name) for name, amount in taken.items()}
        if change := tuple(_changed(cluster, name, units) for name, units in lacking.items() if units > 0):
            yield change


def less_room(cluster: Cluster, requests: Mapping[str, str] | None) -> Iterator[Edits]:
    """Yield smaller and smaller amounts of what runs out first on a member, down to nothing that is free."""
    summary, taken = _countable(cluster), _taken(requests)
    if summary is None:
        return
    fits = {name: max(0, free_amount(summary, name)) // amount for name, amount in taken.items()}
    name = min(fits, key=lambda fit: fits[fit])
    for number in range(min(fits[name], _MOST) - 1, -1, -1):
        yield (_changed(cluster, name, number * taken[name] - free_amount(summary, name)),)


def _countable(cluster: Cluster) -> ResourceSummary | None:
    """Return the summary of a member whose room is the sum over its nodes; None where their grades decide."""
    summary = cluster.resource_summary
    if summary is None or summary.nodes_by_grade:
        return None
    amounts = (summary.allocatable, summary.allocated, summary.allocating)
    return summary if all(map(is_quantity, chain.from_iterable(amount.values() for amount in amounts))) else None


def _taken(requests: Mapping[str, str] | None) -> dict[str, int]:
    """Return what a replica takes, in whole units: thousandths for cpu."""
    return {**(Replica(requests).taken if requests else {}), _PODS: 1}


def _changed(cluster: Cluster, name: str, units: int) -> Edit:
    """Return the edit that makes some units more of a resource allocatable, or less."""
    assert cluster.resource_summary is not None
    old = cluster.resource_summary.allocatable.get(name)
    # Whole units, since free amounts are rounded up to them.
    free, used = free_amount(cluster.resource_summary, name), _used(cluster.resource_summary, name)
    value = _written(name, used + free + units if old is not None else units)
    words = f"with {_shown(name, abs(units))} {'more' if units > 0 else 'less'} {_noun(name, units)} free"
    return Edit(MEMBER, SET, ("status", "resourceSummary", "allocatable", name), value, words, cluster.name)


def _used(summary: ResourceSummary, name: str) -> int:
    """Return what is in use, in whole units, rounded up: with an amount of it allocatable nothing is free."""
    return -free_amount(ResourceSummary({name: "0"}, summary.allocated, summary.allocating), name)


def _written(name: str, units: int) -> str:
    if name == _CPU:
        return str(units // 1000) if units % 1000 == 0 else f"{units}m"
    return _shown(name, units)


def _shown(name: str, units: int) -> str:
    if name == _CPU:
        return f"{units / 1000:g}"
    for place, suffix in enumerate(_BINARY):
        size = 1024 ** (len(_BINARY) - place)
        if name == "memory" and units and units % size == 0:
            return f"{units // size}{suffix}"
    return str(units)


def _noun(name: str, units: int) -> str:
    if name == _PODS:
        return "pod" if abs(units) == 1 else "pods"
    return ("CPU" if abs(units) <= 1000 else "CPUs") if name == _CPU else name
