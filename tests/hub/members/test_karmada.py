"""Resources, grades and APIs of plain clusters as Karmada's agent computes them, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.hub.cluster_facts import ServedKind
from fleet_components.hub.listing import Object
from fleet_components.model.cluster import ResourceModel
from fleet_components.systems.karmada.hub.plain_members import karmada_cluster, summary
from fleet_components.systems.karmada.model.cluster import DEFAULT_MODELS, read_karmada_cluster
from tests.hub.members.clusters import facts, node, pod


def summed(*found: Object, models: Any = DEFAULT_MODELS) -> Any:
    return summary(facts(*found), models)


def grades(*found: Object, models: Any = DEFAULT_MODELS) -> dict[int, int]:
    counted = summed(*found, models=models).get("allocatableModelings", ())
    return {item["grade"]: item["count"] for item in counted if item["count"]}


def test_allocatable_is_a_sum_of_all_resources() -> None:
    found = summed(
        node("a", cpu="3860m", memory="16393720Ki", pods="110", hugepages_2Mi="0"),
        node("b", cpu="140m", memory="8Ki", pods="110"),
    )
    assert found["allocatable"] == {
        "cpu": "4",
        "memory": "16393728Ki",
        "pods": "220",
        "hugepages-2Mi": "0",
    }
    assert "allocated" not in found
    assert "allocating" not in found


def test_the_quantity_of_one_node_is_kept_as_it_is_written() -> None:
    assert summed(node(cpu="4000m", memory="1024Ki"))["allocatable"] == {
        "cpu": "4000m",
        "memory": "1024Ki",
    }


@pytest.mark.parametrize(
    ("pods", "allocated", "allocating"),
    [
        ([pod()], {"pods": "1"}, None),
        ([pod(cpu="500m", memory="1Gi")], {"cpu": "500m", "memory": "1Gi", "pods": "1"}, None),
        ([pod(phase="Succeeded", cpu="1"), pod("q", phase="Failed", cpu="1")], None, None),
        ([pod(on="", cpu="1500m")], None, {"cpu": "1500m", "pods": "1"}),
        # One that ended before it had a node still counts as waiting for one.
        ([pod(on="", phase="Failed", cpu="1")], None, {"cpu": "1", "pods": "1"}),
        ([pod(cpu="1", overhead={"cpu": "250m"})], {"cpu": "1250m", "pods": "1"}, None),
        # An init container raises the sum so far, not that of its own pod.
        ([pod(cpu="1", init=[{"cpu": "3"}])], {"cpu": "3", "pods": "1"}, None),
        (
            [pod("a", cpu="4"), pod("b", cpu="1", init=[{"cpu": "3"}])],
            {"cpu": "5", "pods": "2"},
            None,
        ),
        (
            [pod("a", cpu="1", init=[{"cpu": "3"}]), pod("b", cpu="4")],
            {"cpu": "7", "pods": "2"},
            None,
        ),
        # Rounded up container by container: CPU to thousandths, memory to bytes.
        (
            [pod("a", cpu="100u", memory="1500m"), pod("b", cpu="100u")],
            {"cpu": "2m", "memory": "2", "pods": "2"},
            None,
        ),
    ],
)
def test_what_pods_take(pods: list[Object], allocated: Any, allocating: Any) -> None:
    found = summed(*pods)
    assert (found.get("allocated"), found.get("allocating")) == (allocated, allocating)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("ephemeral-storage", True),
        ("hugepages-2Mi", True),
        ("nvidia.com/gpu", True),
        ("attachable-volumes-azure-disk", True),
        ("scheduling.kubernetes.io/foo", True),
        ("storage", False),
        ("requests.example.com/gpu", False),
        ("example.com/-wrong-", False),
    ],
)
def test_which_resources_of_pods_count(name: str, counts: bool) -> None:
    assert (name in summed(pod(**{name: "2"}))["allocated"]) == counts


@pytest.mark.parametrize(
    ("amounts", "grade"),
    [
        ({"cpu": "0", "memory": "0"}, 0),
        ({"cpu": "999m", "memory": "64Gi"}, 0),
        ({"cpu": "1", "memory": "4Gi"}, 1),
        ({"cpu": "64", "memory": "4Gi"}, 1),  # the resource of which there is least
        ({"cpu": "2", "memory": "16Gi"}, 2),
        ({"cpu": "128", "memory": "1024Gi"}, 8),
        ({"cpu": "500", "memory": "9999Gi"}, 8),
        ({"cpu": "500"}, 0),
    ],
)
def test_the_grade_of_a_node(amounts: dict[str, str], grade: int) -> None:
    assert grades(node(pods="110", **amounts)) == {grade: 1}


def test_a_grade_is_that_of_what_is_free() -> None:
    four = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    assert grades(node("a", **four), node("b", **four), pod(on="a", cpu="1")) == {2: 1, 3: 1}
    assert grades(node("a", **four), pod(on="a", phase="Succeeded", cpu="1")) == {3: 1}
    assert grades(node("a", **four), pod(on="a", cpu="5")) == {}  # less than nothing is free
    assert grades(node("a", **four), pod(on="elsewhere", cpu="5")) == {3: 1}


def test_the_agent_stops_at_a_node_on_which_no_pod_fits() -> None:
    full, free = (
        {"cpu": "4", "memory": "32Gi", "pods": "1"},
        {"cpu": "4", "memory": "32Gi", "pods": "110"},
    )
    assert grades(node("a", **free), node("b", **full), node("c", **free), pod(on="b")) == {3: 1}
    assert grades(node("a", cpu="4", memory="32Gi")) == {3: 1}  # no pod on it: nothing is looked at


def test_models_of_its_own_and_none() -> None:
    models = (ResourceModel(3, {"nvidia.com/gpu": "0"}), ResourceModel(7, {"nvidia.com/gpu": "2"}))
    gpus = {"nvidia.com/gpu": "2"}
    assert grades(node("a", **gpus), node("b"), models=models) == {3: 1, 7: 1}
    assert "allocatableModelings" not in summed(node(cpu="1"), models=())


def test_the_models_of_the_object_count() -> None:
    ranges = [{"name": "cpu", "min": "0", "max": "9"}]
    old = {
        **karmada_cluster("m", None),
        "spec": {"syncMode": "Pull", "resourceModels": [{"grade": 4, "ranges": ranges}]},
    }
    new = karmada_cluster("m", facts(node(cpu="1")), old)
    assert new["spec"] == old["spec"]
    assert new["status"]["resourceSummary"]["allocatableModelings"] == [{"grade": 4, "count": 1}]


def test_nodes_are_counted_ready_or_not() -> None:
    member = karmada_cluster("m", facts(node("a"), node("b", ready=False), version="v1.36.3"))
    assert member["status"]["nodeSummary"] == {"totalNum": 2, "readyNum": 1}
    assert member["status"]["kubernetesVersion"] == "v1.36.3"


def test_apis_are_sorted_by_version_and_plural() -> None:
    kinds = (
        ServedKind("v1", "Pod", "pods"),
        ServedKind("apps/v1", "StatefulSet", "statefulsets"),
        ServedKind("apps/v1", "Deployment", "deployments"),
    )
    member = karmada_cluster("m", facts(kinds=kinds))
    assert member["status"]["apiEnablements"] == [
        {
            "groupVersion": "apps/v1",
            "resources": [
                {"name": "deployments", "kind": "Deployment"},
                {"name": "statefulsets", "kind": "StatefulSet"},
            ],
        },
        {"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]},
    ]


@pytest.mark.parametrize(
    ("nodes", "place"),
    [
        ([], {}),
        ([node()], {}),
        ([node(labels={"topology.kubernetes.io/region": "eu"})], {"region": "eu"}),
        (
            [
                node(
                    "a",
                    labels={
                        "topology.kubernetes.io/region": "eu",
                        "topology.kubernetes.io/zone": "eu-2",
                    },
                    provider="aws:///1",
                ),
                node(
                    "b",
                    labels={
                        "topology.kubernetes.io/region": "eu",
                        "topology.kubernetes.io/zone": "eu-1",
                    },
                    provider="aws:///2",
                ),
            ],
            {"region": "eu", "zones": ["eu-1", "eu-2"], "provider": "aws"},
        ),
        (
            [
                node("a", labels={"topology.kubernetes.io/region": "eu"}, provider="aws:///1"),
                node("b", labels={"topology.kubernetes.io/region": "us"}, provider="gce://2"),
            ],
            {},
        ),
    ],
)
def test_where_a_new_member_is(nodes: list[Object], place: dict[str, Any]) -> None:
    assert karmada_cluster("m", facts(*nodes))["spec"] == {"syncMode": "Push", **place}


def test_a_member_is_one_that_a_plan_takes() -> None:
    read = read_karmada_cluster(
        karmada_cluster("m", facts(node(cpu="4", memory="32Gi", pods="9"), pod(cpu="1")))
    )
    assert read.observed
    assert read.resource_summary
    assert read.resource_summary.nodes_by_grade
    assert read.resource_summary.nodes_by_grade[2] == 1
    assert not read_karmada_cluster(karmada_cluster("m", None)).observed
