"""Replacements by hand that are refused, definitions that are replaced, and what was killed or held in between."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
import yaml

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import checked, said
from tests.engine.driver import provider_or_skip
from tests.engine.stories import Data, placement, refused
from tests.engine.test_replaced_safely import WORDS, Shop, denied, shop
from tools.clusters.cluster import ControlPlane

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
        code, text = shop.engine.command(
            "up", "--yes", "--skip-preview", "--replace=**ConfigMap::dev/one@a/**"
        )
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


def test_a_definition_that_is_replaced(shop: Shop) -> None:
    """With a token, and without objects of ours of its kind: the old ones would be deleted by their names later."""
    shop.open(custom=True)
    world, before = shop.world, shop.uids()
    defined = "CustomResourceDefinition"
    theirs = {"metadata": {"name": "theirs", "namespace": world.space}}
    applied(world.planes["a"], {**world.objects["Widget"], **theirs})
    whole = copy.deepcopy(world.objects[defined])
    whole["spec"]["scope"] = "Cluster"
    widget = {**world.objects["Widget"], "metadata": {"name": "web"}}
    item = placement("one", world.objects["space"], whole, widget)
    world.objects |= {defined: whole, "Widget": widget, "one": item}
    text = refused(
        shop.engine, f"widgets.{shop.group}: cannot be replaced on a while the fleet has objects"
    )
    assert f"Widget {world.space}/web" in text
    assert shop.uids() == before
    del world.objects["Widget"]
    world.objects[defined], world.objects["one"] = (
        before_scope(whole),
        placement("one", world.objects["space"], whole),
    )
    assert (done := shop.engine.up()).ok, done.text
    world.objects[defined] = whole
    refused(shop.engine, f"widgets.{shop.group}: would be deleted on a and made anew")
    shop.confirm()
    assert (done := shop.engine.up()).ok, done.text
    assert shop.uids()[defined] not in (None, before[defined])
    world.objects |= {"Widget": widget, "one": item}
    assert (done := shop.engine.up()).ok, done.text
    found = [each["metadata"] for each in world.planes["a"].get(f"widgets.{shop.group}")["items"]]
    assert [(each["name"], each.get("namespace")) for each in found] == [("web", None)]
    shop.settled()


def before_scope(data: Data) -> Data:
    """A definition as it was, with objects in namespaces."""
    return {**data, "spec": {**data["spec"], "scope": "Namespaced"}}


def applied(plane: ControlPlane, data: Data) -> None:
    """Write an object as somebody else."""
    file = plane.folder / "theirs.yaml"
    file.write_text(yaml.safe_dump(data))
    plane.kubectl("apply", "-f", str(file))


def test_a_custom_resource_that_its_definition_refuses(shop: Shop) -> None:
    """Updated in place, it stays as it was; replaced by hand, it is gone until the next update creates it."""
    shop.open(custom=True)
    world, old = shop.world, shop.world.objects["Widget"]
    version = world.objects["CustomResourceDefinition"]["spec"]["versions"][0]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["size"]["maxLength"] = 5
    assert (done := shop.engine.up()).ok, done.text
    before = shop.uids()
    world.objects["Widget"] = {**old, "spec": {"size": "far too long"}}
    by_hand = "--replace=**Widget::dev/one@a/**"
    shown = shop.engine.command("preview", by_hand)[1]
    for text in (shop.up().text, shown):
        assert "spec.size: Too long" in text
    assert shop.uids() == before
    code, text = shop.engine.command("up", "--yes", "--skip-preview", by_hand)
    assert code != 0
    assert "spec.size: Too long" in text
    assert f"gone from a: Widget {world.space}/web (pulumi up --refresh creates it again)" in text
    assert shop.uids() == {**before, "Widget": None}
    said(shop.engine, "status", 2)
    world.objects["Widget"] = old
    checked(shop.engine)
    assert shop.uids()["Widget"] not in (None, before["Widget"])
