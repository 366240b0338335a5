"""Division of replicas: by static weights, by what members can take, over as few members as possible."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.scheduler.division import shortest_prefix
from fleet_components.systems.karmada.scheduler.go_sort import descending
from tests.scheduler.karmada.builders import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    clusters,
    decide,
    deployment,
    fleet,
    message,
    placement,
    static,
    with_pods,
)

ODD, EVEN = "b", "a"


def held(where: Any, **replicas: int) -> TemplateMemory:
    """What is remembered of a template that is placed already."""
    return TemplateMemory(uid=EVEN, placement=placement(where), clusters=replicas, scheduled=True)


@pytest.mark.parametrize(
    ("scheduling", "replicas", "expected"),
    [
        (DUPLICATED, 3, {"a": 3, "b": 3, "c": 3}),
        (None, 3, {"a": 3, "b": 3, "c": 3}),
        (static(a=1, b=2), 9, {"a": 3, "b": 6}),
        (static(a=1, b=3), 9, {"a": 2, "b": 7}),
        (static(a=1, b=99), 2, {"b": 2}),
        (static(nobody=1), 4, {"a": 2, "b": 1, "c": 1}),
        (
            {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"},
            3,
            {"a": 1, "b": 1, "c": 1},
        ),
        (
            {**static(a=5), "weightPreference": {"dynamicWeight": "AvailableReplicas"}},
            12,
            {"a": 2, "b": 4, "c": 6},
        ),
        (DYNAMIC, 12, {"a": 2, "b": 4, "c": 6}),
        (AGGREGATED, 12, {"c": 12}),
        (AGGREGATED, 30, {"b": 12, "c": 18}),
        (AGGREGATED, 31, {"a": 5, "b": 10, "c": 16}),
    ],
)
def test_first_division(scheduling: Any, replicas: int, expected: dict[str, int]) -> None:
    room = {"a": 6, "b": 12, "c": 18}
    assert (
        clusters(decide("abc", deployment(replicas), placement(scheduling), available=room))
        == expected
    )


def test_the_largest_weight_of_all_matching_rules_counts() -> None:
    rules = [
        {"targetCluster": {"clusterNames": ["a", "b"]}, "weight": 1},
        {"targetCluster": {"clusterNames": ["b"]}, "weight": 3},
        {"targetCluster": {}, "weight": 2},
    ]
    where = placement({**static(), "weightPreference": {"staticWeightList": rules}})
    assert clusters(decide("abc", deployment(7), where)) == {"a": 2, "b": 3, "c": 2}


@pytest.mark.parametrize(
    ("uid", "expected"), [(EVEN, {"a": 2, "b": 1}), (ODD, {"a": 1, "b": 2}), ("", {"a": 2, "b": 1})]
)
def test_ties_depend_on_the_uid(uid: str, expected: dict[str, int]) -> None:
    assert (
        clusters(decide("ab", deployment(3), placement(static(a=1, b=1)), TemplateMemory(uid=uid)))
        == expected
    )


@pytest.mark.parametrize(
    ("scheduling", "before", "replicas", "room", "expected"),
    [
        # Up: only what is missing is divided, by what the members can still take.
        (DYNAMIC, {"a": 4, "b": 2}, 9, {"a": 0, "b": 3, "c": 3}, {"a": 4, "b": 4, "c": 1}),
        (AGGREGATED, {"a": 2}, 4, {"a": 2, "b": 50}, {"a": 4}),
        (AGGREGATED, {"a": 2}, 5, {"a": 2, "b": 50}, {"a": 2, "b": 3}),
        # Down: by what they have.
        (DYNAMIC, {"a": 6, "b": 3}, 3, {}, {"a": 2, "b": 1}),
        (AGGREGATED, {"a": 2, "b": 7}, 5, {}, {"b": 5}),
        # No change of the sum: nothing moves, whatever the room.
        (AGGREGATED, {"a": 2, "b": 7}, 9, {"c": 99}, {"a": 2, "b": 7}),
        # Static weights always start anew.
        (static(a=1, b=1), {"a": 9, "c": 1}, 4, {}, {"a": 2, "b": 2}),
        # To nothing.
        (DYNAMIC, {"a": 6, "b": 3}, 0, {}, {}),
    ],
)
def test_scaling(
    scheduling: Any,
    before: dict[str, int],
    replicas: int,
    room: dict[str, int],
    expected: dict[str, int],
) -> None:
    template = deployment(replicas, {})
    decision = decide(
        "abc", template, placement(scheduling), held(scheduling, **before), available=room
    )
    assert clusters(decision) == expected


def test_a_rebalance_divides_everything_anew() -> None:
    before = held(DYNAMIC, a=8, b=1)
    decision = decide(
        "ab",
        deployment(9),
        placement(DYNAMIC),
        before,
        available={"a": 0, "b": 15},
        rebalances={"now"},
    )
    assert clusters(decision) == {"a": 3, "b": 6}
    assert decision.memory.rebalances == ("now",)


@pytest.mark.parametrize(
    ("before", "options", "error"),
    [
        ({}, {}, "failed to scale up: Clusters available replicas 7 are not enough to schedule."),
        (
            {"a": 2},
            {},
            "failed to scale up: Clusters available replicas 7 are not enough to schedule.",
        ),
        (
            {"a": 2},
            {"rebalances": {"r"}},
            "failed to do fresh scale: Clusters available replicas 9 are not enough to schedule.",
        ),
    ],
)
def test_too_little_room_keeps_what_is(before: dict[str, int], options: Any, error: str) -> None:
    room = {"a": 4, "b": 3}
    decision = decide(
        "ab", deployment(20), placement(DYNAMIC), held(DYNAMIC, **before), available=room, **options
    )
    assert message(decision) == f"failed to assign replicas: {error}"
    assert clusters(decision) == before
    assert decision.memory.rebalances == ()
    assert decision.status.condition
    assert decision.status.condition.reason == "Unschedulable"
    assert decision.status.retry


def test_what_is_no_workload_goes_everywhere_without_replicas() -> None:
    for scheduling in (None, DUPLICATED, DYNAMIC, static(a=1)):
        assert clusters(decide("ab", deployment(0), placement(scheduling))) == {"a": 0, "b": 0}


def test_a_workload_without_replicas_goes_nowhere_unless_empty_ones_are_wanted() -> None:
    for scheduling in (DUPLICATED, DYNAMIC, static(a=1)):
        assert clusters(decide("ab", deployment(0, {}), placement(scheduling))) == {}
        wanted = decide("ab", deployment(0, {}), placement(scheduling), empty_workloads=True)
        assert clusters(wanted) == {"a": 0, "b": 0}


def test_members_without_bounds_overflow_as_in_karmada() -> None:
    decision = decide(
        "ab", deployment(0, {}), placement(DYNAMIC), held(DYNAMIC, a=0), rebalances={"r"}
    )
    assert message(decision).endswith("Clusters available replicas -2 are not enough to schedule.")


OVERFLOW = {
    "clusterAffinities": [
        {
            "affinityName": "own",
            "clusterNames": ["a", "b"],
            "overflowAffinities": [
                {"affinityName": "first", "clusterNames": ["b", "c"]},
                {"affinityName": "second", "clusterNames": ["d"]},
            ],
        }
    ]
}


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        (6, {"a": 4, "b": 2}),
        (9, {"a": 6, "b": 3}),
        (11, {"a": 6, "b": 3, "c": 2}),
        (20, {"a": 6, "b": 3, "c": 6, "d": 5}),
    ],
)
def test_overflow_fills_the_members_tier_by_tier(replicas: int, expected: dict[str, int]) -> None:
    room = {"a": 6, "b": 3, "c": 6, "d": 9}
    where = placement(DYNAMIC, **OVERFLOW)
    decision = decide("abcd", deployment(replicas), where, capacity=room)
    assert clusters(decision) == expected
    smaller = decide("abcd", deployment(5), where, decision.memory, capacity=room)
    assert clusters(smaller).keys() == {"a", "b"}  # the last tiers are emptied first


def test_overflow_ends() -> None:
    decision = decide(
        "abcd", deployment(25), placement(DYNAMIC, **OVERFLOW), capacity=dict.fromkeys("abcd", 6)
    )
    assert (
        message(decision)
        == "failed to assign replicas: Clusters available replicas are not enough to schedule."
    )


def test_what_is_no_workload_never_overflows() -> None:
    assert clusters(decide("abcd", deployment(0), placement(DYNAMIC, **OVERFLOW))) == {
        "a": 0,
        "b": 0,
    }


def test_where_a_prefix_ends_among_equals_the_sort_decides() -> None:
    # Go's sort does not keep the order of the seven members that can take two.
    room = {f"m{number:02}": number % 2 + 1 for number in range(14)}
    assert list(shortest_prefix(room, set(), 6)) == ["m09", "m01", "m13"]
    assert list(shortest_prefix(room, {"m12", "m04", "m05"}, 7)) == [
        "m05",
        "m12",
        "m04",
        "m09",
        "m01",
    ]
    assert len(shortest_prefix(room, set(), 99)) == 14


AGAINST_QUICKSORT = [
    *(5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 6, 5, 0, 1, 0, 1, 1, 4, 0, 0),
    *(5, 2, 2, 0, 3, 3, 2, 0, 0, 1, 1, 0, 0, 0, 0, 0, 2, 0, 0, 1),
]
"""Weights of which every pivot is a bad one, so that the last thirteen are sorted as a heap."""
BY_HEAP_SORT = [
    *(10, 20, 0, 3, 4, 5, 6, 7, 8, 2, 1, 11, 17, 9, 25, 24, 36, 22, 21, 26),
    *(30, 16, 39, 29, 15, 13, 35, 19, 28, 32, 12, 33, 23, 34, 31, 27, 37, 38, 14, 18),
]
"""Their order as measured with ``sort.Sort`` of Go."""


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        ([1, 3, 2], [1, 2, 0]),
        ([5] * 12, list(range(12))),
        ([0, 1] * 7, [9, 1, 13, 3, 7, 5, 11, 12, 6, 0, 10, 8, 4, 2]),
        (AGAINST_QUICKSORT, BY_HEAP_SORT),
        ([18, 19, *reversed(range(18))], [1, 0, *range(2, 20)]),
    ],
)
def test_go_sort(weights: list[int], order: list[int]) -> None:
    assert descending(weights) == order


def test_summaries_of_members_are_enough_to_divide() -> None:
    members = fleet(with_pods("a", 6), with_pods("b", 12), with_pods("c", 18))
    decision = decide(members, deployment(12), placement(DYNAMIC))
    assert [division.words for division in decision.status.divisions] == [
        "12 replicas over a, b, c by available replicas 6:12:18 -> 2, 4, 6"
    ]
