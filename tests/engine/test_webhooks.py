"""Admission webhooks on real API servers: one that nobody serves, and a real one that denies or has side effects."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import said
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Data, Story, config_map, shop_of, unchanged
from tests.engine.test_replaced_safely import Shop, shop
from tests.engine.test_replacing import placed_in, sealed
from tests.engine.webhook import NAME, PROBE, WORDS, Webhook, register, registered, webhook
from tools.clusters.cluster import ControlPlane

__all__ = ["shop", "webhook"]
pytestmark = [pytest.mark.engine, pytest.mark.clusters]
KIND = "ConfigMap"


@pytest.fixture(scope="module")
def api_servers() -> Iterator[Planes]:
    """Two of its own."""
    provider_or_skip()
    with own_control_planes("ab") as started:
        yield started


def unserved(plane: ControlPlane, space: str) -> Data:
    """How an API server would reach a webhook behind a Service without endpoints."""
    plane.kubectl("create", "service", "clusterip", "judge", "-n", space, "--tcp=443")
    return {"service": {"namespace": space, "name": "judge", "path": "/"}}


def in_earnest(request: Data) -> bool:
    """Deny a creation that is no dry run."""
    return not request["dryRun"]


def of_two(request: Data) -> bool:
    """Deny the new form of the sealed ConfigMap."""
    return bool(request["object"].get("data", {}).get("k") == "two")


def test_a_webhook_that_nobody_serves(story: Engine[Story]) -> None:
    """On one member: what is new is refused there, what is to be replaced stays; all others are through by then."""
    world = story.world
    shop_of(world, sealed=placed_in(world.space, sealed()[0]))
    world.objects["shop"]["spec"]["strategy"] = {
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}
    }
    assert (done := story.up()).ok, done.text
    objects = (("configmap", "c"), ("configmap", "web"), ("deployment", "web"))
    before = world.uids(*objects)
    new = ("configmap", "d")
    world.objects["d"] = config_map(world.space, name="d")
    with registered(world.planes["b"], world.space, unserved(world.planes["b"], world.space)):
        shown = story.preview()
        assert not shown.ok
        assert f'failed calling webhook "{NAME}"' in shown.text
        broken = story.up()
        assert not broken.ok
        assert f'failed calling webhook "{NAME}"' in broken.text
        assert f"broke on b (ConfigMap {world.space}/d)" in broken.text
        assert [uid is None for uid in world.uids(new).values()] == [False, True]
        print(said(story, "status", 2))
        # What would be replaced is tried first, on all members.
        world.objects["sealed"] = placed_in(world.space, sealed()[1])
        for outcome in (story.preview(), story.up()):
            assert not outcome.ok
            assert "is to be replaced on b, and the API server refuses the new form" in outcome.text
        assert world.uids(*objects) == before
    assert (mended := story.up()).ok, mended.text
    after = world.uids(*objects, new)
    assert None not in after.values()
    assert {key[2] for key in before if after[key] != before[key] and key[1] == "configmap"} == {
        "web"
    }
    unchanged(story)
    said(story, "status", 0, "--live")


def test_a_webhook_that_denies(shop: Shop, webhook: Webhook) -> None:
    """It is asked by a dry run: the old form stays, whether the source goes back or on."""
    shop.open(KIND)
    world, before, old = shop.world, shop.uids(), shop.world.objects[KIND]
    webhook.denies = of_two
    with registered(world.planes["a"], world.space, webhook.client):
        shop.change(KIND)
        for outcome in (shop.engine.preview(), shop.up()):
            assert not outcome.ok
            assert f"{KIND} {world.space}/web" in outcome.text
            assert f'admission webhook "{NAME}" denied the request: {WORDS}' in outcome.text
        assert shop.uids() == before
        assert all(request["dryRun"] for request in webhook.requests)
        wanted, world.objects[KIND] = world.objects[KIND], old
        assert (reverted := shop.engine.up()).ok, reverted.text
        assert shop.uids() == before
        shop.settled()
        world.objects[KIND] = {**wanted, "data": {"k": "three"}}
        assert (mended := shop.engine.up()).ok, mended.text
    assert shop.uids()[KIND] not in (None, before[KIND])
    shop.settled()


@pytest.mark.parametrize("way", ["back", "on"])
def test_a_webhook_that_denies_in_earnest_only(shop: Shop, webhook: Webhook, way: str) -> None:
    """No trial finds that: the failed update says what is gone, and the next one brings it."""
    shop.open(KIND)
    world, before, old = shop.world, shop.uids(), shop.world.objects[KIND]
    webhook.denies = in_earnest
    with registered(world.planes["a"], world.space, webhook.client):
        shop.change(KIND)
        assert (shown := shop.engine.preview()).ok, shown.text
        broken = shop.up()
        assert not broken.ok
        assert WORDS in broken.text
        assert f"gone from a, where it was to be replaced: {KIND} {world.space}/web" in broken.text
        assert shop.uids() == {KIND: None}
        assert "0 of 1 as decided" in said(shop.engine, "status", 2)
    if way == "back":
        world.objects[KIND] = old
    assert (mended := shop.engine.up()).ok, mended.text
    assert shop.uids()[KIND] not in (None, before[KIND])
    assert world.live("a", "configmap", "web")["data"] == {"k": "one" if way == "back" else "two"}
    shop.settled()


def test_a_webhook_with_side_effects(shop: Shop, webhook: Webhook) -> None:
    """No API server of today takes it; one that skips them in dry runs is asked, and takes the new form."""
    shop.open(KIND)
    world, before = shop.world, shop.uids()
    plane = world.planes["a"]
    with pytest.raises(subprocess.CalledProcessError) as refused:
        register(plane, world.space, webhook.client, side_effects="Some")
    assert 'Unsupported value: "Some"' in refused.value.stderr
    with registered(plane, world.space, webhook.client, side_effects="NoneOnDryRun"):
        shop.change(KIND)
        shown, done = shop.engine.preview(), shop.up()
        for outcome in (shown, done):
            assert outcome.ok, outcome.text
            assert "is not checked" not in outcome.text
        asked = [request["dryRun"] for request in webhook.requests if request["name"] != PROBE]
        assert asked[0] is True
        assert asked[-1] is False
        assert shop.uids()[KIND] not in (None, before[KIND])
    shop.settled()
