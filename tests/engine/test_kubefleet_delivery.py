"""Delivery through a real KubeFleet hub: members get what the stack has given to the hub, and lose it only if meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine.driver import Engine
from tests.engine.hub_stories import (
    KUBEFLEET,
    Data,
    HubStory,
    hub,
    moves,
    stack,
    status,
    takes_over,
    uid,
    web,
)
from tests.hubs.kubefleet import KubeFleetHub

__all__ = ["hub", "stack"]
pytestmark = [pytest.mark.engine, pytest.mark.hubs, pytest.mark.long]
GROUP = "placement.kubernetes-fleet.io/v1beta1"
EVICTIONS = "clusterresourceplacementevictions"
OWN = Path(__file__).parent / "programs" / "own_hub.py"
SETTINGS = {
    "cluster_identifier": "dev@hub",
    "enable_config_map_mutable": True,
    "enable_secret_mutable": True,
    "upsert_existing_objects": True,
    "enable_patch_force": True,
}
"""What our own provider of a hub is set to."""
HUB = KUBEFLEET


def test_a_placement_goes_through_the_hub_and_is_taken_back(
    stack: Engine[HubStory], hub: KubeFleetHub
) -> None:
    tale = stack.world
    tale.objects = {
        "shop": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        "web": web(),
    }
    tale.objects |= {"override": override(), "placement": placement()}
    tale.members["west"]["metadata"]["labels"]["tier"] = "front"
    seen = stack.preview()
    print(seen.text, seen.changes, sep="\n")
    assert seen.ok, seen.text
    assert "forecast of the hub of KubeFleet" in seen.text
    assert (first := stack.up()).ok, first.text
    assert first.changes == seen.changes
    labels = hub.hub.get("membercluster", "west")["metadata"]["labels"]
    assert labels.items() >= {"region": "west", "tier": "front"}.items()
    hub.settle()
    assert {name: tale.image(name) for name in tale.planes} == {"east": "web:1", "west": "web:1"}
    live = hub.members["west"].get("deployment", "web", "-n", "shop")
    assert live["metadata"]["labels"]["on"] == "west"
    assert not any(key.startswith("fleet-components/") for key in live["metadata"]["annotations"])
    assert stack.preview().changes == {}

    hub.stop_member("east")
    tale.objects["web"] = web("web:2")
    seen = stack.preview()
    print(seen.text, seen.changes, sep="\n")
    assert "wave 1: update" in seen.text
    assert stack.up().ok
    hub.settle()
    code, told = status(stack, "--strict")
    print(told)
    assert code == 3
    assert "west    newest    older" in told
    assert "blocked by the rollout strategy" in told
    hub.start_member("east")
    hub.settle()
    code, told = status(stack, "--strict")
    print(told)
    assert code == 0, told
    assert {name: tale.image(name) for name in tale.planes} == {"east": "web:2", "west": "web:2"}
    assert stack.preview().changes == {}

    gone = tale.objects.pop("placement"), tale.objects.pop("override")
    refused = stack.up()
    print(refused.text)
    assert not refused.ok
    assert tale.image("west") == "web:2"
    tale.config["confirm"] = ",".join(
        sorted(set(re.findall("fleet:confirm=([0-9a-f]{8})", refused.text)))
    )
    assert (done := stack.up()).ok, done.text
    for plane in hub.members.values():
        plane.kubectl("wait", "--for=delete", "namespace/shop", "--timeout=60s")
    assert hub.hub.get("membercluster", "west")["metadata"]["labels"]["tier"] == "front"

    tale.objects |= {"placement": gone[0], "override": gone[1]}
    del tale.config["confirm"]
    assert stack.up().ok
    hub.settle()
    assert stack.unprotect().ok
    assert (done := stack.destroy()).ok, done.text
    assert hub.hub.get("clusterresourceplacement", "shop") is None
    assert set(hub.members) == {
        item["metadata"]["name"] for item in hub.hub.get("memberclusters")["items"]
    }


def test_a_hub_that_runs_becomes_that_of_a_stack(
    stack: Engine[HubStory], hub: KubeFleetHub
) -> None:
    hub.apply(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
            web(),
            placement(),
        ]
    )
    hub.settle()
    takes_over(stack, hub.settle)


def test_a_placement_moves_to_the_hub_and_back(stack: Engine[HubStory], hub: KubeFleetHub) -> None:
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    stack.world.objects = {"shop": shop, "web": web(), "placement": placement()}
    moves(
        stack,
        "kubefleet",
        hub.settle,
        lambda live: "AppliedWork" in str(live["metadata"].get("ownerReferences")),
    )
    assert hub.hub.get("clusterresourceplacement", "shop") is None


def test_an_eviction_is_made_once(stack: Engine[HubStory], hub: KubeFleetHub) -> None:
    tale = stack.world
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    tale.objects = {"shop": space, "web": web(), "placement": placement()}
    assert (done := stack.up()).ok, done.text
    hub.settle()
    tale.objects["eviction"] = eviction("once", "east")
    assert (done := stack.up()).ok, done.text
    assert "ClusterResourcePlacementEviction dev@hub/once" in done.changes
    hub.settle()
    assert hub.hub.get(EVICTIONS, "once")["status"]["conditions"]
    hub.hub.kubectl("delete", EVICTIONS, "once")
    assert (seen := stack.refresh()).ok, seen.text
    assert (again := stack.up()).ok, again.text
    assert hub.hub.get(EVICTIONS, "once") is None
    assert stack.preview().changes == {}
    assert stack.unprotect().ok
    assert (done := stack.destroy()).ok, done.text


def test_a_provider_of_ones_own_reaches_the_hub(
    hub: KubeFleetHub, stack: Engine[HubStory], tmp_path_factory: pytest.TempPathFactory
) -> None:
    tale = stack.world
    own = Engine(tmp_path_factory.mktemp("own"), OWN, tale, standin=False)
    # What the configuration says of the hub would count instead of what the program gives.
    tale.config["own:kubeconfig"] = tale.config.pop("hub")
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    tale.objects = {"shop": space, "web": web(), "placement": placement()}
    refused = own.up()
    print(refused.text)
    assert not refused.ok
    assert 'the hub: its provider lacks cluster_identifier="dev@hub"' in refused.text
    assert hub.hub.get("namespace", "shop") is None
    tale.config["own:hub"] = SETTINGS
    seen = own.preview()
    assert seen.ok, seen.text
    assert (first := own.up()).ok, first.text
    assert first.changes == seen.changes
    hub.settle()
    assert {name: tale.image(name) for name in tale.planes} == {"east": "web:1", "west": "web:1"}
    assert own.preview().changes == {}
    tale.objects["web"] = web("web:2")
    assert (second := own.up()).ok, second.text
    hub.settle()
    assert {name: tale.image(name) for name in tale.planes} == {"east": "web:2", "west": "web:2"}
    code, told = status(own, "--strict")
    assert code == 0, told
    lost = {**tale.members["west"], "metadata": {"name": "lab", "labels": {"tier": "lab"}}}
    tale.members["lab"] = lost
    refused = own.preview()
    assert not refused.ok
    assert "the hub does not know lab" in refused.text
    del tale.members["lab"]
    assert own.unprotect().ok
    assert (done := own.destroy()).ok, done.text


def test_a_member_that_the_hub_does_not_know_is_refused(stack: Engine[HubStory]) -> None:
    lost = {**stack.world.members["west"], "metadata": {"name": "lab", "labels": {"tier": "lab"}}}
    stack.world.members["lab"] = lost
    stack.world.objects = {"placement": placement()}
    refused = stack.preview()
    print(refused.text)
    assert not refused.ok
    assert "the hub does not know lab" in refused.text


def test_an_object_that_no_api_server_changes_is_replaced_on_the_hub(
    stack: Engine[HubStory], hub: KubeFleetHub
) -> None:
    """It is gone from the hub, and from its members, before it is created anew; the preview says so."""
    tale = stack.world
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    tale.objects = {"shop": shop, "web": web(), "placement": placement()}
    assert (first := stack.up()).ok, first.text
    hub.settle()
    before = {name: uid(plane) for name, plane in (*tale.planes.items(), ("hub", hub.hub))}
    new = web("web:2")
    new["spec"]["selector"] = {"matchLabels": {"app": "www"}}
    new["spec"]["template"]["metadata"] = {"labels": {"app": "www"}}
    tale.objects["web"] = new
    seen, done = stack.preview(), stack.up()
    print(seen.text, seen.changes, sep="\n")
    assert done.ok, done.text
    assert done.changes == seen.changes
    assert (
        "Deployment shop/web of ClusterResourcePlacement/shop on east, west: replaced" in seen.text
    )
    hub.settle()
    after = {name: uid(plane) for name, plane in (*tale.planes.items(), ("hub", hub.hub))}
    assert None not in after.values()
    assert not set(after.values()) & set(before.values())
    code, told = status(stack, "--strict")
    assert code == 0, told
    assert {name: tale.image(name) for name in tale.planes} == {"east": "web:2", "west": "web:2"}
    assert stack.preview().changes == {}


def placement() -> Data:
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
    spec = {"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}}
    return {
        "apiVersion": GROUP,
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": "shop"},
        "spec": spec,
    }


def eviction(name: str, member: str) -> Data:
    spec = {"placementName": "shop", "clusterName": member}
    return {
        "apiVersion": GROUP,
        "kind": "ClusterResourcePlacementEviction",
        "metadata": {"name": name},
        "spec": spec,
    }


def override() -> Data:
    patch = {"op": "add", "path": "/metadata/labels", "value": {"on": "${MEMBER-CLUSTER-NAME}"}}
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [patch]}
    selected = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}
    spec = {
        "placement": {"name": "shop"},
        "resourceSelectors": [selected],
        "policy": {"overrideRules": [rule]},
    }
    return {
        "apiVersion": GROUP,
        "kind": "ResourceOverride",
        "metadata": {"name": "on", "namespace": "shop"},
        "spec": spec,
    }
