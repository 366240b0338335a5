"""Subject ``kubefleet/scheduling``: whole Decisions, carried from step to step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from fleet_components.model.cluster import read_time
from fleet_components.model.codec import decode
from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.model.memory import (
    BOUND,
    SCHEDULED,
    UNSCHEDULED,
    PlacementMemory,
)
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from tests.scheduler.kubefleet.hub import next_cycle

Case = Mapping[str, Any]
COMPARED = (
    "selected",
    "clusterDecisions",
    "snapshotCondition",
    "placementCondition",
    "bindings",
    "error",
)


def run(case: Case) -> Iterator[tuple[Any, Any]]:
    """Expected and found outcome of the initial input and of every step."""
    for expected, found in zip(case["expected"], outcomes(case), strict=True):
        yield {key: expected.get(key, "" if key == "error" else None) for key in COMPARED}, found


def outcomes(case: Case) -> Iterator[dict[str, Any]]:
    """What our scheduler answers, in the form of the vectors."""
    state: dict[str, Any] = {"clusters": case["clusters"], "policy": case["policy"]}
    now = read_time(case["now"])
    assert now is not None
    decision = decide(state, now, case, Decision(PlacementMemory(), Status()))
    yield outcome(decision, case)
    for step in case.get("steps", ()):
        now += timedelta(seconds=step.get("advanceSeconds", 0))
        state |= {key: step[key] for key in ("clusters", "policy") if key in step}
        decision = decide(state, now, case, roll_out(decision, step.get("rollout", "full")))
        yield outcome(decision, case)


def decide(
    state: Case, now: datetime, case: Case, before: Decision[PlacementMemory]
) -> Decision[PlacementMemory]:
    """Schedule once."""
    inventory = Inventory(
        (read_member_cluster(cluster) for cluster in state["clusters"]), as_of=now
    )
    policy = state["policy"] and decode(PlacementPolicy, state["policy"])
    return next_cycle(inventory, policy, before, namespace=case.get("namespace", ""))


def roll_out(decision: Decision[PlacementMemory], how: str) -> Decision[PlacementMemory]:
    """What the rollout does to the bindings between two steps."""
    bindings = dict(decision.memory.bindings)
    if how in ("full", "bindOnly"):
        bindings = {
            n: attrs.evolve(b, state=BOUND) if b.state == SCHEDULED else b
            for n, b in bindings.items()
        }
    if how == "full":
        bindings = {
            name: binding for name, binding in bindings.items() if binding.state != UNSCHEDULED
        }
    return attrs.evolve(decision, memory=attrs.evolve(decision.memory, bindings=bindings))


def outcome(decision: Decision[PlacementMemory], case: Case) -> dict[str, Any]:
    """A decision in the form of the vectors."""
    status, bindings = decision.status, decision.memory.bindings
    return {
        "selected": sorted(
            name for name, binding in bindings.items() if binding.state != UNSCHEDULED
        ),
        "clusterDecisions": [entry.to_wire() for entry in status.decisions],
        "snapshotCondition": attrs.asdict(status.condition) if status.condition else None,
        "placementCondition": attrs.asdict(status.placement_condition(case["kind"])),
        "bindings": [
            {
                "cluster": name,
                "state": binding.state,
                "policySnapshot": f"test-placement-{binding.snapshot}",
                "affinityScore": binding.affinity_score,
                "topologySpreadScore": binding.topology_spread_score,
            }
            for name, binding in sorted(bindings.items())
        ],
        "error": decision.error,
    }
