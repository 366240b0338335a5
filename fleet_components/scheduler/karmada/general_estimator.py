"""Karmada's general estimator: how many more replicas fit, from a member's resource summary.

Without requirements it counts free pods. With requirements it counts what the free nodes of each grade can hold,
each node taken at the lower bound of its grade; where no grades were collected, the sums decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fleet_components.model.cluster import Cluster, ResourceModel, ResourceSummary
from fleet_components.model.inventory import Inventory
from fleet_components.model.quantity import parse_quantity
from fleet_components.model.resource_models import DEFAULT_MODELS

_ONE, _MILLI = 10**9, 10**6
_MAX_PODS_PER_NODE = 110
_NODE_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_SCALARS = ("hugepages-", "attachable-volumes-")

Requests = Mapping[str, str]


class UnreadableMemberError(ValueError):
    """An amount of a member is no quantity."""


def estimate(inventory: Inventory, requests: Requests | None) -> list[int]:
    """How many more replicas each member can take, by position; built once for equal requests.

    Raises:
        UnreadableMemberError: an amount of a member is no quantity.
    """
    asked = None if requests is None else frozenset(requests.items())
    return inventory.column(("general estimate", asked), lambda: _column(inventory.clusters, requests))


def _column(clusters: Sequence[Cluster], requests: Requests | None) -> list[int]:
    fits = _free_pods if requests is None else _Replica(requests).fits
    return [_estimated(cluster, fits) for cluster in clusters]


def _estimated(cluster: Cluster, fits: Callable[[Cluster], int]) -> int:
    try:
        return fits(cluster)
    except ValueError as error:
        raise UnreadableMemberError(f"member {cluster.name}: {error}") from error


class _Replica:
    """What one replica takes, in whole units; resources of which it takes nothing do not count."""

    def __init__(self, requests: Requests) -> None:
        taken = {name: _whole(_nano(amount), name) for name, amount in requests.items()}
        self.taken = {name: amount for name, amount in taken.items() if amount > 0}
        self.taken_on_nodes = {name: amount for name, amount in self.taken.items() if _counts_on_nodes(name)}
        self.on_nodes: dict[int, dict[int, int]] = {}

    def fits(self, cluster: Cluster) -> int:
        """How often it fits on a member."""
        summary, models = cluster.resource_summary, cluster.resource_models
        pods = _free_pods(cluster)
        if summary is None or not pods:
            return 0
        models = DEFAULT_MODELS if models is None else models
        if not summary.nodes_by_grade or not models:
            return _most(self.taken, lambda name: _free(summary, name), pods)
        by_grade = self._by_grade(models)
        nodes = summary.nodes_by_grade.items()
        return min(pods, sum(count * by_grade.get(grade, 0) for grade, count in nodes if count))

    def _by_grade(self, models: tuple[ResourceModel, ...]) -> dict[int, int]:
        """How often it fits on a node of each grade; most members share their models."""
        known = self.on_nodes.get(id(models))
        if known is None:
            known = self.on_nodes[id(models)] = {model.grade: self._on_node(model) for model in models}
        return known

    def _on_node(self, model: ResourceModel) -> int:
        free = {name: _whole(_nano(amount), name) for name, amount in model.minimum.items()}
        return _most(self.taken_on_nodes, lambda name: free.get(name, 0), _MAX_PODS_PER_NODE)


def _most(taken: Mapping[str, int], free: Callable[[str], int], limit: int) -> int:
    return min([limit, *(max(0, free(name)) // amount for name, amount in taken.items())])


def _counts_on_nodes(name: str) -> bool:
    """Whether a simulated node knows the resource; extended ones have a domain."""
    return name in _NODE_RESOURCES or name.startswith(_SCALARS) or ("/" in name and not name.startswith("requests."))


def _free_pods(cluster: Cluster) -> int:
    summary = cluster.resource_summary
    return max(0, _free(summary, "pods")) if summary else 0


def _free(summary: ResourceSummary, name: str) -> int:
    """What is neither allocated nor being allocated; 0 for what the member does not have."""
    if name not in summary.allocatable:
        return 0
    used = _nano(summary.allocated.get(name)) + _nano(summary.allocating.get(name))
    return _whole(_nano(summary.allocatable[name]) - used, name)


def _whole(nano: int, name: str) -> int:
    """An amount in whole units, thousandths for cpu, rounded up as Kubernetes does."""
    return -(-nano // (_MILLI if name == "cpu" else _ONE))


def _nano(amount: str | None) -> int:
    return parse_quantity(amount).nano if amount is not None else 0
