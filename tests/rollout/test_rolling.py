"""Rolling updates laid out beforehand: each rule, and what several updates in a row come to."""

from __future__ import annotations

import pytest

from fleet_components.rollout.rollout import Change, Done, Placed, Rollout, Wave
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from tests.rollout.world import SimulatedClusters, picked

DEFAULT = RollingUpdate()
ONE = RollingUpdate(1, 1)


def waves(plan: Rollout) -> list[str]:
    return [f"{wave.number}:{''.join(wave.clusters)}" for wave in plan.waves]


def test_first_placement_is_one_wave() -> None:
    assert waves(SimulatedClusters().plan(picked("abcdef", 1), DEFAULT)) == ["1:abcdef"]


@pytest.mark.parametrize(
    ("max_unavailable", "expected"),
    [
        (1, ["1:a", "2:b", "3:c", "4:d", "5:e"]),
        ("25%", ["1:ab", "2:cd", "3:e"]),
        ("100%", ["1:abcde"]),
        (9, ["1:abcde"]),
    ],
)
def test_updates_go_by_name_as_many_as_may_be_unavailable(
    max_unavailable: int | str, expected: list[str]
) -> None:
    world = SimulatedClusters(dict.fromkeys("edcba", 1))
    assert waves(world.plan(picked("abcde", 2), RollingUpdate(max_unavailable))) == expected


def test_max_unavailable_0_holds_updates_for_ever() -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    for _ in range(2):
        plan = world.update(picked("ab", 2), RollingUpdate(0, 1))
        assert not plan.waves
        assert {
            name: (e.change, e.placed and e.placed.revision) for name, e in plan.entries.items()
        } == {
            "a": (Change.HELD, 1),
            "b": (Change.HELD, 1),
        }
        assert "maxUnavailable is 0" in plan.held["a"]


def test_too_few_clusters_hold_updates_as_in_the_real_controller() -> None:
    plan = SimulatedClusters(dict.fromkeys("abcd", 1)).plan(picked("abcd", 2, target=6), DEFAULT)
    assert plan.held["a"] == "4 of 6 clusters must stay available, and 4 are"


def test_a_joining_cluster_does_not_wait_for_updates() -> None:
    plan = SimulatedClusters(dict.fromkeys("abcd", 1)).plan(picked("abcde", 2), ONE)
    assert waves(plan) == ["1:e", "2:a", "3:b", "4:c", "5:d"]
    assert plan.entries["e"].change is Change.ADD


def test_move_keeps_the_old_cluster_until_its_replacement_is_there() -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    first = world.update(picked("cd", 1), DEFAULT)
    assert (waves(first), first.removals, first.held_removals) == (["1:c"], ("a",), ("b",))
    assert first.held == {
        "b": "it stays until there is room for its replacement",
        "d": "maxSurge allows 3 clusters at a time, and 3 have it; the next update goes on",
    }
    assert first.entries["b"].placed == Placed(1, 1, 1)
    second = world.update(picked("cd", 1), DEFAULT)
    assert (waves(second), second.removals, second.held) == (["1:d"], ("b",), {})


def test_without_surge_the_old_cluster_goes_first() -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    updates = [world.update(picked("cd", 1), RollingUpdate(1, 0)) for _ in range(4)]
    assert [(waves(plan), plan.removals) for plan in updates] == [
        ([], ("a",)),
        (["1:c"], ("b",)),
        (["1:d"], ()),
        ([], ()),
    ]


def test_without_unavailability_additions_come_before_removals() -> None:
    plan = SimulatedClusters(dict.fromkeys("ab", 1)).plan(picked("cd", 1), RollingUpdate(0, 2))
    assert (waves(plan), plan.removals) == (["1:cd"], ("a", "b"))


def test_both_0_is_stuck_and_says_so() -> None:
    plan = SimulatedClusters(dict.fromkeys("ab", 1)).plan(picked("cd", 1), RollingUpdate(0, 0))
    assert (plan.waves, plan.removals, plan.held_removals) == ((), (), ("a", "b"))
    assert plan.held["c"].endswith("with maxUnavailable 0 as well, nothing can ever move")


