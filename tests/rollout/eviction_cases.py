"""Eviction cases in the form of the recorded vectors: a case in, the conditions of the eviction out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.model.codec import decode, encode
from fleet_components.systems.kubefleet.model.eviction import DisruptionBudget
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.rollout.eviction import (
    EvictableCluster,
    check_eviction,
    missing_placement,
)
from tests.rollout.cases import binding
from tests.rollout.one_pass import Binding


def outcome(case: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions that end the eviction of the case, in the form of its ``expected``."""
    cluster, policy, budget = case["evictCluster"], case["policy"], case["budget"]
    held = [_held(binding(item, case["release"])) for item in case["bindings"]]
    handled = (
        missing_placement(cluster)
        if case.get("placementMissing")
        else check_eviction(
            cluster,
            None if policy is None else decode(PlacementPolicy, policy),
            held,
            None if budget is None else decode(DisruptionBudget, budget),
        )
    )
    return {"conditions": [encode(condition) for condition in handled.conditions]}


def _held(found: Binding) -> EvictableCluster:
    available = found.condition("Available")
    return EvictableCluster(
        found.cluster,
        sent=found.state != "Scheduled",
        available=bool(available and available.status == "True"),
        failed=found.failed or bool(found.condition("DiffReported")),
        deleting=found.deleting,
    )
