"""The hub itself: what is placed on it reaches members, and it comes to rest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub, MemberSpec, kubefleet_hub, start_hub_agent
from tests.hubs.processes import Program, free_port

pytestmark = pytest.mark.hubs


@pytest.fixture(scope="module")
def fleet() -> Iterator[KubeFleetHub]:
    members = {
        "west": MemberSpec(labels={"region": "west"}, nodes=2),
        "east": MemberSpec(labels={"region": "east"}, cpu="8", memory="32Gi"),
        "lab": MemberSpec(taints=[{"key": "lab", "value": "only", "effect": "NoSchedule"}]),
    }
    with kubefleet_hub(members) as started:
        yield started


def test_a_placement_reaches_its_members(fleet: KubeFleetHub) -> None:
    fleet.apply(shop())
    fleet.settle()
    status = fleet.hub.get("clusterresourceplacement", "shop")["status"]
    assert {item["type"]: item["status"] for item in status["conditions"]}[
        "ClusterResourcePlacementAvailable"
    ] == "True"
    assert {item["clusterName"] for item in status["placementStatuses"]} == {"east", "west"}
    for name, there in (("east", True), ("west", True), ("lab", False)):
        assert bool(fleet.members[name].get("deployment", "web", "--namespace=shop")) is there
    fleet.delete("clusterresourceplacement", "shop")
    for name in ("east", "west"):
        fleet.members[name].kubectl("wait", "--for=delete", "namespace/shop", "--timeout=60s")


def test_properties_are_what_the_nodes_have(fleet: KubeFleetHub) -> None:
    status = {name: fleet.hub.get("membercluster", name)["status"] for name in ("west", "east")}
    counts = {
        name: item["properties"]["kubernetes-fleet.io/node-count"]["value"]
        for name, item in status.items()
    }
    assert counts == {"west": "2", "east": "1"}
    rooms = {name: item["resourceUsage"]["allocatable"] for name, item in status.items()}
    assert rooms == {"west": {"cpu": "8", "memory": "32Gi"}, "east": {"cpu": "8", "memory": "32Gi"}}


def test_the_webhooks_refuse(fleet: KubeFleetHub) -> None:
    """Not the definitions, which know nothing of a selector that names an object twice."""
    *_, placement = shop()
    selectors = placement["spec"]["resourceSelectors"]
    placement["spec"]["resourceSelectors"] = [
        {**selectors[0], "kind": "Deployment", "group": "apps"}
    ]
    with pytest.raises(AssertionError, match="admission webhook"):
        fleet.apply([placement])


def test_a_member_without_its_agent_gets_nothing(fleet: KubeFleetHub) -> None:
    fleet.stop_member("east")
    namespace, _, placement = shop("quiet")
    placement["spec"]["policy"] = {"placementType": "PickFixed", "clusterNames": ["east"]}
    fleet.apply([namespace, placement])
    fleet.settle()
    assert fleet.members["east"].get("namespace", "quiet") is None
    fleet.start_member("east")
    fleet.members["east"].kubectl("wait", "--for=create", "namespace/quiet", "--timeout=60s")


def test_the_hub_agent_waits_for_room_to_watch_files(tmp_path: Path) -> None:
    (tmp_path / "readyz").touch()
    port = free_port()
    script = (
        f"test -e {tmp_path}/tried || {{ touch {tmp_path}/tried; echo too many open files; exit 1; }};"
        f"exec {sys.executable} -m http.server {port} --bind 127.0.0.1 --directory {tmp_path}"
    )
    agent = Program(["sh", "-c", script], tmp_path / "log")
    start_hub_agent(agent, port)
    assert agent.running
    agent.stop()
    with pytest.raises(RuntimeError, match="no such option"):
        start_hub_agent(
            Program(["sh", "-c", "echo no such option; exit 1"], tmp_path / "other"), port
        )


def shop(name: str = "shop") -> list[Document]:
    """A namespace, a Deployment in it, and a placement of both on two members."""
    labels = {"app": "web"}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
    }
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": name}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": name},
            "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": pod},
        },
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": name},
            "spec": {
                "resourceSelectors": [selector],
                "policy": {"placementType": "PickN", "numberOfClusters": 2},
            },
        },
    ]