def test_removal_beyond_the_budget_is_held_with_what_it_runs() -> None:
    plan = SimulatedClusters(dict.fromkeys("abcd", 1)).plan(picked("cd", 2, target=4), ONE)
    assert (plan.removals, plan.held_removals) == (("a",), ("b",))
    assert plan.entries["b"].placed == Placed(1, 1, 1)
    assert plan.held["b"] == "3 of 4 clusters must stay available, and 3 are"


@pytest.mark.parametrize("target", [None, 1])
def test_shrinking_is_one_update(target: int | None) -> None:
    plan = SimulatedClusters(dict.fromkeys("abcd", 1)).plan(picked("d", 1, target=target), DEFAULT)
    assert plan.removals == ("a", "b", "c")


def test_retry_keeps_waves_and_begins_with_the_one_that_broke() -> None:
    world, wanted = SimulatedClusters(dict.fromkeys("abcde", 1)), picked("abcde", 2)
    before = world.update(wanted, ONE, failing="c")
    retry = world.plan(wanted, ONE)
    assert waves(retry) == ["3:c", "4:d", "5:e"]
    assert retry.placed == before.placed


def test_new_content_after_a_failure_goes_to_the_broken_cluster_first() -> None:
    world = SimulatedClusters(dict.fromkeys("abcd", 1))
    world.update(picked("abcd", 2), ONE, failing="b")
    assert waves(world.plan(picked("abcd", 3), ONE)) == ["1:b", "2:a", "3:c", "4:d"]
    world.update(picked("abcd", 3), ONE, failing="b")
    assert waves(world.plan(picked("abcd", 4), ONE)) == ["1:b", "2:a", "3:c", "4:d"]


def test_held_clusters_never_get_what_failed_elsewhere() -> None:
    world = SimulatedClusters(dict.fromkeys("abcd", 1))
    world.update(picked("abcd", 2), ONE, failing="b")
    plan = world.plan(picked("abcd", 3), RollingUpdate(0, 0))
    runs = {name: placed.revision for name, placed in plan.placed.items()}
    assert runs == {"a": 2, "b": 3, "c": 1, "d": 1}


def test_going_back_repairs_what_broke_on_the_way() -> None:
    world = SimulatedClusters(dict.fromkeys("abc", 1))
    world.update(picked("abc", 2), ONE, failing="a")
    plan = world.plan(picked("abc", 1), ONE)
    assert waves(plan) == ["1:a"]
    assert {name: entry.change for name, entry in plan.entries.items()} == {
        "a": Change.UPDATE,
        "b": Change.KEEP,
        "c": Change.KEEP,
    }


def test_update_that_ended_right_after_the_decision_starts_again() -> None:
    world, wanted = SimulatedClusters(dict.fromkeys("abc", 1)), picked("abc", 2)
    world.previous = world.plan(wanted, ONE).placed
    assert waves(world.plan(wanted, ONE)) == ["1:a", "2:b", "3:c"]


def test_update_of_one_target_only_leaves_the_others_in_order() -> None:
    world, wanted = SimulatedClusters(dict.fromkeys("abcd", 1)), picked("abcd", 2)
    world.previous = world.plan(wanted, ONE).placed
    world.done["c"] = Done(2)
    assert waves(world.plan(wanted, ONE)) == ["1:a", "2:b", "4:d"]


@pytest.mark.parametrize(
    ("max_unavailable", "expected"),
    [(1, ["1:b", "2:c", "3:d", "4:e", "5:f"]), (3, ["1:b", "2:cd", "3:ef"])],
)
def test_waves_stay_as_long_as_they_fit_the_budget(
    max_unavailable: int, expected: list[str]
) -> None:
    world, wanted = SimulatedClusters(dict.fromkeys("abcdef", 1)), picked("abcdef", 2)
    world.update(wanted, RollingUpdate(2), failing="b")
    assert waves(world.plan(wanted, RollingUpdate(max_unavailable))) == expected


