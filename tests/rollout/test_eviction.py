"""What comes of an eviction: whether it is valid, and whether the budget lets it happen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fleet_components.systems.kubefleet.model.eviction import DisruptionBudget
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.rollout.eviction import (
    EvictableCluster,
    allowed,
    check_eviction,
)

ALL, TWO = PlacementPolicy("PickAll"), PlacementPolicy("PickN", number_of_clusters=2)
BOTH = (EvictableCluster("a"), EvictableCluster("b"))


@pytest.mark.parametrize(
    ("held", "policy", "budget", "said"),
    [
        (BOTH, None, None, "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget"),
        (BOTH, PlacementPolicy("PickFixed"), None, "with PickFixed placement type targeted"),
        ((EvictableCluster("b"),), None, None, "Failed to find scheduler decision"),
        (
            (EvictableCluster("a"), EvictableCluster("a")),
            None,
            None,
            "Found more than one scheduler decision",
        ),
        (
            (EvictableCluster("a", deleting=True),),
            None,
            None,
            "currently being removed from cluster",
        ),
        ((EvictableCluster("a", sent=False),), None, None, "has not propagated resources"),
        (
            (EvictableCluster("a", failed=True),),
            TWO,
            DisruptionBudget(max_unavailable=0),
            "has failed",
        ),
        (BOTH, ALL, DisruptionBudget(max_unavailable=1), "blocked by misconfigured"),
        (BOTH, None, DisruptionBudget(min_available="50%"), "blocked by misconfigured"),
        (BOTH, ALL, DisruptionBudget(min_available=1), "Eviction is allowed"),
        (BOTH, TWO, DisruptionBudget(max_unavailable=1), "Eviction is allowed"),
        (BOTH, TWO, DisruptionBudget(min_available="50%"), "Eviction is allowed"),
        (BOTH, TWO, DisruptionBudget(min_available=2), "Eviction is blocked"),
    ],
)
def test_each_eviction_is_answered_as_by_the_hub(
    held: Sequence[EvictableCluster],
    policy: PlacementPolicy | None,
    budget: DisruptionBudget | None,
    said: str,
) -> None:
    handled = check_eviction("a", policy, held, budget)
    assert handled.cluster == "a"
    assert any(said in condition.message for condition in handled.conditions)


@pytest.mark.parametrize(
    ("budget", "number"),
    [
        (DisruptionBudget(max_unavailable=2), 1),
        (DisruptionBudget(max_unavailable="50%"), 1),
        (DisruptionBudget(min_available=1), 1),
        (DisruptionBudget(min_available="100%"), -1),
        (DisruptionBudget(), 0),
    ],
)
def test_a_budget_counts_what_stands(budget: DisruptionBudget, number: int) -> None:
    assert (
        allowed(
            ALL,
            (EvictableCluster("a"), EvictableCluster("b"), EvictableCluster("c", available=False)),
            budget,
        )
        == number
    )
