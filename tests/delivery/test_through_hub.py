"""Delivery through a hub: what goes there, in which order, what is forecast and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.world import World

GROUP = "placement.kubernetes-fleet.io/v1beta1"


@pytest.fixture
def driver() -> InProcess:
    world = World(members={"a": {"region": "west"}, "b": {"region": "east"}}, tainted={"b"})
    world.policy = {"placementType": "PickAll", "tolerations": [{"key": "drained", "operator": "Exists"}]}
    world.config = {"delivery": "kubefleet", "kubeconfigs": None}
    return InProcess(world)


def on_hub(driver: InProcess) -> list[str]:
    """Type and name of the objects on the hub, in the order of their registration."""
    found = (one for one in driver.state.resources.values() if one.type.startswith("kubernetes:"))
    return [f"{one.type.rpartition(':')[2]} {one.name.partition('/')[2]}" for one in found if "@hub/" in one.name]


def override(name: str = "images") -> dict[str, Any]:
    patch = {"op": "add", "path": "/metadata/labels", "value": {"on": "${MEMBER-CLUSTER-NAME}"}}
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [patch]}
    selected = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
    spec = {"placement": {"name": "shop"}, "clusterResourceSelectors": [selected], "policy": {"overrideRules": [rule]}}
    return {"apiVersion": GROUP, "kind": "ClusterResourceOverride", "metadata": {"name": name}, "spec": spec}


def test_everything_goes_to_the_hub_in_an_order_that_it_can_take(driver: InProcess) -> None:
    driver.world.extra = [override()]
    done = driver.up()
    assert done.ok, done.text
    sent = on_hub(driver)
    assert [*sent[:2], *sorted(sent[2:4]), *sent[4:]] == [
        "Namespace shop",
        "ClusterResourceOverride images",
        "MemberClusterPatch a",
        "MemberClusterPatch b",
        "Deployment shop/web",
        "ClusterResourcePlacement shop",
    ]
    types = {one.type for one in driver.state.resources.values()}
    assert not any(one.endswith(("Target", "Binding")) for one in types)
    patches = [one.inputs for one in driver.state.resources.values() if one.type.endswith("MemberClusterPatch")]
    assert [one["spec"]["taints"] for one in patches if "spec" in one] == [[{"key": "drained", "effect": "NoSchedule"}]]
    assert all(one["spec"].keys() == {"taints"} for one in patches if "spec" in one)


def test_what_is_placed_has_no_stamp_but_the_one_that_the_provider_needs(driver: InProcess) -> None:
    assert driver.up().ok
    sent = {one.type: one.inputs for one in driver.state.resources.values() if "@hub/" in one.name}
    assert "annotations" not in sent["kubernetes:core/v1:Namespace"]["metadata"]
    assert sent["kubernetes:apps/v1:Deployment"]["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_the_decision_is_a_forecast(driver: InProcess) -> None:
    assert "shop (" in (first := driver.up()).text
    assert "forecast of the hub of KubeFleet" in first.text
    assert driver.record()["delivery"] == "kubefleet"
    assert driver.record()["decisions"].keys() == {"a", "b"}
    assert driver.preview().changes == {}
    driver.world.image = "web:2"
    second = driver.preview()
    assert "wave 1: update a (revision 1): Deployment shop/web changes" in second.text
    assert second.changes["Deployment dev@hub/shop/web"] == "update"
    assert driver.up().ok
    assert driver.preview().changes == {}


def test_what_the_hub_would_delete_on_members_is_guarded(driver: InProcess) -> None:
    assert driver.up().ok
    driver.world.policy |= affinity("nowhere")
    refused = driver.up()
    assert not refused.ok
    assert "Namespace shop: would be deleted on a, b, with all that is in it" in refused.text
    driver.world.config["confirm"] = ",".join(re.findall("fleet:confirm=([0-9a-f]{8})", refused.text))
    assert driver.up().ok
    assert driver.record()["decisions"] == {}
    assert "ClusterResourcePlacement shop" in on_hub(driver)


def affinity(region: str) -> dict[str, Any]:
    terms = [{"labelSelector": {"matchLabels": {"region": region}}}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}}
    return {"affinity": {"clusterAffinity": required}}


def test_a_placement_of_one_system_does_not_go_through_the_other(driver: InProcess) -> None:
    driver.world.config["delivery"] = "karmada"
    refused = driver.preview()
    assert not refused.ok
    assert "is a policy of KubeFleet, and this fleet goes through a hub of Karmada" in refused.text


def test_an_unknown_way_is_refused(driver: InProcess) -> None:
    driver.world.config["delivery"] = "hub"
    refused = driver.preview()
    assert not refused.ok
    assert "fleet:delivery" in refused.text
    assert "the ways are: direct, kubefleet, karmada" in refused.text


def test_what_stands_is_not_moved_by_deleting_it(driver: InProcess) -> None:
    driver.world.config |= {"delivery": "direct", "kubeconfigs": {}}
    assert driver.up().ok
    driver.world.config["delivery"] = "kubefleet"
    refused = driver.up()
    assert not refused.ok
    assert "is to go through a hub of KubeFleet, and its objects would be deleted on a, b first" in refused.text


def test_what_a_hub_has_placed_is_not_taken_from_it_by_deleting_it(driver: InProcess) -> None:
    assert driver.up().ok
    driver.world.config |= {"delivery": "direct", "kubeconfigs": {}}
    refused = driver.up()
    assert not refused.ok
    assert "leaves its hub of KubeFleet, which would delete its objects on a, b" in refused.text
