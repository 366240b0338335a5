"""Overrides that take objects out, rollbacks, envelopes and evictions through several updates of real API servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_planes import Planes, own_control_planes
from tests.delivery.test_evictions import GROUP
from tests.engine.checked import checked
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Data, Story, config_map, shop_of

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
