"""Replacements by hand that are refused, definitions that are replaced, and what was killed or held in between."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import said
from tests.engine.driver import provider_or_skip
from tests.engine.test_deletions import deleting, finalize
from tests.engine.test_endings import wait_until
from tests.engine.test_replaced_safely import WORDS, Shop, denied, shop

__all__ = ["shop"]
pytestmark = [pytest.mark.engine, pytest.mark.clusters]
MAP = ("configmap", "web")
KIND = "ConfigMap"


@pytest.fixture(scope="module")
def api_servers() -> Iterator[Planes]:
    """Two of its own."""
    provider_or_skip()
    with own_control_planes("ab") as started:
        yield started


@pytest.mark.parametrize("way", ["the same", "another", "gone"])
def test_replaced_by_hand_and_refused(shop: Shop, way: str) -> None:
    """The program does not see ``--replace``: nothing is tried, and the failed update says what is gone."""
    shop.open(KIND)
    world, before = shop.world, shop.uids()
    with denied(world.planes["a"], world.space, "object.metadata.name != 'web'", "configmaps"):
        code, text = shop.engine.command("up", "--yes", "--skip-preview", "--replace=**ConfigMap::dev/one@a/**")
        assert code != 0
        assert WORDS in text
        assert f"ConfigMap (dev/one@a/{world.space}/web)" in text
        assert shop.uids() == {KIND: None}
        print(said(shop.engine, "status", 2))
        shown = shop.engine.preview()
        print(shown.text, shown.changes)
    match way:
        case "another":
            world.objects[KIND] = {**world.objects[KIND], "data": {"k": "three"}}
        case "gone":
            del world.objects[KIND]
    shown = shop.engine.preview()
    assert shown.ok, shown.text
    print(shown.text, shown.changes)
    assert (mended := shop.engine.up()).ok, mended.text
    assert mended.changes == shown.changes
    if way == "gone":
        assert world.live("a", *MAP) is None
    else:
        assert shop.uids()[KIND] not in (None, before[KIND])
    shop.settled()


@pytest.mark.parametrize("way", ["back", "on", "another"])
def test_killed_in_a_replacement(shop: Shop, way: str) -> None:
    """The plain next update creates what was deleted, and says so."""
    shop.open(KIND)
    world, plane, old = shop.world, shop.world.planes["a"], shop.world.objects[KIND]
    finalize(world, "a", *MAP, "example.com/held")
    shop.change(KIND)
    process = shop.engine.start("up", "--yes", "--skip-preview")
    try:
        wait_until(lambda: deleting(world, "a", *MAP), lambda: process.poll() is None)
        os.killpg(process.pid, signal.SIGKILL)
    finally:
        process.communicate(timeout=120)
    finalize(world, "a", *MAP)
    assert shop.uids() == {KIND: None}
    assert shop.engine.command("cancel", "--yes")[0] == 0
    print(said(shop.engine, "status", 2))
    match way:
        case "back":
            world.objects[KIND] = old
        case "another":
            world.objects[KIND] = {**old, "metadata": {**old["metadata"], "labels": {"more": "yes"}}}
    shop.confirm()
    shown = shop.engine.preview()
    print(shown.text, shown.changes)
    done = shop.engine.up()
    assert done.ok, done.text
    assert None not in shop.uids().values()
    assert done.changes == shown.changes
    shop.settled()
    assert plane.get(*MAP, "-n", world.space)["data"] == {"k": "two" if way == "on" else "one"}


@pytest.mark.parametrize("way", ["back", "on", "another"])
def test_a_replacement_that_a_finalizer_holds(shop: Shop, way: str) -> None:
    """It ends in time; what is being deleted is not taken for what stands, whatever the source says next."""
    shop.world.config["readyTimeout"] = "10"
    shop.open(KIND)
    world, old = shop.world, shop.world.objects[KIND]
    finalize(world, "a", *MAP, "example.com/held")
    shop.change(KIND)
    broken = shop.up()
    assert not broken.ok
    print(broken.text)
    assert deleting(world, "a", *MAP)
    print(said(shop.engine, "status", 2))
    match way:
        case "back":
            world.objects[KIND] = old
        case "another":
            world.objects[KIND] = {**old, "metadata": {**old["metadata"], "labels": {"more": "yes"}}}
    held = shop.engine.up()
    print(held.text)
    assert not held.ok
    assert f"{KIND} {world.space}/web" in held.text
    finalize(world, "a", *MAP)
    wait_until(lambda: world.live("a", *MAP) is None)
    done = shop.engine.up()
    assert done.ok, done.text
    assert None not in shop.uids().values()
    shop.settled()
