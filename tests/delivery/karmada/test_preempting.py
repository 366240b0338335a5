"""Policies that take objects over from others: the feature gate PropagationPolicyPreemption."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import KarmadaWorld, carried_out, deployment, on, policy, replicas


def gate(on_: bool) -> dict[str, Any]:
    """The settings."""
    metadata = {"name": "k"}
    return {
        "apiVersion": "fleet-components/v1",
        "kind": "KarmadaSettings",
        "metadata": metadata,
        "spec": {"preemption": on_},
    }


def claimed(in_process: InProcess[KarmadaWorld]) -> str:
    """Who has the Deployment."""
    return str(in_process.record("shop/Deployment/web")["policy"])


@pytest.mark.samples(2)
@pytest.mark.parametrize(("gated", "takes"), [(True, True), (False, False)])
@pytest.mark.parametrize(("asked", "asks"), [("Always", True), ("Never", False)])
def test_a_higher_policy_takes_over_where_the_gate_is_open_and_it_asks(
    in_process: InProcess[KarmadaWorld], gated: bool, takes: bool, asked: str, asks: bool
) -> None:
    in_process.world.objects = {
        "web": deployment(2),
        "low": policy("low", placement=on("a"), priority=1),
        "gate": gate(gated),
    }
    carried_out(in_process)
    in_process.world.objects["high"] = policy(
        "high", placement=on("b"), priority=2, preemption=asked
    )
    carried_out(in_process)
    moves = takes and asks
    assert claimed(in_process) == f"PropagationPolicy shop/{'high' if moves else 'low'}"
    assert sorted(replicas(in_process)) == (["b"] if moves else ["a"])


def test_an_equal_priority_takes_nothing_and_a_cluster_policy_gives_way(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects = {
        "web": deployment(2),
        "everywhere": policy(
            "everywhere", "ClusterPropagationPolicy", placement=on("a"), priority=9
        ),
        "gate": gate(True),
    }
    carried_out(in_process)
    in_process.world.objects["own"] = policy("own", placement=on("b"), preemption="Always")
    carried_out(in_process)
    assert claimed(in_process) == "PropagationPolicy shop/own"
    in_process.world.objects["other"] = policy("other", placement=on("c"), preemption="Always")
    carried_out(in_process)
    assert claimed(in_process) == "PropagationPolicy shop/own"


def test_a_priority_that_is_lowered_lets_one_in_between_take_over(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects = {
        "web": deployment(2),
        "first": policy("first", placement=on("a"), priority=5),
        "gate": gate(True),
    }
    carried_out(in_process)
    in_process.world.objects["between"] = policy(
        "between", placement=on("b"), priority=3, preemption="Always"
    )
    carried_out(in_process)
    assert claimed(in_process) == "PropagationPolicy shop/first"
    in_process.world.objects["first"] = policy("first", placement=on("a"), priority=2)
    carried_out(in_process)
    assert claimed(in_process) == "PropagationPolicy shop/between"
