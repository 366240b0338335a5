"""Replicas that the members can take: from recorded answers, a recorded capacity, or the general
estimator.

The general estimator computes from a member's resource summary how many more replicas fit. Without
requests it counts free pods. With requests it counts what the free nodes of each grade can hold,
taking each node at the lower bound of its grade; if no grades were collected, the sums over all
nodes decide.

Source: Karmada 1.19, ``pkg/estimator/client/general.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fleet_components.model.cluster import Cluster, ResourceModel, ResourceSummary
from fleet_components.model.inventory import Inventory
from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.model.cluster import DEFAULT_MODELS
from fleet_components.systems.karmada.scheduler.state import KarmadaState

_SINGLE, _MILLI = 10**9, 10**6
# Kubernetes' default, which Karmada takes for every simulated node whatever runs on it
# (``buildModelNodes``).
_MAX_PODS_PER_NODE = 110
_NODE_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_SCALARS = ("hugepages-", "attachable-volumes-")

Requests = Mapping[str, str]


class UnreadableMemberError(ValueError):
    """Error for a member whose resource summary or models contain an invalid quantity."""


def estimate(inventory: Inventory, requests: Requests | None) -> list[int]:
    """Return how many more replicas each member can take, by position; cached per set of requests.

    Raises:
        UnreadableMemberError: an amount of a member is not a valid quantity.
    """
    asked = None if requests is None else frozenset(requests.items())
    return inventory.column(
        ("general estimate", asked), lambda: _column(inventory.clusters, requests)
    )


def _column(clusters: Sequence[Cluster], requests: Requests | None) -> list[int]:
    fits = _free_pods if requests is None else Replica(requests).fits
    return [_estimated(cluster, fits) for cluster in clusters]


def _estimated(cluster: Cluster, fits: Callable[[Cluster], int]) -> int:
    try:
        return fits(cluster)
    except ValueError as error:
        raise UnreadableMemberError(f"member {cluster.name}: {error}") from error


class Replica:
    """Requests of one replica, in whole units; resources requested with amount 0 are ignored."""

    def __init__(self, requests: Requests) -> None:
        taken = {name: _whole(_nano(amount), name) for name, amount in requests.items()}
        self.taken = {name: amount for name, amount in taken.items() if amount > 0}
        self.taken_on_nodes = {
            name: amount for name, amount in self.taken.items() if _counts_on_nodes(name)
        }
        self.on_nodes: dict[int, dict[int, int]] = {}

    def fits(self, cluster: Cluster) -> int:
        """Return how many replicas fit on a member."""
        summary, models = cluster.resource_summary, cluster.resource_models
        pods = _free_pods(cluster)
        if summary is None or not pods:
            return 0
        models = DEFAULT_MODELS if models is None else models
        if not summary.nodes_by_grade or not models:
            return _most(self.taken, lambda name: free_amount(summary, name), pods)
        by_grade = self._by_grade(models)
        nodes = summary.nodes_by_grade.items()
        # Nodes of a grade that no model describes hold nothing.
        return min(pods, sum(count * by_grade.get(grade, 0) for grade, count in nodes if count))

    def _by_grade(self, models: tuple[ResourceModel, ...]) -> dict[int, int]:
        """Return how many replicas fit on a node of each grade; cached because most members share
        their models.
        """
        # By identity, which is cheap and safe: the inventory keeps the models alive during the
        # estimate.
        known = self.on_nodes.get(id(models))
        if known is None:
            known = self.on_nodes[id(models)] = {
                model.grade: self._on_node(model) for model in models
            }
        return known

    def _on_node(self, model: ResourceModel) -> int:
        free = {name: _whole(_nano(amount), name) for name, amount in model.minimum.items()}
        return _most(self.taken_on_nodes, lambda name: free.get(name, 0), _MAX_PODS_PER_NODE)


def _most(taken: Mapping[str, int], free: Callable[[str], int], limit: int) -> int:
    return min([limit, *(max(0, free(name)) // amount for name, amount in taken.items())])


def _counts_on_nodes(name: str) -> bool:
    """Return whether Karmada's simulated node includes the resource; extended resources have a
    domain in their name.
    """
    return (
        name in _NODE_RESOURCES
        or name.startswith(_SCALARS)
        or ("/" in name and not name.startswith("requests."))
    )


def _free_pods(cluster: Cluster) -> int:
    summary = cluster.resource_summary
    return max(0, free_amount(summary, "pods")) if summary else 0


def free_amount(summary: ResourceSummary, name: str) -> int:
    """Return the amount that is neither allocated nor being allocated; 0 if the member does not
    have the resource.
    """
    if name not in summary.allocatable:
        return 0
    used = _nano(summary.allocated.get(name)) + _nano(summary.allocating.get(name))
    return _whole(_nano(summary.allocatable[name]) - used, name)


def _whole(nano: int, name: str) -> int:
    """Return an amount in whole units (thousandths for cpu), rounded up as Kubernetes does, and
    within 64 bits.
    """
    return max(-_MAX_INT64, min(-(-nano // (_MILLI if name == "cpu" else _SINGLE)), _MAX_INT64))


def _nano(amount: str | None) -> int:
    return parse_quantity(amount).nano if amount is not None else 0


_MAX_INT64 = 2**63 - 1
UNKNOWN = -1
MAX_INT32 = 2**31 - 1


def allocatable(state: KarmadaState) -> list[int]:
    """Return how many more replicas each member can take, by position.

    For a template without replicas the limit is the largest int32. A member that no estimator knows
    can take all replicas of the template.
    """
    replicas = state.template.replicas
    if not replicas:
        return [MAX_INT32] * len(state.inventory)
    # Karmada starts at the largest int32 and takes the least answer, so this number means that
    # nobody knew (``calAvailableReplicas`` in pkg/scheduler/core/util.go, 1.19).
    return [replicas if answer in (UNKNOWN, MAX_INT32) else answer for answer in _answers(state)]


def _answers(state: KarmadaState) -> list[int]:
    estimates, names = state.estimates, state.inventory.names
    if estimates.available is not None:
        return [estimates.available.get(name, UNKNOWN) for name in names]
    if estimates.capacity is not None:
        return [
            _left(estimates.capacity, name, held)
            for name, held in zip(names, state.assigned, strict=True)
        ]
    return estimate(state.inventory, state.template.requests)


def _left(capacity: Mapping[str, int], name: str, held: int) -> int:
    return max(0, capacity[name] - held) if name in capacity else UNKNOWN
