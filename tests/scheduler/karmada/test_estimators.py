"""How many replicas members can take."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import pytest

from fleet_components.model.cluster import Cluster, ResourceModel, ResourceSummary
from fleet_components.systems.karmada.model.cluster import DEFAULT_MODELS, grade_of, summarize
from fleet_components.systems.karmada.model.template import Estimates
from fleet_components.systems.karmada.scheduler.estimator import MAX_INT32, allocatable, estimate
from fleet_components.systems.karmada.scheduler.state import KarmadaState
from tests.scheduler.karmada.builders import (
    AGGREGATED,
    DYNAMIC,
    clusters,
    decide,
    deployment,
    fleet,
    message,
    placement,
    with_pods,
)

FREE = ResourceSummary({"cpu": "10", "memory": "20Gi", "pods": "30", "nvidia.com/gpu": "4"})


def general(
    summary: ResourceSummary | None, requests: Mapping[str, str] | None, **fields: object
) -> int:
    cluster = attrs.evolve(Cluster("a", resource_summary=summary), **fields)  # type: ignore[arg-type]
    return estimate(fleet(cluster), requests)[0]


@pytest.mark.parametrize(
    ("summary", "requests", "fits"),
    [
        (None, None, 0),
        (FREE, None, 30),
        (FREE, {}, 30),
        (FREE, {"cpu": "500m"}, 20),
        (FREE, {"cpu": "300m"}, 30),
        (FREE, {"cpu": "1", "memory": "3Gi"}, 6),
        (FREE, {"nvidia.com/gpu": "1"}, 4),
        (FREE, {"cpu": "0", "memory": "0"}, 30),
        # What a member does not have cannot be requested, not even where it does not say how many pods it takes.
        (FREE, {"ephemeral-storage": "1Gi"}, 0),
        (ResourceSummary({"cpu": "10"}), None, 0),
        (ResourceSummary({"cpu": "10", "pods": "0"}), {"cpu": "1"}, 0),
        (
            ResourceSummary(
                {"cpu": "10", "pods": "9"}, {"cpu": "4", "pods": "2"}, {"cpu": "3500m", "pods": "1"}
            ),
            {"cpu": "1"},
            2,
        ),
        (ResourceSummary({"cpu": "10", "pods": "9"}, {"pods": "12"}), None, 0),
        (ResourceSummary({"cpu": "1", "pods": "9"}, {"cpu": "2"}), {"cpu": "1"}, 0),
    ],
)
def test_sums(
    summary: ResourceSummary | None, requests: Mapping[str, str] | None, fits: int
) -> None:
    assert general(summary, requests) == fits


@pytest.mark.parametrize(
    ("nodes", "requests", "fits"),
    [
        # Lower bounds of the default grades: (1, 4Gi), (2, 16Gi), (4, 32Gi), (8, 64Gi), ...
        ({1: 4, 2: 1, 0: 1}, {"cpu": "1"}, 6),
        ({0: 5}, {"cpu": "1m"}, 0),
        ({3: 2}, {"cpu": "1", "memory": "16Gi"}, 4),
        ({3: 2}, {"cpu": "3"}, 2),
        # No model knows extended resources, so nothing fits however much there is.
        ({3: 2}, {"nvidia.com/gpu": "1"}, 0),
        # A node takes 110 pods at most, the member as many as it has free.
        ({8: 1}, {"cpu": "1m"}, 110),
        ({8: 9}, {"cpu": "1m"}, 200),
        ({3: 2}, {}, 200),
        ({3: 0}, {"cpu": "1"}, 0),
        ({12: 5}, {"cpu": "1"}, 0),
        # Without collected grades the sums count.
        ({}, {"cpu": "1"}, 64),
        (None, {"cpu": "1"}, 64),
    ],
)
def test_resource_models(
    nodes: Mapping[int, int] | None, requests: Mapping[str, str], fits: int
) -> None:
    summary = ResourceSummary(
        {"cpu": "64", "pods": "200", "nvidia.com/gpu": "8"}, nodes_by_grade=nodes
    )
    assert general(summary, requests) == fits


def test_models_of_ones_own_replace_the_default_ones() -> None:
    summary = ResourceSummary({"cpu": "64", "pods": "200"}, nodes_by_grade={1: 3})
    models = (ResourceModel(0, {"nvidia.com/gpu": "0"}), ResourceModel(1, {"nvidia.com/gpu": "2"}))
    assert general(summary, {"nvidia.com/gpu": "1"}, resource_models=models) == 6
    assert general(summary, {"cpu": "2"}, resource_models=()) == 32


def test_without_requirements_free_pods_count_whatever_the_models_say() -> None:
    assert general(ResourceSummary({"pods": "7"}, nodes_by_grade={0: 1}), None) == 7


@pytest.mark.parametrize(
    ("free", "grade"),
    [
        ({"cpu": "6", "memory": "64Gi"}, 3),
        ({"cpu": "16", "memory": "8Gi"}, 1),
        ({"cpu": "500m", "memory": "64Gi"}, 0),
        ({"cpu": "200", "memory": "2Ti"}, 8),
        ({"cpu": "4"}, 0),
    ],
)
def test_grade_is_the_least_of_its_resources(free: Mapping[str, str], grade: int) -> None:
    assert grade_of(free) == grade


def test_a_member_is_summarized_from_its_nodes() -> None:
    node = {"cpu": "5820m", "memory": "28Gi", "pods": "110"}
    summary = summarize([(3, node), (1, {**node, "cpu": "1"})])
    assert summary.allocatable == {"cpu": "18460m", "memory": str(4 * 28 * 2**30), "pods": "440"}
    assert summary.nodes_by_grade == {grade: {1: 1, 2: 3}.get(grade, 0) for grade in range(9)}
    assert general(summary, {"cpu": "1"}) == 1 + 3 * 2
    assert [model.grade for model in DEFAULT_MODELS] == list(range(9))


def test_recorded_numbers() -> None:
    where = placement(DYNAMIC)
    state = KarmadaState(
        fleet("a", "b", "c"), deployment(7), where, estimates=Estimates({"a": 3, "b": -1})
    )
    assert allocatable(state) == [3, 7, 7]  # who is not known can take all
    unbounded = attrs.evolve(state, template=deployment(0, {}))
    assert allocatable(unbounded) == [MAX_INT32] * 3


def test_capacity_includes_what_a_member_has() -> None:
    first = decide("ab", deployment(6), placement(AGGREGATED), capacity={"a": 4, "b": 4})
    assert clusters(first) == {"a": 3, "b": 3}
    more = decide(
        "ab", deployment(9), placement(AGGREGATED), first.memory, capacity={"a": 4, "b": 4}
    )
    assert message(more).endswith("Clusters available replicas 2 are not enough to schedule.")


def test_the_general_estimator_is_used_where_nothing_is_recorded() -> None:
    members = fleet(with_pods("a", 3), with_pods("b", 9))
    assert clusters(decide(members, deployment(4), placement(DYNAMIC))) == {"a": 1, "b": 3}
    assert message(decide(members, deployment(14), placement(DYNAMIC))) == (
        "failed to assign replicas: failed to scale up: Clusters available replicas 12 are not enough to schedule."
    )


def test_no_quantity_is_refused() -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        general(ResourceSummary({"pods": "many"}), None)
