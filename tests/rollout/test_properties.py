"""What holds for every rollout, however often it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.rollout.rollout import Change, Done, Rollout, Wanted
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.planner import plan_rollout
from fleet_components.systems.kubefleet.rollout.strategy import RolloutBudget
from tests.rollout.one_pass import Binding, Condition, one_pass
from tests.rollout.world import SimulatedClusters, picked

pytestmark = pytest.mark.long

V = TypeVar("V")
NAMES = "abcdefgh"
READY = (Condition("Available", "True", "AllWorkAreAvailable"),)
few = settings(max_examples=150)

some = st.sets(st.sampled_from(NAMES))
budgets = st.sampled_from([0, 1, 2, 3, "0%", "25%", "50%", "100%"])
rolling = st.builds(RollingUpdate, budgets, budgets)
worlds = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2)).map(SimulatedClusters)


@st.composite
def wishes(draw: st.DrawFn, revision: int = 2) -> Wanted:
    """Some clusters, all of them found or some missing."""
    names = draw(some)
    missing = draw(st.sampled_from([0, 0, 0, 1, 3]))
    return picked(names, revision, target=len(names) + missing)


def again(world: SimulatedClusters, wanted: Wanted, strategy: RollingUpdate) -> Rollout:
    """Update until an update has nothing to do; fails when that does not come."""
    for _ in range(3 * len(NAMES)):
        planned = world.update(wanted, strategy)
        if not planned.waves and not planned.removals:
            return planned
    raise AssertionError("the rollout never comes to an end")


@few
@given(worlds, wishes(), rolling)
def test_rollouts_end_and_are_silent_then(
    world: SimulatedClusters, wanted: Wanted, strategy: RollingUpdate
) -> None:
    last = again(world, wanted, strategy)
    silent = world.plan(wanted, strategy)
    assert silent == last
    assert silent.placed == world.previous
    assert {entry.change for entry in silent.entries.values()} <= {Change.KEEP, Change.HELD}
    budget = RolloutBudget.of(strategy, wanted.target or 0)
    if budget.unavailable and len(wanted.ranks) == wanted.target:
        assert world.running == dict.fromkeys(wanted.ranks, wanted.revision)


@few
@given(worlds, wishes(), rolling)
def test_nothing_held_means_one_update_is_enough(
    world: SimulatedClusters, wanted: Wanted, strategy: RollingUpdate
) -> None:
    planned = world.update(wanted, strategy)
    if not planned.held:
        following = world.plan(wanted, strategy)
        assert following.placed == planned.placed
        assert not following.waves
        assert not following.removals


@few
@given(worlds, st.lists(st.tuples(wishes(), rolling, some, st.booleans()), max_size=5), st.data())
def test_budget_holds_through_failures(
    world: SimulatedClusters,
    updates: list[tuple[Wanted, RollingUpdate, set[str], bool]],
    data: st.DataObject,
) -> None:
    """The world watches every wave and every removal; wishes, budgets and failures change at random."""
    revision, wanted, strategy = 2, picked("", 2), RollingUpdate()
    for wish, strategy, failing, same in updates:
        if not same:
            revision += 1
            wanted = picked(wish.ranks, revision, wish.target)
        before = dict(world.running)
        planned = world.update(wanted, strategy, failing=failing)
        for name, entry in planned.entries.items():
            if entry.change is Change.HELD:
                assert world.running.get(name) == before.get(name)
                assert (entry.placed.revision if entry.placed else None) == before.get(name)
    again(world, wanted, strategy)


@few
@given(worlds, wishes(), st.sampled_from([1, 2, "25%", "50%"]), some)
def test_retry_begins_where_it_broke_and_keeps_the_order(
    world: SimulatedClusters, wanted: Wanted, unavailable: int | str, failing: set[str]
) -> None:
    strategy = RollingUpdate(unavailable, "100%")
    before = world.update(wanted, strategy, failing=failing)
    stopped = next((wave for wave in before.waves if failing.intersection(wave.clusters)), None)
    if not stopped:
        return
    retry = world.plan(wanted, strategy)
    assert retry.placed == before.placed
    assert retry.waves[0].number == stopped.number
    assert set(retry.waves[0].clusters) == failing.intersection(stopped.clusters)
    assert retry.waves[1:] == before.waves[before.waves.index(stopped) + 1 :]


@few
@given(worlds, wishes(), rolling, some, st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(
    world: SimulatedClusters,
    wanted: Wanted,
    strategy: RollingUpdate,
    failing: set[str],
    random: Random,
) -> None:
    world.update(wanted, strategy, failing=failing)
    expected = world.plan(wanted, strategy)
    shuffled = Wanted(mixed(wanted.ranks, random), wanted.revision, wanted.target)
    found = plan_rollout(
        mixed(world.done, random), shuffled, strategy, mixed(world.previous, random)
    )
    assert found == expected
    assert list(found.entries) == list(expected.entries)


def mixed(items: Mapping[str, V], random: Random) -> dict[str, V]:
    pairs = list(items.items())
    random.shuffle(pairs)
    return dict(pairs)


@few
@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2)), wishes(), rolling, some)
def test_waves_are_the_passes_of_the_real_controller(
    running: dict[str, int], wanted: Wanted, strategy: RollingUpdate, broken: set[str]
) -> None:
    """As long as nothing is left and nothing broke, the controller's passes, each made ready, are the waves."""
    running = {name: revision for name, revision in running.items() if name in wanted.ranks}
    planned = SimulatedClusters(running).plan(wanted, strategy)
    passes = []
    while acted := one_pass(bindings(running, wanted), strategy, wanted.target).act_now:
        passes.append(tuple(sorted(acted)))
        running |= dict.fromkeys(acted, wanted.revision)
    assert [wave.clusters for wave in planned.waves] == passes


def bindings(running: dict[str, int], wanted: Wanted) -> list[Binding]:
    return [
        Binding(name, "Bound", READY, running[name] == wanted.revision)
        if name in running
        else Binding(name, "Scheduled")
        for name in sorted(wanted.ranks)
    ]


def test_ten_thousand_clusters_one_by_one() -> None:
    names = [f"member-{i:05}" for i in range(10_000)]
    planned = plan_rollout({name: Done(1) for name in names}, picked(names, 2), RollingUpdate(1))
    assert len(planned.waves) == len(names)
