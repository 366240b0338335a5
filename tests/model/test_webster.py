"""Dividing by the Webster method."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.systems.karmada.model.webster import divide, larger_names_first
from tests.vectors import vectors

WEIGHTS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.integers(0, 2**40) | st.integers(0, 4), min_size=1
)
TOTALS = st.integers(0, 60)
UIDS = st.sampled_from(["", "u", "v", "w"])


def _one_by_one(total: int, weights: dict[str, int], uid: str) -> dict[str, int]:
    """The definition: seat after seat to the highest weight / (2 * seats + 1)."""
    names = sorted(weights, reverse=larger_names_first(uid))
    seats = dict.fromkeys(names, 0)
    queue = [(-float(weights[name]), 0, place, name) for place, name in enumerate(names)]
    heapq.heapify(queue)
    for _ in range(total):
        *_, place, name = queue[0]
        seats[name] += 1
        heapq.heapreplace(
            queue, (-(weights[name] / (2 * seats[name] + 1)), seats[name], place, name)
        )
    return dict(sorted(seats.items()))


@settings(max_examples=300)
@given(TOTALS, WEIGHTS, UIDS)
def test_it_is_what_handing_out_one_by_one_gives(
    total: int, weights: dict[str, int], uid: str
) -> None:
    expected = _one_by_one(total, weights, uid) if any(weights.values()) else {}
    assert divide(total, weights, uid) == expected


@given(TOTALS, WEIGHTS, UIDS)
def test_everything_is_handed_out_and_more_takes_from_nobody(
    total: int, weights: dict[str, int], uid: str
) -> None:
    before, after = divide(total, weights, uid), divide(total + 1, weights, uid)
    if any(weights.values()):
        assert sum(before.values()) == total
        assert sorted(after[name] - before[name] for name in weights) == [0] * (
            len(weights) - 1
        ) + [1]


@pytest.mark.parametrize(
    ("total", "weights", "uid", "expected"),
    [
        (12, {"a": 6, "b": 12, "c": 18}, "", {"a": 2, "b": 4, "c": 6}),
        (5, {"a": 1, "b": 1}, "", {"a": 3, "b": 2}),
        (5, {"a": 1, "b": 1}, "b", {"a": 2, "b": 3}),
        (5, {"a": 1, "b": 0}, "", {"a": 5, "b": 0}),
        (5, {"a": 0, "b": 0}, "", {}),
        (0, {"a": 1}, "", {"a": 0}),
        (3, {}, "", {}),
    ],
)
def test_divisions(total: int, weights: dict[str, int], uid: str, expected: dict[str, int]) -> None:
    assert divide(total, weights, uid) == expected


@pytest.mark.parametrize(
    ("uid", "larger"), [("", False), ("a", False), ("b", True), ("foobar", False)]
)
def test_ties_follow_the_hash_of_the_uid(uid: str, larger: bool) -> None:
    # 32-bit FNV-1a: "a" is e40c292c, "b" e70c2de5, "foobar" bf9cf968.
    assert larger_names_first(uid) is larger


def test_static_weights_divide_as_the_real_scheduler_did() -> None:
    cases = vectors("karmada/scheduling")
    compared = 0
    for case in cases:
        weights = _static_weights(case)
        outcome = case["outcomes"][0]
        if weights and outcome["scheduled"] and outcome["condition"]["reason"] == "Success":
            # Clusters without replicas are listed only where the scheduler is told to.
            expected = {it["name"]: it["replicas"] for it in outcome["clusters"] if it["replicas"]}
            found = divide(case["replicas"], weights, case["uid"])
            assert {name: count for name, count in found.items() if count} == expected, case["name"]
            compared += 1
    assert compared > 10


def _static_weights(case: dict[str, object]) -> dict[str, int]:
    """The weights by member, where the case is one of static weights by name over all members alone."""
    placement = case["placement"]
    assert isinstance(placement, dict)
    if set(placement) != {"replicaScheduling"} or not case.get("replicas"):
        return {}
    scheduling = placement["replicaScheduling"]
    kind = (scheduling.get("replicaSchedulingType"), scheduling.get("replicaDivisionPreference"))
    preference = scheduling.get("weightPreference") or {}
    rules = preference.get("staticWeightList") or ()
    if kind not in (("Divided", "Weighted"), ("Divided", None)) or preference.get("dynamicWeight"):
        return {}
    if any(set(rule["targetCluster"]) != {"clusterNames"} for rule in rules):
        return {}
    clusters = case["clusters"]
    assert isinstance(clusters, list)
    if any(cluster["spec"].get("taints") for cluster in clusters):
        return {}
    weights = {cluster["metadata"]["name"]: 0 for cluster in clusters}
    for rule in rules:
        for name in weights.keys() & set(rule["targetCluster"]["clusterNames"]):
            weights[name] = max(weights[name], rule["weight"])
    return weights if any(weights.values()) else dict.fromkeys(weights, 1)
