"""Deletions that do not end: finalizers that nobody handles, and a namespace that its cluster is deleting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import said
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Story, config_map, refused, shop_of, unchanged
from tests.engine.test_endings import wait_until

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
OBJECTS = (("configmap", "c"), ("deployment", "web"))
HELD = (("a", "configmap", "c"), ("b", "configmap", "c"))
DESTROY = ("destroy", "--yes", "--skip-preview")


@pytest.fixture(scope="module")
def api_servers() -> Iterator[Planes]:
    """Two of its own."""
    provider_or_skip()
    with own_control_planes("ab") as started:
        yield started


@pytest.fixture
def shop(story: Engine[Story]) -> Engine[Story]:
    """A Namespace with a Deployment and a ConfigMap on both; deletions may take 15 seconds."""
    shop_of(story.world)
    story.world.config["readyTimeout"] = "15"
    assert (done := story.up()).ok, done.text
    return story


def finalize(world: Story, plane: str, kind: str, name: str, *finalizers: str) -> None:
    """Set the finalizers of an object; without any, what is being deleted goes."""
    listed = ", ".join(f'"{finalizer}"' for finalizer in finalizers)
    patch = f'--patch={{"metadata": {{"finalizers": [{listed}]}}}}'
    world.planes[plane].kubectl("patch", kind, name, "-n", world.space, "--type=merge", patch)


def deleting(world: Story, plane: str, kind: str, name: str) -> bool:
    live = world.live(plane, kind, name)
    return bool(live) and "deletionTimestamp" in live["metadata"]


def held_in_destroy(shop: Engine[Story]) -> str:
    """Destroy, which ends although objects of both members have finalizers; returns what is printed."""
    world = shop.world
    for where in HELD:
        finalize(world, *where, "example.com/held")
    assert shop.unprotect().ok
    # The command would be ended after five minutes, before the ten of the provider are over.
    code, text = shop.command(*DESTROY)
    print(text)
    assert code != 0
    assert "Traceback" not in text, text
    for plane, kind, name in HELD:
        assert deleting(world, plane, kind, name)
    return text


def test_destroy_with_finalizers(shop: Engine[Story]) -> None:
    """Bounded by the timeout, it names what is held, and ends once that is mended."""
    world = shop.world
    text = held_in_destroy(shop)
    print(text)
    print(said(shop, "status", 2))
    print(said(shop, "status", 2, "--live"))
    for where in HELD:
        finalize(world, *where)
    code, text = shop.command(*DESTROY)
    assert code == 0, text
    assert set(world.uids(*OBJECTS).values()) == {None}
    assert None not in world.uids(("namespace", world.space)).values()
    assert not shop.state().resources


def test_a_fleet_that_is_kept_after_all(shop: Engine[Story]) -> None:
    """What is being deleted is refused as long as it is there; a refresh brings it back afterwards."""
    world = shop.world
    before = world.uids(*OBJECTS)
    held_in_destroy(shop)
    del world.config["protect"]
    refused(shop, f"ConfigMap {world.space}/c: is being deleted on a, b")
    for where in HELD:
        finalize(world, *where)
    comes_back(shop, f"ConfigMap {world.space}/c: is gone from a, b")
    assert not set(world.uids(*OBJECTS).values()) & set(before.values())


def comes_back(shop: Engine[Story], words: str) -> None:
    """What the state still has, and its member not, is refused, and created once a refresh knows of it."""
    refused(shop, words, "pulumi refresh")
    assert (found := shop.refresh()).ok, found.text
    assert (done := shop.up()).ok, done.text
    assert None not in shop.world.uids(*OBJECTS).values()
    unchanged(shop)
    said(shop, "status", 0, "--live")


def test_a_deletion_that_a_finalizer_holds(shop: Engine[Story]) -> None:
    """The source goes back before and after it ends: the object is never taken for what stands."""
    world = shop.world
    web = world.uids(OBJECTS[1])
    finalize(world, "b", *OBJECTS[0], "example.com/held")
    old = world.objects.pop("c")
    broken = shop.up()
    assert not broken.ok
    assert "finalizers might be preventing deletion (example.com/held)" in broken.text
    assert "1 leaving: some of its objects are not" in said(shop, "status", 2)
    live = " ".join(said(shop, "status", 2, "--live").split())
    assert f"ConfigMap {world.space}/c" in live
    assert "its finalizers: example.com/held" in live
    world.objects["c"] = old
    refused(shop, f"ConfigMap {world.space}/c: is being deleted on b")
    finalize(world, "b", *OBJECTS[0])
    comes_back(shop, f"ConfigMap {world.space}/c: is gone from b")
    assert world.uids(OBJECTS[1]) == web


def terminate(world: Story, plane: str) -> None:
    """Have an API server delete the namespace, in which something is held."""
    server = world.planes[plane]
    server.kubectl("create", "configmap", "held", "-n", world.space)
    finalize(world, plane, "configmap", "held", "example.com/held")
    server.kubectl("delete", "namespace", world.space, "--wait=false")
    wait_until(lambda: deleting(world, plane, "configmap", "held"))


def gone(world: Story, plane: str) -> None:
    """Let the namespace go."""
    finalize(world, plane, "configmap", "held")
    wait_until(lambda: world.live(plane, "namespace", world.space) is None)


def test_a_namespace_that_one_member_is_deleting(shop: Engine[Story]) -> None:
    """Nothing new comes to any member until it has gone; then a refresh brings all of it back."""
    world = shop.world
    on_a = world.uids(*OBJECTS, on="a")
    terminate(world, "b")
    wait_until(lambda: world.live("b", "configmap", "c") is None)
    world.objects["d"] = config_map(world.space, name="d")
    text = refused(shop, f"ConfigMap {world.space}/d", "is being deleted on b")
    print(text)
    assert set(world.uids(("configmap", "d")).values()) == {None}
    gone(world, "b")
    done = shop.up_refreshed()
    assert done.ok, done.text
    assert None not in world.uids(*OBJECTS, ("configmap", "d")).values()
    assert world.uids(*OBJECTS, on="a") == on_a
    unchanged(shop)
    said(shop, "status", 0, "--live")


def test_a_new_namespace_that_one_member_is_deleting(story: Engine[Story]) -> None:
    world = story.world
    world.planes["b"].kubectl("create", "namespace", world.space)
    terminate(world, "b")
    shop_of(world)
    refused(story, f"Namespace {world.space}: is being deleted on b")
    assert world.live("a", "namespace", world.space) is None
    gone(world, "b")
    assert (done := story.up()).ok, done.text
    assert None not in world.uids(*OBJECTS).values()
    unchanged(story)
    said(story, "status", 0, "--live")
