"""Clusters where an agent of a hub goes on making ready what was sent."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from fleet_components.model.selector import LabelSelector
from fleet_components.rollout.rollout import Change, Done, Rollout
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.strategy import (
    External,
    RolloutStage,
    Task,
    UpdateRun,
)
from tests.rollout.world import SimulatedClusters, picked

ONE = RollingUpdate(1, 1)


def world(running: dict[str, int], *awaited: str) -> SimulatedClusters:
    made = SimulatedClusters(running)
    made.done |= {name: Done(running[name], awaited=True) for name in awaited}
    return made


def moves(plan: Rollout) -> dict[str, Change]:
    return {name: entry.change for name, entry in plan.entries.items()}


def test_it_is_not_sent_again_and_the_others_wait_for_it() -> None:
    plan = world({"a": 2, "b": 1, "c": 1}, "a").plan(picked("abc", 2), ONE)
    assert moves(plan) == {"a": Change.KEEP, "b": Change.HELD, "c": Change.HELD}
    assert plan.held["b"] == "2 of 3 clusters must stay available, and 2 are"


def test_the_others_go_on_within_the_budget() -> None:
    plan = world({"a": 2, "b": 1, "c": 1, "d": 1}, "a").plan(picked("abcd", 2), RollingUpdate(2, 1))
    assert [wave.clusters for wave in plan.waves] == [("b",), ("c",), ("d",)]


def test_it_gets_what_is_newer_at_once_and_outside_of_the_budget() -> None:
    plan = world({"a": 2, "b": 1, "c": 1}, "a").plan(picked("abc", 3), ONE)
    assert plan.waves[0].clusters == ("a",)


def test_one_that_is_broken_is_sent_again_still() -> None:
    made = SimulatedClusters({"a": 2, "b": 1})
    made.done["a"] = Done(2, broken=True)
    assert moves(made.plan(picked("ab", 2), ONE))["a"] is Change.UPDATE


@pytest.mark.parametrize("concurrent", [1, 2])
def test_an_update_run_waits_for_it(concurrent: int) -> None:
    stage = RolloutStage(
        "all",
        LabelSelector(),
        max_concurrency=concurrent,
        after=(Task("TimedWait", timedelta(seconds=1)),),
    )
    wanted = attrs.evolve(picked("abc", 2), labels={name: {} for name in "abc"})
    strategy = External(UpdateRun("run", "/all", (stage,), "Run"))
    plan = world({"a": 2, "b": 2 if concurrent == 2 else 1, "c": 1}, "a").plan(wanted, strategy)
    assert moves(plan)["a"] is Change.KEEP
    assert plan.held["c"] == "update run run waits for a in stage all"
    assert not plan.finished
