"""Check of an eviction: whether a placement leaves a cluster, or a disruption budget keeps it
there.

Source of rules and texts: KubeFleet v0.3.1,
``pkg/controllers/clusterresourceplacementeviction/controller.go`` and
``pkg/utils/condition/reason.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from fleet_components.systems.kubefleet.model.eviction import (
    BLOCKED,
    EXECUTED,
    INVALID,
    DisruptionBudget,
    Handled,
)
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
)
from fleet_components.systems.kubefleet.rollout.strategy import scaled

_OF_A_BUDGET = (
    "by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: {},"
    " totalPlacements: {}"
)


@attrs.frozen
class EvictableCluster:
    """A cluster that a placement has, or is about to leave.

    Attributes:
        cluster: its name.
        sent: whether anything was sent to it.
        available: whether everything that was sent there stands.
        failed: whether that failed.
        deleting: whether it is being left already.
    """

    cluster: str
    sent: bool = True
    available: bool = True
    failed: bool = False
    deleting: bool = False


def check_eviction(
    cluster: str,
    policy: PlacementPolicy | None,
    held: Sequence[EvictableCluster],
    budget: DisruptionBudget | None,
) -> Handled:
    """Return what comes of an eviction of a placement that exists.

    Args:
        cluster: the cluster that it names.
        policy: the policy of the placement; None means PickAll.
        held: the clusters that the placement has.
        budget: its disruption budget; None if there is none.
    """
    kind = policy.placement_type if policy else PICK_ALL
    if kind == PICK_FIXED:
        what = "Found ClusterResourcePlacement with PickFixed placement type targeted by eviction"
        return Handled(cluster, INVALID, what)
    here = [item for item in held if item.cluster == cluster]
    if len(here) != 1:
        found = "Found more than one" if here else "Failed to find"
        return Handled(
            cluster,
            INVALID,
            f"{found} scheduler decision for placement in cluster targeted by eviction",
        )
    # In the controller's order: a cluster that is being left, or has failed, needs no budget.
    if here[0].deleting:
        what = (
            "resources propagated by placement is currently being removed from cluster targeted by"
            " eviction"
        )
        return Handled(cluster, EXECUTED, f"Eviction is allowed, {what}")
    if not here[0].sent:
        what = "Eviction is blocked, placement has not propagated resources to target cluster yet"
        return Handled(cluster, BLOCKED, what)
    if here[0].failed:
        return Handled(cluster, EXECUTED, "Eviction is allowed, placement has failed")
    if budget is None:
        what = "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified"
        return Handled(cluster, EXECUTED, what)
    return _within(cluster, policy, held, budget)


def missing_placement(cluster: str) -> Handled:
    """Return what comes of an eviction whose placement does not exist."""
    return Handled(cluster, INVALID, "Failed to find ClusterResourcePlacement targeted by eviction")


def allowed(
    policy: PlacementPolicy | None, held: Sequence[EvictableCluster], budget: DisruptionBudget
) -> int:
    """Return how many clusters a budget lets go; zero or less for none.

    Args:
        policy: the policy of the placement; None means PickAll.
        held: the clusters that the placement has, those that it is about to leave included.
        budget: the budget.
    """
    # PickFixed does not get here: `check_eviction` refuses it.
    target = (
        (policy.number_of_clusters or 0)
        if policy and policy.placement_type == PICK_N
        else len(held)
    )
    available = sum(item.available for item in held)
    if budget.max_unavailable is not None:
        return scaled(budget.max_unavailable, target, round_up=True) - (len(held) - available)
    if budget.min_available is not None:
        return available - scaled(budget.min_available, target, round_up=True)
    return 0


def _within(
    cluster: str,
    policy: PlacementPolicy | None,
    held: Sequence[EvictableCluster],
    budget: DisruptionBudget,
) -> Handled:
    picks_all = policy is None or policy.placement_type == PICK_ALL
    if picks_all and (budget.max_unavailable is not None or isinstance(budget.min_available, str)):
        what = (
            "Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either"
            " MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll"
            " ClusterResourcePlacement"
        )
        return Handled(cluster, BLOCKED, what)
    counted = _OF_A_BUDGET.format(sum(item.available for item in held), len(held))
    if allowed(policy, held, budget) > 0:
        return Handled(cluster, EXECUTED, f"Eviction is allowed {counted}")
    return Handled(cluster, BLOCKED, f"Eviction is blocked {counted}")
