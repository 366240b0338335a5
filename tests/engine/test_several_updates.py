"""Overrides that take objects out, rollbacks, envelopes and evictions through several updates of real API servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_planes import Planes, own_control_planes
from tests.delivery.test_evictions import GROUP, budget, eviction
from tests.delivery.test_update_runs import approved, run
from tests.engine.checked import checked
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import (
    Data,
    Story,
    config_map,
    deployment,
    namespace,
    pick,
    placement,
    refused,
    shop_of,
)
from tests.engine.test_envelopes import envelope
from tests.engine.test_evictions import tainted
from tests.engine.test_identity import tokens
from tests.engine.test_replacing import placed_in, sealed
from tests.engine.test_update_runs import strategy

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
C, WEB = ("configmap", "c"), ("deployment", "web")


@pytest.fixture(scope="module")
def api_servers() -> Iterator[Planes]:
    """Two of its own."""
    provider_or_skip()
    with own_control_planes("ab") as started:
        yield started


def taking_out(space: str, kind: str, name: str, **labels: str) -> Data:
    """A ResourceOverride that takes an object out on the members with some labels."""
    terms = [{"labelSelector": {"matchLabels": labels}}]
    rule = {"clusterSelector": {"clusterSelectorTerms": terms}, "overrideType": "Delete"}
    group = "apps" if kind == "Deployment" else ""
    selected = {"group": group, "version": "v1", "kind": kind, "name": name}
    return {
        "apiVersion": GROUP.replace("v1beta1", "v1"),
        "kind": "ResourceOverride",
        "metadata": {"name": "out", "namespace": space},
        "spec": {"resourceSelectors": [selected], "policy": {"overrideRules": [rule]}},
    }


def data_of(world: Story, plane: str) -> Any:
    live = world.live(plane, *C)
    return live and live["data"]["k"]


def test_an_override_takes_an_object_out_and_lets_it_return(story: Engine[Story]) -> None:
    """It goes from its members alone, stays out while its source changes, and comes back as that has become."""
    world = story.world
    world.members["b"] = {"at": "edge"}
    shop_of(world)
    assert (done := story.up()).ok, done.text
    before = world.uids(C, WEB)
    world.objects["out"] = taking_out(world.space, "ConfigMap", "c", at="edge")
    step = checked(story)
    assert f"ConfigMap {world.space}/c" in step.shown.text
    assert world.uids(C, WEB) == {**before, ("b", *C): None}
    world.objects["c"] = config_map(world.space, "two")
    checked(story)
    assert (data_of(world, "a"), data_of(world, "b")) == ("two", None)
    # The other member, and another object beside: both at once.
    world.members |= {"a": {"at": "edge"}, "b": {}}
    checked(story)
    assert (data_of(world, "a"), data_of(world, "b")) == (None, "two")
    del world.objects["out"]
    checked(story)
    assert (data_of(world, "a"), data_of(world, "b")) == ("two", "two")
    assert world.uids(WEB) == {key: uid for key, uid in before.items() if key[1:] == WEB}
    assert not set(world.uids(C).values()) & set(before.values())


def test_a_rollback_brings_back_what_has_gone(story: Engine[Story]) -> None:
    """A run that ``fleet rollback`` writes: deleted, created, replaced and updated in one go, each called so."""
    world, space = story.world, namespace(story.world.space)
    world.members = {"a": {"stage": "canary"}, "b": {"stage": "prod"}}
    shop = placement("shop", space)
    shop["spec"]["strategy"] = {"type": "External"}
    old, new = (placed_in(world.space, item) for item in sealed())
    first = {
        "old": config_map(world.space, name="old"),
        "sealed": old,
        "web": deployment(world.space),
    }
    kinds = {"space": space, "shop": shop, "careful": strategy()}
    world.objects = {**kinds, **first, "one": run("one"), "yes": approved("one")}
    assert (done := story.up()).ok, done.text
    second = {
        "new": config_map(world.space, name="new"),
        "sealed": new,
        "web": deployment(world.space, "web:2"),
    }
    world.objects = {**kinds, **second, "two": run("two"), "yes": approved("two")}
    checked(story)
    alive = world.uids(WEB)
    code, text = story.command(
        "stack", "export", "--show-secrets", "--file", str(story.folder / "state.json")
    )
    assert code == 0, text
    back = (
        "rollback",
        "shop",
        "fleet",
        "--state",
        str(story.folder / "state.json"),
        "--to",
        "0",
        "--name",
        "back",
    )
    with story.fleet(*back, "--write") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, (out, err)
    checked(story, settled=False)
    assert [bool(world.live(name, "configmap", "old")) for name in "ab"] == [True, False]
    world.objects["approval"] = approved("back")
    checked(story)
    for name in "ab":
        assert world.live(name, "configmap", "new") is None
        assert world.live(name, "configmap", "old") is not None
        assert world.live(name, "configmap", "web")["data"] == old["data"]
    assert world.uids(WEB) == alive


def test_an_envelope_moves_with_evictions(story: Engine[Story]) -> None:
    """What is in it goes where the placement goes, in its present form, and leaves nothing behind."""
    world, space = story.world, namespace(story.world.space)
    inside = envelope(
        "e", world.space, c=config_map(world.space), web=deployment(world.space, waits=120)
    )
    world.objects = {"space": space, "e": inside, "shop": placement("shop", space, policy=pick(1))}
    assert (done := story.up()).ok, done.text
    (there,) = (name for name in "ab" if world.live(name, *C))
    other = "b" if there == "a" else "a"
    before = world.uids(C, WEB, on=there)
    # Refused by a budget: all stays, and the content changes in place.
    world.objects |= {"out": eviction("out", there), "budget": budget(minAvailable=1)}
    world.objects["e"] = envelope(
        "e", world.space, c=config_map(world.space, "two"), web=deployment(world.space, waits=120)
    )
    checked(story)
    assert world.uids(C, WEB, on=there) == before
    assert data_of(world, there) == "two"
    # Allowed, and another object comes in the same update.
    del world.members[there], world.objects["budget"]
    more = config_map(world.space, name="d")
    world.objects |= {"member": tainted(there), "out": eviction("again", there)}
    world.objects["e"] = envelope("e", world.space, c=config_map(world.space, "three"), d=more)
    checked(story)
    assert set(world.uids(C, WEB, on=there).values()) == {None}
    assert (data_of(world, other), bool(world.live(other, "configmap", "d"))) == ("three", True)
    assert world.live(other, *WEB) is None
    # The envelope goes, and what was in it; the member that was left stays empty.
    del world.objects["e"], world.objects["out"]
    world.config["confirm"] = ",".join(tokens(refused(story, "would lose 2 objects on 1 member")))
    checked(story)
    assert set(world.uids(C, ("configmap", "d")).values()) == {None}
