"""What holds for every placement in any interleaving of changes, update runs, evictions and updates that break."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.model.cluster import Cluster
from fleet_components.rollout.rollout import Change, Opens
from fleet_components.systems.kubefleet.model.eviction import DisruptionBudget
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    Affinity,
    ClusterAffinity,
    ClusterSelector,
    ClusterSelectorTerm,
    PlacementPolicy,
    RollingUpdate,
)
from tests.plan.placement_world import (
    CANARY,
    NAMES,
    REST,
    Asked,
    PlacementWorld,
    results,
    through_the_engine,
    tried,
)

pytestmark = pytest.mark.long

Action = tuple[Any, ...]

names = st.sampled_from(NAMES)
some = st.sets(names, max_size=2)
stages = st.sampled_from(["canary", "rest", "canary", "rest", ""])


def near(*selectors: Any) -> Affinity:
    terms = tuple(ClusterSelectorTerm(selector) for selector in selectors)
    return Affinity(ClusterAffinity(ClusterSelector(terms)))


affinities = st.sampled_from([None, None, near(REST), near(CANARY, REST)])
policies = st.builds(
    PlacementPolicy,
    st.sampled_from([PICK_ALL, PICK_N, PICK_FIXED]),
    st.sets(names, min_size=1, max_size=4).map(lambda found: tuple(sorted(found))),
    st.integers(0, 5),
    affinities,
)
amounts = st.sampled_from([0, 1, 1, 2, "50%", "100%"])
rollings = st.builds(RollingUpdate, amounts, amounts)
kinds = st.sampled_from(["patch", "patch", "name", "label", "same", "colour", "fail", "delete"])
asked = st.lists(
    st.builds(
        Asked,
        st.sampled_from(["one", "two"]),
        kinds,
        st.sampled_from(["", "canary", "rest"]),
        st.sampled_from("12"),
    ),
    max_size=2,
    unique_by=lambda build: build.name,
)
run_names = st.sampled_from(["r1", "r2", "r3"])
approvals = st.sets(
    st.sampled_from(
        [f"{run}-{gate}" for run in ("r1", "r2", "r3") for gate in ("after-canary", "before-rest")]
    )
)


def action(method: Any, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Action]:
    return st.tuples(st.just(method.__name__), *arguments)


W = PlacementWorld
select = action(W.select, st.integers(0, 3))
override = asked.map(lambda found: ("override", *found))
start = action(
    W.run,
    run_names,
    st.sampled_from(["flat", "asked", "slow"]),
    st.sampled_from(["Initialize", "Run", "Run", "Stop"]),
    st.sampled_from(["", "", "0", "1", "7"]),
)
around = st.one_of(
    override,
    action(W.join, names, stages),
    action(W.leave, names),
    action(W.taint, some),
    action(W.lose, some),
    action(W.pick, policies),
    action(W.roll, rollings, st.integers(1, 4)),
    action(W.evict, names),
)
runs = st.one_of(
    start,
    start,
    action(W.drop, run_names),
    action(W.approve, approvals),
    action(W.wait, st.sampled_from([1, 50, 120])),
)
release = action(
    W.release, st.integers(0, 3), st.sampled_from(["flat", "asked", "slow"]), st.booleans()
)
fails = st.one_of(st.just(set[str]()), some)


def world_of(
    policy: PlacementPolicy, rolling: RollingUpdate, budget: DisruptionBudget | None
) -> PlacementWorld:
    world = PlacementWorld(policy, rolling, budget=budget)
    world.pick(policy)
    return world


worlds = st.builds(
    world_of,
    policies,
    rollings,
    st.sampled_from([None, DisruptionBudget(max_unavailable=1), DisruptionBudget(min_available=2)]),
)

steady = st.builds(
    PlacementWorld,
    st.one_of(
        st.just(PlacementPolicy(PICK_ALL)), st.just(PlacementPolicy(PICK_N, number_of_clusters=3))
    ),
)


def story(
    *actions: st.SearchStrategy[Action],
) -> st.SearchStrategy[list[tuple[list[Action], set[str]]]]:
    # Not ``one_of``, which gives every alternative inside of these the same weight.
    any_of = st.integers(0, len(actions) - 1).flatmap(lambda number: actions[number])
    return st.lists(st.tuples(st.lists(any_of, min_size=1, max_size=3), fails), max_size=6)


def changed(world: PlacementWorld, actions: Sequence[Action]) -> None:
    for name, *arguments in actions:
        getattr(world, name)(*arguments)


def told(world: PlacementWorld, history: Sequence[tuple[Sequence[Action], set[str]]]) -> None:
    """Update after update, of which some break; the world watches each of them."""
    world.update()
    for actions, broken in history:
        changed(world, actions)
        world.update(broken)


def ended(world: PlacementWorld) -> None:
    """Every rollout ends, and then each decision is the same."""
    last = list(tried(world))[-1]
    entries = last.rollout.entries.values()
    assert {entry.change for entry in entries} <= {Change.KEEP, Change.HELD}
    assert not any(entry.gate and entry.gate.opens is Opens.UPDATE for entry in entries)
    wire = world.record.to_wire()
    again = world.decide()
    assert again.record.to_wire() == wire
    assert through_the_engine(again.record).to_wire() == wire
    assert again.rollout.entries == last.rollout.entries
    assert again.evictions == ()


@given(worlds, story(select, around))
def test_rolling_updates_keep_to_their_budgets_and_end(
    world: PlacementWorld, history: list[tuple[list[Action], set[str]]]
) -> None:
    told(world, history)
    ended(world)
    world.override()
    world.rolling = RollingUpdate(1, "100%")
    ended(world)
    outcome = world.decide()
    if not outcome.unfulfilled:
        assert set(world.done) == set(outcome.record.memory.selected)
        assert {world.contents[here.revision or 0] for here in world.done.values()} <= {
            world.content
        }


@given(steady, story(release, release, select, around, runs))
def test_update_runs_keep_to_what_they_took_and_end(
    world: PlacementWorld, history: list[tuple[list[Action], set[str]]]
) -> None:
    told(world, history)
    ended(world)
    current = world.decide().runs
    if not current or not current.run:
        return
    world.run(current.run.name, "flat", "Run", "")
    world.approvals |= set(current.run.approvals)
    for _ in range(4):
        world.wait(120)
        ended(world)
    record = world.record.runs.records[current.run.name]
    stuck = current.record and set(world.decide().failing).intersection(
        *[[c for p in record.clusters for c in p]]
    )
    spent = set(current.run.approvals).intersection(current.spent)
    assert record.over or stuck or spent


@given(worlds, asked, asked, st.integers(0, 2))
def test_other_overrides_move_exactly_the_members_whose_objects_change(
    world: PlacementWorld, before: list[Asked], after: list[Asked], number: int
) -> None:
    world.rolling = RollingUpdate("100%", "100%")
    world.select(number)
    world.override(*before)
    ended(world)
    stands = {name: results(number, world.asked, name, world.stages[name]) for name in world.stages}
    world.override(*after)
    outcome = world.decide()
    for name, entry in outcome.rollout.entries.items():
        wanted = results(number, world.asked, name, world.stages[name])
        if wanted == "fails":
            assert (entry.change, name in outcome.failing) == (Change.HELD, True)
        elif stands[name] == "fails":
            assert entry.change is Change.ADD
        else:
            assert (entry.change is Change.UPDATE) is (wanted != stands[name])
            assert entry.change in (Change.UPDATE, Change.KEEP)


@given(worlds, asked, st.sampled_from(["canary", "rest"]))
def test_an_override_that_fails_moves_nobody_else(
    world: PlacementWorld, before: list[Asked], where: str
) -> None:
    world.override(*before)
    ended(world)
    expected = world.decide().rollout.entries
    others = {name: entry for name, entry in expected.items() if world.stages[name] != where}
    world.override(*before, Asked("zzz", "fail", where))
    outcome = world.decide()
    entries = outcome.rollout.entries
    assert {name: entry for name, entry in entries.items() if name in others} == others
    deleted = {
        n
        for n in world.stages
        if (r := results(world.content, world.asked[:-1], n, world.stages[n])) != "fails"
        and len(r) == 1
    }
    assert set(outcome.failing) >= entries.keys() - others.keys() - deleted
    assert {n: e.placed for n, e in entries.items()} == {n: e.placed for n, e in expected.items()}


def test_of_two_runs_that_wait_one_is_shown_always() -> None:
    world = PlacementWorld()
    told(
        world,
        [
            (
                [("run", "r1", "flat", "Initialize", ""), ("run", "r2", "flat", "Initialize", "")],
                set(),
            )
        ],
    )
    ended(world)
    assert world.record.runs.latest == "r2"


def test_a_run_that_is_over_stays_the_last_one_beside_one_that_waits() -> None:
    world = PlacementWorld()
    told(
        world,
        [([("run", "r1", "flat", "Initialize", ""), ("run", "r2", "flat", "Run", "")], set())],
    )
    ended(world)
    assert world.record.runs.latest == "r2"


def test_a_run_that_waits_beside_another_keeps_content_and_overrides_of_its_beginning() -> None:
    world = PlacementWorld()
    world.history = 1
    first, second = Asked("one", "patch", value="1"), Asked("one", "patch", value="2")
    begins = [
        ("select", 1),
        ("override", first),
        ("run", "r1", "flat", "Run", "0"),
        ("run", "r2", "flat", "Initialize", ""),
    ]
    others = [("select", 2), ("override", second), ("run", "r3", "flat", "Run", "")]
    told(world, [(begins, set()), (others, set()), ([("run", "r2", "flat", "Run", "")], set())])
    ended(world)
    emitted = world.record.objects(world.record.decisions["a"], Cluster("a"))
    assert emitted == results(1, [first], "a", "canary")
