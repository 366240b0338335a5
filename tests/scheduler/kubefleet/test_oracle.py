"""The columns against the plain second scheduler: equal choices, scores, states, texts and order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.scheduler import schedule
from tests.conformance.kubefleet_scheduling import roll_out
from tests.scheduler.kubefleet.oracle import Bond, Oracle
from tests.strategies import AS_OF, Step, histories

pytestmark = pytest.mark.long


@settings(max_examples=150)
@given(histories(), st.sampled_from(["", "app"]), st.sampled_from([AS_OF, None]))
def test_columns_decide_as_the_plain_scheduler(
    history: list[Step], namespace: str, as_of: None
) -> None:
    oracle, decision = Oracle(namespace), Decision(PlacementMemory(), Status())
    for step in history:
        oracle.roll_out(step.rollout)
        oracle.schedule(step.clusters, step.policy, as_of)
        inventory = Inventory(step.clusters, as_of)
        before = roll_out(decision, step.rollout)
        # Without the old status the new one always stands, in its own order.
        decision = schedule(inventory, step.policy, before.memory, namespace=namespace)
        assert decision.error == ""
        assert decision.memory.snapshot == oracle.snapshot
        assert bonds(decision.memory) == oracle.bonds
        if step.policy.cluster_names or step.policy.placement_type != "PickFixed":
            assert shown(decision.status) == oracle.decisions
            assert decision.status.condition is not None
            assert (decision.status.condition.status == "True") is oracle.fulfilled


def bonds(memory: PlacementMemory) -> dict[str, Bond]:
    return {
        name: Bond(
            binding.state,
            binding.snapshot,
            binding.rank,
            None
            if binding.topology_spread_score is None or binding.affinity_score is None
            else (binding.topology_spread_score, binding.affinity_score),
            binding.former_state,
        )
        for name, binding in memory.bindings.items()
    }


def shown(status: Status) -> list[tuple[str, bool, str]]:
    return [(entry.cluster_name, entry.selected, entry.reason) for entry in status.decisions]
