"""How PickN ranks members: preferred terms, interpolation, rounding, ties."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.model.cluster import Cluster, Taint
from tests.scheduler.kubefleet.builders import (
    by,
    label,
    labelled,
    pick_n,
    preferring,
    run,
    scores,
    valued,
)


def affinity_of(members: list[Cluster], *terms: tuple[int, Any]) -> dict[str, int | None]:
    """The affinity score of every member."""
    return {
        name: score for name, (score, _) in scores(run(members, preferring(99, *terms))).items()
    }


@pytest.mark.parametrize(
    ("terms", "score"),
    [
        ([(20, label(env="prod"))], 20),
        ([(20, label(env="test"))], 0),
        ([(20, {})], 20),
        ([(20, {"labelSelector": {}})], 20),
        ([(20, label(env="prod")), (-5, label(zone="1")), (7, label(zone="2"))], 15),
        ([(-100, label(env="prod"))], -100),
        ([(0, label(env="prod"))], 0),
    ],
)
def test_weights_of_matching_terms_add_up(terms: list[Any], score: int) -> None:
    assert affinity_of(labelled(m={"env": "prod", "zone": "1"}), *terms) == {"m": score}


@pytest.mark.parametrize(
    ("weight", "order", "expected"),
    [
        (100, "Descending", {"a": 0, "b": 50, "c": 100, "none": 0}),
        (100, "Ascending", {"a": 100, "b": 50, "c": 0, "none": 0}),
        (-100, "Descending", {"a": 0, "b": -50, "c": -100, "none": 0}),
        (1, "Descending", {"a": 0, "b": 1, "c": 1, "none": 0}),  # a half is rounded away from zero
        (-1, "Descending", {"a": 0, "b": -1, "c": -1, "none": 0}),
        (5, "Descending", {"a": 0, "b": 3, "c": 5, "none": 0}),
        (-5, "Ascending", {"a": -5, "b": -3, "c": 0, "none": 0}),
    ],
)
def test_sorters_interpolate_between_least_and_most(
    weight: int, order: str, expected: dict[str, int]
) -> None:
    members = valued(a="-1", b="1", c="3000m", none=None)
    assert affinity_of(members, (weight, by("p", order))) == expected


def test_thirds_are_rounded_term_by_term() -> None:
    members = valued(a="0", b="1", c="3")
    assert affinity_of(members, (1, by("p")), (1, by("p")), (1, by("p"))) == {
        "a": 0,
        "b": 0,
        "c": 3,
    }
    assert affinity_of(members, (50, by("p")), (50, by("p", "Ascending"))) == {
        "a": 50,
        "b": 50,
        "c": 50,
    }


@pytest.mark.parametrize("order", ["Ascending", "Descending"])
def test_equal_values_give_nothing(order: str) -> None:
    assert affinity_of(valued(a="1", b="1000m"), (10, by("p", order))) == {"a": 0, "b": 0}
    assert affinity_of(valued(a=None), (10, by("p", order))) == {"a": 0}


def test_extremes_are_those_of_the_whole_fleet() -> None:
    beyond = [
        Cluster("tainted", properties={"p": "0"}, taints=(Taint("k"),)),
        Cluster("leaving", properties={"p": "10"}, leaving=True),
    ]
    assert affinity_of([*valued(a="5", b="8"), *beyond], (10, by("p"))) == {"a": 5, "b": 8}


def test_a_sorter_counts_only_where_its_labels_match() -> None:
    members = [
        Cluster("a", labels={"env": "prod"}, properties={"p": "1"}),
        Cluster("b", properties={"p": "2"}),
    ]
    extremes = [Cluster("c", properties={"p": "0"})]
    term = (10, {**label(env="prod"), **by("p")})
    assert affinity_of([*members, *extremes], term) == {"a": 5, "b": 0, "c": 0}


def test_every_property_has_extremes_of_its_own() -> None:
    members = [
        Cluster("a", properties={"p": "1", "q": "10"}),
        Cluster("b", properties={"p": "2", "q": "30"}),
    ]
    members += [Cluster("c", properties={"p": "3", "q": "50"})]
    assert affinity_of(members, (10, by("p")), (100, by("q"))) == {"a": 0, "b": 55, "c": 110}


def test_the_best_are_picked_and_ties_go_to_the_later_name() -> None:
    members = labelled(a={"env": "prod"}, b={}, c={"env": "prod"}, d={}, e={"env": "prod"})
    assert run(members, preferring(4, (10, label(env="prod")))).memory.selected == (
        "e",
        "c",
        "a",
        "d",
    )
    assert run(members, pick_n(2)).memory.selected == ("e", "d")


def test_on_a_tie_a_member_of_the_former_policy_stays() -> None:
    members = labelled(a={"env": "prod"}, b={}, c={})
    before = run(members[:1], pick_n(1)).memory.settled()
    assert run(members, preferring(1, (5, {})), before).memory.selected == ("a",)
    assert run(members, preferring(1, (-5, label(env="prod"))), before).memory.selected == ("c",)
