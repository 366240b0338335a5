"""Properties and resources of plain clusters as KubeFleet's agent computes them, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.hub.listing import Object
from fleet_components.systems.kubefleet.hub.plain_members import member_cluster, properties, usage
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from tests.hub.members.clusters import facts, node, pod

SIZE = "beta.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("amounts", "total"),
    [
        ([], "0"),
        (["4"], "4"),
        (["3860m"], "3860m"),
        (["1900m", "100m"], "2"),  # written as few digits as possible, once it is a sum
        (["4"] * 250, "1k"),
        (["0", "2000m"], "2"),
        (["0.5", "0.25"], "750m"),
    ],
)
def test_cpu_is_a_sum_over_the_nodes(amounts: list[str], total: str) -> None:
    found = facts(*(node(f"n{number}", cpu=text) for number, text in enumerate(amounts)))
    assert usage(found)["capacity"]["cpu"] == usage(found)["allocatable"]["cpu"] == total


@pytest.mark.parametrize(
    ("amounts", "total"),
    [
        (["16Gi", "16Gi"], "32Gi"),
        (["16393720Ki", "8Ki"], "16393728Ki"),
        (["16393720Ki", "1Gi"], "17442296Ki"),
        (["1Gi", "1G"], "2073741824"),  # in the family of suffixes of the first one
        (["1G", "1Gi"], "2073741824"),
        (["1G", "1G"], "2G"),
        (["512", "512"], "1024"),
        (["1Ki", "0"], "1Ki"),
        (["0", "1Ki"], "1Ki"),
    ],
)
def test_memory_is_a_sum_over_the_nodes(amounts: list[str], total: str) -> None:
    found = facts(*(node(f"n{number}", memory=text) for number, text in enumerate(amounts)))
    assert usage(found)["allocatable"]["memory"] == total


@pytest.mark.parametrize(
    ("pods", "left"),
    [
        ([], {"cpu": "4", "memory": "8Gi"}),
        ([pod(cpu="500m", memory="1Gi")], {"cpu": "3500m", "memory": "7Gi"}),
        ([pod(), pod("q", cpu="1")], {"cpu": "3", "memory": "8Gi"}),
        ([pod(on="", cpu="1")], {"cpu": "4", "memory": "8Gi"}),  # waits for a node
        (
            [pod(phase="Succeeded", cpu="1"), pod("q", phase="Failed", cpu="1")],
            {"cpu": "4", "memory": "8Gi"},
        ),
        (
            [pod(phase="Pending", cpu="1"), pod("q", phase="Unknown", cpu="1")],
            {"cpu": "2", "memory": "8Gi"},
        ),
        (
            [pod(init=[{"cpu": "3"}], overhead={"cpu": "1"})],
            {"cpu": "4", "memory": "8Gi"},
        ),  # neither counts
        ([pod(cpu="4", memory="8Gi")], {"cpu": "0", "memory": "0"}),
        ([pod(cpu="5", memory="8G")], {"cpu": "0", "memory": "576108Ki"}),
    ],
)
def test_what_is_left_is_what_running_pods_do_not_request(
    pods: list[Object], left: dict[str, str]
) -> None:
    assert usage(facts(node(cpu="4", memory="8Gi"), *pods))["available"] == left


@pytest.mark.parametrize(
    ("labels", "sizes"),
    [
        ([], {}),
        ([{}], {"undefined": "1"}),
        ([{SIZE: ""}], {"undefined": "1"}),
        (
            [{SIZE: "Standard_D4s_v5"}] * 2 + [{SIZE: "Standard_E8"}, {}],
            {"Standard_D4s_v5": "2", "Standard_E8": "1", "undefined": "1"},
        ),
        (
            [{"node.kubernetes.io/instance-type": "Standard_D4s_v5"}],
            {"undefined": "1"},
        ),  # only the old label counts
    ],
)
def test_on_azure_nodes_are_counted_by_their_size(labels: list[Any], sizes: dict[str, str]) -> None:
    found = facts(
        *(node(f"n{number}", labels=label) for number, label in enumerate(labels)),
        version="v1.36.3",
    )
    counted = {
        f"kubernetes.azure.com/vm-sizes/{size}/count": number for size, number in sizes.items()
    }
    common = {"kubernetes-fleet.io/node-count": str(len(labels))}
    assert properties(found, azure=True) == {**common, "k8s.io/k8s-version": "v1.36.3", **counted}
    assert properties(found, azure=False) == common


@pytest.mark.parametrize(
    ("provider", "azure"),
    [("azure:///subscriptions/a", True), ("aws:///eu/i-1", False), ("", False)],
)
def test_a_cluster_on_azure_is_told_by_its_nodes(provider: str, azure: bool) -> None:
    member = member_cluster("east", facts(node(provider=provider, cpu="1")))
    assert (
        "kubernetes.azure.com/vm-sizes/undefined/count" in member["status"]["properties"]
    ) == azure


def test_a_new_member_is_one_that_a_plan_takes_as_joined() -> None:
    member = read_member_cluster(
        member_cluster("east", facts(node(cpu="4", memory="8Gi"), pod(cpu="1")))
    )
    assert (member.name, member.observed) == ("east", False)
    assert member.properties == {"kubernetes-fleet.io/node-count": "1"}
    assert (member.usage.capacity["cpu"], member.usage.available["cpu"]) == ("4", "3")


def test_a_member_that_told_nothing_is_declared() -> None:
    member = member_cluster("east", None)
    assert "status" not in member
    assert member["spec"]["identity"]["name"] == "east"


def test_what_only_the_hub_knows_stays() -> None:
    size = "kubernetes.azure.com/vm-sizes/{}/count"
    known = {
        size.format("old"): {"value": "3"},
        "kubernetes.azure.com/per-cpu-core-cost": {"value": "0.04"},
    }
    agent = [{"type": "MemberAgent", "lastReceivedHeartbeat": "2026-01-01T00:00:00Z"}]
    old = {
        **member_cluster("east", None),
        "metadata": {"name": "east", "labels": {"region": "eu"}},
        "status": {
            "agentStatus": agent,
            "properties": known,
            "resourceUsage": {"capacity": {"cpu": "99"}},
        },
    }
    new = member_cluster("east", facts(node(cpu="4")), old)
    assert new["metadata"] == old["metadata"]
    assert new["status"]["agentStatus"] == agent
    assert new["status"]["properties"] == {
        "kubernetes-fleet.io/node-count": {"value": "1"},
        "kubernetes.azure.com/per-cpu-core-cost": {"value": "0.04"},
        size.format("undefined"): {"value": "1"},
    }
    assert new["status"]["resourceUsage"]["capacity"] == {"cpu": "4", "memory": "0"}
    assert member_cluster("east", None, old) == old
