"""Rollout cases in the form of the recorded vectors: a case in, the outcome of one pass out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.model.codec import decode
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy, PlacementStrategy
from fleet_components.systems.kubefleet.model.release import RELEASES, Rule
from fleet_components.systems.kubefleet.rollout.strategy import target_of
from tests.rollout.one_pass import PENDING, Binding, Condition, one_pass


def outcome(case: Mapping[str, Any]) -> dict[str, Any]:
    """What one pass decides for the case, in the form of its ``expected``."""
    strategy = decode(PlacementStrategy, case["strategy"] or {})
    policy = decode(PlacementPolicy, case["policy"] or {})
    decided = one_pass(
        [binding(b, case["release"]) for b in case["bindings"]],
        strategy.rolling_update,
        target_of(policy),
    )
    return {
        "actNow": list(decided.act_now),
        "blocked": list(decided.blocked),
        "upToDate": list(decided.up_to_date),
        "needRoll": decided.need_roll,
        "waitSeconds": decided.wait_seconds,
    }


def binding(binding: Mapping[str, Any], release: str) -> Binding:
    """A binding of a case, as a release of KubeFleet sees it."""
    return Binding(
        binding["cluster"],
        binding["state"],
        tuple(_condition(condition) for condition in binding["conditions"]),
        binding["upToDate"],
        binding.get("deleting", False),
        PENDING if RELEASES[release].has(Rule.PENDING_NOT_FAILED) else (),
    )


def _condition(condition: Mapping[str, Any]) -> Condition:
    return Condition(
        condition["type"],
        condition["status"],
        condition["reason"],
        condition["ageSeconds"],
        condition.get("staleGeneration", False),
    )
