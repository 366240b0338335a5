"""Spread constraints: how many members, out of which regions."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.systems.karmada.model.memory import TemplateMemory
from tests.scheduler.karmada.builders import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    clusters,
    decide,
    deployment,
    fleet,
    member,
    message,
    placement,
    spread,
    static,
)

SIZES = {"a": 40, "b": 30, "c": 60, "d": 10}


@pytest.mark.parametrize(
    ("scheduling", "most", "replicas", "expected"),
    [
        # The largest first; where that is too little, the last is exchanged for what is larger.
        (AGGREGATED, 2, 80, {"c": 60, "a": 40}),
        (DUPLICATED, 2, 80, {"c": 60, "a": 40}),
        (DUPLICATED, 9, 1, {"a": 40, "b": 30, "c": 60, "d": 10}),
    ],
)
def test_by_cluster_takes_the_largest(
    scheduling: Any, most: int, replicas: int, expected: dict[str, int]
) -> None:
    where = placement(scheduling, spreadConstraints=[spread("cluster", 1, most)])
    assert (
        clusters(decide("abcd", deployment(replicas), where, available=SIZES)).keys()
        == expected.keys()
    )


def test_targets_are_exchanged_for_larger_members_when_replicas_do_not_fit() -> None:
    where = placement(DYNAMIC, spreadConstraints=[spread("cluster", 1, 2)])
    memory = TemplateMemory(uid="a", clusters={"b": 5, "d": 5}, placement=where, scheduled=True)
    sizes = {"a": 25, "b": 30, "c": 60, "d": 10}
    assert clusters(decide("abcd", deployment(40), where, memory, available=sizes)).keys() == {
        "b",
        "d",
    }
    assert clusters(decide("abcd", deployment(80), where, memory, available=sizes)).keys() == {
        "b",
        "c",
    }


TOO_FEW_CLUSTERS = "the number of feasible clusters is less than spreadConstraint.MinGroups"
TOO_FEW_REGIONS = "the number of feasible region is less than spreadConstraint.MinGroups"
NOTHING_SELECTED = "no clusters available to schedule"
TOO_SMALL_REGIONS = "the number of clusters is less than the cluster spreadConstraint.MinGroups"


@pytest.mark.parametrize(
    ("scheduling", "constraints", "replicas", "error"),
    [
        (DYNAMIC, [spread("cluster", 5, 9)], 1, TOO_FEW_CLUSTERS),
        (
            AGGREGATED,
            [spread("cluster", 1, 2)],
            101,
            "no enough resource when selecting 2 clusters",
        ),
        (AGGREGATED, [spread("cluster", 1, 0)], 1, "no enough resource when selecting 0 clusters"),
        (DUPLICATED, [spread("cluster", 1, 0)], 1, NOTHING_SELECTED),
        (DUPLICATED, [spread("region", 3, 3), spread("cluster", 1, 9)], 1, TOO_FEW_REGIONS),
        (DUPLICATED, [spread("region", 1, 1), spread("cluster", 4, 9)], 1, TOO_SMALL_REGIONS),
        (DUPLICATED, [spread("region", 1, 0), spread("cluster", 1, 9)], 1, TOO_SMALL_REGIONS),
        (
            DUPLICATED,
            [spread("zone", 1, 1)],
            1,
            "just support cluster and region spread constraint",
        ),
    ],
)
def test_constraints_that_cannot_be_met(
    scheduling: Any, constraints: Any, replicas: int, error: str
) -> None:
    members = fleet(
        *(member(name, region=region) for name, region in zip("abcd", "xxyy", strict=True))
    )
    if constraints[0]["spreadByField"] == "zone":
        members = fleet(*(attrs.evolve(member(name), zones=("z",)) for name in "abcd"))
    where = placement(scheduling, spreadConstraints=constraints)
    decision = decide(members, deployment(replicas), where, available=SIZES)
    doing = "assign replicas" if error == NOTHING_SELECTED else "select clusters"
    assert message(decision) == f"failed to {doing}: {error}"
    assert decision.status.condition
    assert decision.status.condition.reason == "SchedulerError"
    assert decision.status.retry


def test_static_weights_ignore_constraints_but_an_empty_preference_does_not() -> None:
    constraints = [spread("cluster", 1, 1)]
    ignoring = [
        static(a=1, b=1),
        {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"},
    ]
    for scheduling in ignoring:
        where = placement(scheduling, spreadConstraints=constraints)
        assert clusters(decide("ab", deployment(2), where)) == {"a": 1, "b": 1}
    empty = placement({**ignoring[1], "weightPreference": {}}, spreadConstraints=constraints)
    assert clusters(decide("ab", deployment(2), empty, available={"a": 5, "b": 5})) == {"a": 2}


REGIONS = fleet(
    member("e1", "east"),
    member("e2", "east"),
    member("e3", "east"),
    member("n1", "north"),
    member("s1", "south"),
    member("s2", "south"),
)
ROOM = {"e1": 1, "e2": 1, "e3": 1, "n1": 50, "s1": 9, "s2": 8}


@pytest.mark.parametrize(
    ("scheduling", "regions", "members", "replicas", "expected"),
    [
        # A member of each region, whatever the number of members asked for.
        (DUPLICATED, (2, 2), (1, 1), 9, {"n1", "s1"}),
        # Duplicated: the region where more members can take all of it.
        (DUPLICATED, (1, 1), (1, 9), 8, {"s1", "s2"}),
        (DUPLICATED, (1, 1), (3, 9), 8, {"e1", "e2", "e3"}),
        (DUPLICATED, (2, 2), (3, 3), 8, {"n1", "s1", "s2"}),
        # Divided: the region that can take its share.
        (DYNAMIC, (1, 1), (1, 9), 20, {"n1"}),
        (DYNAMIC, (1, 1), (2, 9), 17, {"s1", "s2"}),
        (DYNAMIC, (2, 2), (1, 9), 30, {"n1", "s1", "s2"}),
        # Equal scores: more members.
        (DYNAMIC, (1, 3), (1, 9), 12, {"s1", "s2"}),
    ],
)
def test_by_region(
    scheduling: Any,
    regions: tuple[int, int],
    members: tuple[int, int],
    replicas: int,
    expected: set[str],
) -> None:
    where = placement(
        scheduling, spreadConstraints=[spread("region", *regions), spread("cluster", *members)]
    )
    assert clusters(decide(REGIONS, deployment(replicas), where, available=ROOM)).keys() == expected


def test_a_set_of_regions_that_begins_a_better_one_is_preferred() -> None:
    where = placement(DYNAMIC, spreadConstraints=[spread("region", 1, 3), spread("cluster", 2, 9)])
    room = {**ROOM, "s1": 40, "n1": 9}
    # South and north together score more, but south alone has enough members.
    assert clusters(decide(REGIONS, deployment(40), where, available=room)).keys() == {"s1", "s2"}


def test_sixty_regions_are_no_matter() -> None:
    members = fleet(*(member(f"m{number:03}", f"r{number % 60:02}") for number in range(240)))
    room = {cluster.name: place * 7 % 31 for place, cluster in enumerate(members.clusters)}
    where = placement(
        DUPLICATED, spreadConstraints=[spread("region", 6, 8), spread("cluster", 6, 12)]
    )
    # All 50 million sets of six regions are never tried.
    assert len(clusters(decide(members, deployment(9), where, available=room))) == 12


def test_regions_do_not_look_at_capacity_so_the_division_may_fail() -> None:
    where = placement(DYNAMIC, spreadConstraints=[spread("region", 1, 1), spread("cluster", 3, 3)])
    assert message(decide(REGIONS, deployment(30), where, available=ROOM)) == (
        "failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule."
    )


def test_duplicated_may_settle_elsewhere_after_its_first_evaluation() -> None:
    room = {"member1": 121, "member2": 0, "member3": 10, "member4": 0, "member5": 0}
    regions = ("us-east", "eu-west", "ap-south", "eu-north", "us-east")
    members = fleet(*(member(name, region) for name, region in zip(room, regions, strict=True)))
    where = placement(
        DUPLICATED, spreadConstraints=[spread("region", 1, 2), spread("cluster", 2, 4)]
    )
    decision = decide(members, deployment(7), where, available=room)
    assert [event.message.partition("Result: ")[2] for event in decision.status.events] == [
        "{member3:7, member1:7, member5:7}",
        "{member1:7, member5:7}",
    ]
