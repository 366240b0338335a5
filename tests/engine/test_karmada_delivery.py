"""Delivery through a real Karmada control plane: templates and policies, divided there, and guarded here."""

from __future__ import annotations

import re

import pytest

from tests.engine.driver import Engine
from tests.engine.hub_stories import (
    KARMADA,
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
from tests.hubs.karmada import CLUSTERS, KarmadaHub

__all__ = ["hub", "stack"]
pytestmark = [pytest.mark.engine, pytest.mark.hubs, pytest.mark.long]
POLICY = "policy.karmada.io/v1alpha1"
HUB = KARMADA


def test_a_template_goes_through_the_hub_and_is_taken_back(
    stack: Engine[HubStory], hub: KarmadaHub
) -> None:
    tale = stack.world
    tale.members["b"]["metadata"]["labels"]["tier"] = "front"
    tale.members["b"]["spec"]["taints"] = [{"key": "lab", "value": "only", "effect": "NoSchedule"}]
    tale.objects = {"shop": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}}
    tale.objects |= {"web": web(replicas=9), "policy": policy(), "override": override()}
    seen = stack.preview()
    print(seen.text, seen.changes, sep="\n")
    assert seen.ok, seen.text
    assert "forecast of the hub of Karmada" in seen.text
    assert (first := stack.up()).ok, first.text
    assert first.changes == seen.changes
    member = hub.hub.get(CLUSTERS, "b")
    assert member["metadata"]["labels"]["tier"] == "front"
    assert [item["key"] for item in member["spec"]["taints"]] == ["lab"]
    assert member["spec"]["syncMode"] == "Push"
    hub.settle()
    assert {name: tale.image(name) for name in tale.planes} == {"a": "web:1", "b": "web:1"}
    assert {name: replicas(hub, name) for name in tale.planes} == {"a": 6, "b": 3}
    assert stack.record("shop/Deployment/web")["delivery"] == "karmada"
    assert stack.preview().changes == {}
    code, told = status(stack, "--strict")
    print(told)
    assert code == 0, told
    assert "2 of 2 as forecast, 2 of them well, as the hub says" in told

    tale.objects["web"] = web("web:2", replicas=9)
    seen = stack.preview()
    print(seen.text, seen.changes, sep="\n")
    assert stack.up().ok
    hub.settle()
    assert {name: tale.image(name) for name in tale.planes} == {"a": "web:2", "b": "web:2"}
    assert stack.preview().changes == {}

    gone = {name: tale.objects.pop(name) for name in ("web", "policy", "override", "shop")}
    refused = stack.up()
    print(refused.text)
    assert not refused.ok
    assert tale.image("b") == "web:2"
    tale.config["confirm"] = ",".join(
        sorted(set(re.findall("fleet:confirm=([0-9a-f]{8})", refused.text)))
    )
    assert (done := stack.up()).ok, done.text
    hub.settle()
    assert {name: tale.image(name) for name in tale.planes} == {"a": None, "b": None}

    tale.objects |= gone
    del tale.config["confirm"]
    assert (done := stack.up()).ok, done.text
    hub.settle()
    assert stack.unprotect().ok
    assert (done := stack.destroy()).ok, done.text
    assert hub.hub.get("propagationpolicy", "web", "-n", "shop") is None
    assert set(hub.members) == {item["metadata"]["name"] for item in hub.hub.get(CLUSTERS)["items"]}


def test_a_control_plane_that_runs_becomes_that_of_a_stack(
    stack: Engine[HubStory], hub: KarmadaHub
) -> None:
    hub.apply([web(replicas=9), policy()])
    hub.settle()
    takes_over(stack, hub.settle)


def test_a_template_moves_to_the_hub_and_back(stack: Engine[HubStory], hub: KarmadaHub) -> None:
    takes = policy()
    takes["spec"]["conflictResolution"] = "Overwrite"
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    stack.world.objects = {"shop": shop, "web": web(replicas=9), "policy": takes}
    moves(
        stack,
        "karmada",
        hub.settle,
        lambda live: "karmada.io/managed" in (live["metadata"].get("labels") or {}),
    )
    assert hub.hub.get("propagationpolicy", "web", "-n", "shop") is None


def test_an_object_that_no_api_server_changes_is_replaced_on_the_hub(
    stack: Engine[HubStory], hub: KarmadaHub
) -> None:
    """It is gone from the control plane, and from its members, before it is created anew; the preview says so."""
    tale = stack.world
    tale.members["b"]["spec"]["taints"] = []
    tale.objects = {"shop": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}}
    tale.objects |= {"web": web(replicas=9), "policy": policy()}
    assert (first := stack.up()).ok, first.text
    hub.settle()
    before = {name: uid(plane) for name, plane in (*tale.planes.items(), ("hub", hub.hub))}
    assert None not in before.values()
    new = web("web:2", replicas=9)
    new["spec"]["selector"] = {"matchLabels": {"app": "www"}}
    new["spec"]["template"]["metadata"] = {"labels": {"app": "www"}}
    tale.objects["web"] = new
    seen, done = stack.preview(), stack.up()
    print(seen.text, seen.changes, sep="\n")
    assert done.ok, done.text
    assert done.changes == seen.changes
    assert "on a, b: replaced, because spec.selector cannot be changed in place" in seen.text
    hub.settle()
    after = {name: uid(plane) for name, plane in (*tale.planes.items(), ("hub", hub.hub))}
    assert None not in after.values()
    assert not set(after.values()) & set(before.values())
    code, told = status(stack, "--strict")
    assert code == 0, told
    assert {name: tale.image(name) for name in tale.planes} == {"a": "web:2", "b": "web:2"}
    assert stack.preview().changes == {}


def replicas(hub: KarmadaHub, member: str) -> int:
    return int(hub.members[member].get("deployment", "web", "-n", "shop")["spec"]["replicas"])


def policy() -> Data:
    shares = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in (("a", 2), ("b", 1))
    ]
    dividing = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    placement = {
        "clusterTolerations": [{"key": "lab", "operator": "Exists"}],
        "replicaScheduling": {**dividing, "weightPreference": {"staticWeightList": shares}},
    }
    spec = {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]}
    head = {
        "apiVersion": POLICY,
        "kind": "PropagationPolicy",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    return {**head, "spec": {**spec, "placement": placement}}


def override() -> Data:
    patch = {"path": "/metadata/labels", "operator": "add", "value": {"on": "b"}}
    rule = {"targetCluster": {"clusterNames": ["b"]}, "overriders": {"plaintext": [patch]}}
    spec = {
        "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        "overrideRules": [rule],
    }
    head = {
        "apiVersion": POLICY,
        "kind": "OverridePolicy",
        "metadata": {"name": "on", "namespace": "shop"},
    }
    return {**head, "spec": spec}
