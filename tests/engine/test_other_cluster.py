"""The name of a member leads to another cluster: what stood is made anew there, and nothing is done on the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import said
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Story, refused, shop_of, unchanged

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
OBJECTS = (("configmap", "c"), ("deployment", "web"))


@pytest.fixture(scope="module")
def planes() -> Iterator[Planes]:
    """Control planes a, b and c; members have the first two."""
    provider_or_skip()
    with own_control_planes("abc") as started:
        yield started


@pytest.fixture
def shop(
    request: pytest.FixtureRequest, planes: Planes, tmp_path_factory: pytest.TempPathFactory
) -> Engine[Story]:
    """A Deployment and a ConfigMap on the members a and b, then b's kubeconfig leads to c."""
    space = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_")).strip("-")[:50]
    tale = Story(space.strip("-"), planes)
    tale.join("a")
    tale.join("b")
    shop_of(tale)
    engine: Engine[Story] = Engine(tmp_path_factory.mktemp("stack"), world=tale, standin=False)
    done = engine.up()
    assert done.ok, done.text
    tale.join("b", "c")
    return engine


def confirmed(shop: Engine[Story]) -> Any:
    """The update is refused until its token is given, and nothing is written before that."""
    text = refused(shop, "member b: leads to another cluster than before")
    assert set(shop.world.uids(*OBJECTS, on="c").values()) == {None}
    shop.world.config["confirm"] = re.findall(r"fleet:confirm=([0-9a-f]{8})", text)[-1]
    shown, done = shop.preview(), shop.up()
    del shop.world.config["confirm"]
    for outcome in (shown, done):
        assert f"on {uid_of(shop, 'c')} this update creates: ConfigMap" in outcome.text, (
            outcome.text
        )
        assert f"brought to {uid_of(shop, 'b')} stays there" in outcome.text
    return shown, done


def uid_of(shop: Engine[Story], plane: str) -> str:
    return str(shop.world.planes[plane].get("namespace", "kube-system")["metadata"]["uid"])


def test_an_empty_cluster(shop: Engine[Story]) -> None:
    """The other one still answers, and keeps what it has."""
    tale = shop.world
    before = tale.uids(*OBJECTS, on="ab")
    shown, done = confirmed(shop)
    assert shown.ok, shown.text
    assert done.ok, done.text
    assert shown.changes == done.changes
    assert shown.changes[f"Deployment shop@b/{tale.space}/web"] == "create-replacement"
    assert tale.uids(*OBJECTS, on="ab") == before
    new = tale.uids(*OBJECTS, on="c")
    assert None not in new.values()
    unchanged(shop)
    said(shop, "status", 0, "--live")
    # What leaves the source from now on leaves the new cluster, and that alone.
    del tale.objects["c"]
    gone = shop.up()
    assert gone.ok, gone.text
    assert tale.live("c", "configmap", "c") is None
    assert tale.uids(*OBJECTS, on="b") == {key: uid for key, uid in before.items() if key[0] == "b"}
    assert tale.uids(OBJECTS[1], on="c") == {key: uid for key, uid in new.items() if "web" in key}


def test_a_cluster_that_has_some_of_it(shop: Engine[Story]) -> None:
    """What is there is updated in place, whoever has made it; a break in between is made good by the next update."""
    tale = shop.world
    c = tale.planes["c"]
    c.kubectl("create", "namespace", tale.space)
    c.kubectl("create", "quota", "none", "-n", tale.space, "--hard=count/deployments.apps=0")
    tale.config["readyTimeout"] = "20"
    text = refused(shop, "member b: leads to another cluster than before")
    c.kubectl("create", "configmap", "c", "-n", tale.space, "--from-literal=k=theirs")
    theirs = tale.uids(OBJECTS[0], on="c")
    tale.config["confirm"] = re.findall(r"fleet:confirm=([0-9a-f]{8})", text)[-1]
    broken = shop.up()
    del tale.config["confirm"]
    assert not broken.ok
    assert "exceeded quota" in broken.text
    assert tale.uids(OBJECTS[0], on="c") == theirs
    assert tale.live("c", "configmap", "c")["data"] == {"k": "one"}
    assert tale.live("c", "deployment", "web") is None
    said(shop, "status", 2)
    c.kubectl("delete", "quota", "none", "-n", tale.space)
    mended = shop.up()
    assert mended.ok, mended.text
    assert tale.live("c", "deployment", "web") is not None
    assert tale.uids(OBJECTS[0], on="c") == theirs
    unchanged(shop)
    said(shop, "status", 0, "--live")


def test_an_object_of_others_that_would_be_deleted_there(shop: Engine[Story]) -> None:
    tale = shop.world
    c = tale.planes["c"]
    c.kubectl("create", "namespace", tale.space)
    text = refused(shop, "member b: leads to another cluster than before")
    c.kubectl("create", "configmap", "c", "-n", tale.space, "--from-literal=k=theirs")
    tale.config["confirm"] = re.findall(r"fleet:confirm=([0-9a-f]{8})", text)[-1]
    tale.config["limit"] = "1"
    left = tale.objects.pop("c")
    refused(shop, f"ConfigMap {tale.space}/c: would be deleted on b")
    assert tale.live("c", "configmap", "c")["data"] == {"k": "theirs"}
    tale.objects["c"] = left
    done = shop.up()
    assert done.ok, done.text