def test_new_content_gets_new_waves() -> None:
    world = SimulatedClusters(dict.fromkeys("abcd", 1))
    world.update(picked("abcd", 2), ONE)
    assert waves(world.plan(picked("abcd", 3), RollingUpdate(2))) == ["1:ab", "2:cd"]


def test_cluster_told_to_be_broken_goes_first() -> None:
    world, wanted = SimulatedClusters(dict.fromkeys("abcdef", 1)), picked("abcdef", 2)
    world.update(wanted, RollingUpdate(2), failing="cd")
    world.done["f"] = Done(1, broken=True)
    assert waves(world.plan(wanted, RollingUpdate(2))) == ["1:cdf", "2:e"]


def test_broken_clusters_use_up_the_budget_even_where_others_serve_in_their_place() -> None:
    world = SimulatedClusters(dict.fromkeys("abcxy", 1))
    world.done["a"] = Done(1, broken=True)
    assert waves(world.plan(picked("abc", 2), ONE)) == ["1:a", "2:b", "3:c"]


def test_addition_that_broke_comes_before_others() -> None:
    world = SimulatedClusters(dict.fromkeys("xy", 1))
    world.update(picked("cd", 1), ONE, failing="c")
    assert waves(world.plan(picked("bc", 2), ONE)) == ["1:c"]


def test_wave_behind_a_lost_member_was_not_begun() -> None:
    world = SimulatedClusters(dict.fromkeys("abcd", 1))
    world.update(picked("abcd", 2), RollingUpdate(1), failing="a")
    world.done["a"] = Done(1, lost=True)
    assert waves(world.plan(picked("bcd", 3), RollingUpdate(1))) == ["1:b", "2:c", "3:d"]


def test_broken_cluster_is_left_freely() -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    world.update(picked("ab", 2), ONE, failing="a")
    plan = world.plan(picked("bc", 2), RollingUpdate(0, 0))
    assert plan.removals == ("a",)


def test_lost_member_is_left_at_once_and_its_work_moves_in_the_same_update() -> None:
    world = SimulatedClusters(dict.fromkeys("abc", 1))
    world.done["a"] = Done(1, lost=True)
    plan = world.plan(picked("bcd", 1, target=3), RollingUpdate(0, 0))
    assert (waves(plan), plan.removals) == (["1:d"], ("a",))


def test_lost_member_that_is_still_picked_is_sent_nothing() -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    world.done["a"] = Done(1, lost=True)
    plan = world.plan(picked("ab", 2), RollingUpdate("100%"))
    assert waves(plan) == ["1:b"]
    assert plan.entries["a"].placed == Placed(0, 1, 1)
    assert plan.held["a"] == "the member is marked lost, nothing is sent to it"


def test_cluster_that_comes_back_is_updated() -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    world.update(picked("a", 1, target=2), RollingUpdate(0, 0))
    plan = world.plan(picked("ab", 2), ONE)
    assert waves(plan) == ["1:a", "2:b"]


def test_half_reached_cluster_that_is_no_longer_picked_is_removed() -> None:
    world = SimulatedClusters()
    world.update(picked("ab", 1), ONE, failing="b")
    assert world.plan(picked("a", 1), ONE).removals == ("b",)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("ab", [Wave(1, ("a",), 30), Wave(2, ("b",), 0)]),
        ("a", [Wave(1, ("a",), 30)]),
    ],
)
def test_untrackable_content_waits_whenever_something_follows(
    names: str, expected: list[Wave]
) -> None:
    world = SimulatedClusters(dict.fromkeys("ab", 1))
    plan = world.plan(picked(names, 2), RollingUpdate(1, 1, 30), untrackable=True)
    assert list(plan.waves) == expected
    assert not any(
        w.wait_seconds for w in world.plan(picked(names, 2), RollingUpdate(1, 1, 30)).waves
    )
