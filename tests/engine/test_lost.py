"""Members that are lost on real API servers: nothing is sent to them, whether they answer or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import checked
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Story, config_map, refused, shop_of, unchanged

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
OBJECTS = (("configmap", "c"), ("deployment", "web"), ("pvc", "data"))


@pytest.fixture(scope="module")
def planes() -> Iterator[Planes]:
    """Two control planes that may be stopped."""
    provider_or_skip()
    with own_control_planes("ab") as started:
        yield started


@pytest.fixture
def shop(
    request: pytest.FixtureRequest, planes: Planes, tmp_path_factory: pytest.TempPathFactory
) -> Engine[Story]:
    """A Deployment, a ConfigMap and a claim on both members."""
    space = (
        re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))
        .strip("-")[:50]
        .strip("-")
    )
    tale = Story(space, planes)
    tale.join("a")
    tale.join("b")
    shop_of(tale, data=claim(space))
    engine: Engine[Story] = Engine(tmp_path_factory.mktemp("stack"), world=tale, standin=False)
    done = engine.up()
    assert done.ok, done.text
    return engine


def claim(space: str) -> dict[str, Any]:
    """A PersistentVolumeClaim, which nothing waits for."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": space,
            "annotations": {"pulumi.com/skipAwait": "true"},
        },
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def test_a_lost_member_that_answers(shop: Engine[Story]) -> None:
    """It is left as it is, taken out, and back: rid of what has left the source, and with everything else alive."""
    tale = shop.world
    before = tale.uids(*OBJECTS)
    assert None not in before.values()
    tale.config["lost"] = "b"
    tale.objects["c"] = config_map(tale.space, "two")
    step = checked(shop)
    assert "forgotten, as the member is lost" in step.done.text
    assert tale.uids(*OBJECTS) == before
    assert tale.live("b", "configmap", "c")["data"] == {"k": "one"}
    # The claim leaves the source while the member is neither declared nor marked.
    tale.leave("b")
    del tale.config["lost"], tale.objects["data"]
    gone = shop.up()
    assert gone.ok, gone.text
    assert "member b is lost, nothing is sent to it: 4 objects may still be there" in gone.text
    tale.join("b")
    back = checked(shop)
    assert (
        f"PersistentVolumeClaim {tale.space}/data on b: deleted: the member is back"
        in back.done.text
    )
    assert "on b: taken up again, as the member is back" in back.shown.text
    (entry,) = (item for item in back.plan["subjects"][0]["content"] if item["change"] == "update")
    assert (entry["takenUp"], [field["field"] for field in entry["fields"]]) == (True, ["data.k"])
    kept = {key: uid for key, uid in before.items() if "pvc" not in key}
    assert {key: tale.uids(*OBJECTS)[key] for key in kept} == kept
    assert tale.live("b", "configmap", "c")["data"] == {"k": "two"}


@pytest.mark.parametrize("how", ["hangs", "refuses", "is back in time"])
def test_a_lost_member_that(shop: Engine[Story], how: str) -> None:
    """Whatever it does, the update goes through at once, and the member keeps what it has."""
    tale = shop.world
    b, before = tale.planes["b"], tale.uids(*OBJECTS)
    tale.config["lost"] = "b"
    if how == "refuses":
        tale.config["kubeconfigs"]["b"] = without_token(tale.config["kubeconfigs"]["b"])
    else:
        b.pause()
    try:
        if how == "is back in time":
            assert shop.preview().ok
            b.resume()
        done = shop.up()
    finally:
        b.resume()
    assert done.ok, done.text
    assert "forgotten, as the member is lost" in done.text
    assert not [urn for urn in shop.state().resources if "shop@b" in urn]
    assert tale.uids(*OBJECTS) == before


def without_token(kubeconfig: str) -> str:
    """The same kubeconfig with credentials that its API server refuses."""
    config = yaml.safe_load(kubeconfig)
    config["users"] = [
        {"name": item["name"], "user": {"token": "expired"}} for item in config["users"]
    ]
    return yaml.safe_dump(config)


def test_objects_of_a_lost_member_that_are_targeted_alone(shop: Engine[Story]) -> None:
    """Their provider is updated as well, and names no cluster: they are dropped, and not deleted."""
    tale = shop.world
    before = tale.uids(*OBJECTS)
    tale.config["lost"] = "b"
    done = shop.target("**::dev/shop@b/**")
    assert done.ok, done.text
    assert done.changes["kubernetes b"] == "update"
    assert tale.uids(*OBJECTS) == before
    checked(shop, on="a")
    assert tale.uids(*OBJECTS) == before


def test_a_lost_member_in_an_update_that_breaks(shop: Engine[Story]) -> None:
    """Taken back before anything was dropped from the state: everything is managed as before."""
    tale = shop.world
    before, source = tale.uids(*OBJECTS), tale.source()
    tale.config["lost"] = "b"
    tale.objects["c"]["data"] = {"k": "x" * 2_000_000}  # more than an API server takes
    assert not shop.up().ok
    assert tale.uids(*OBJECTS) == before
    tale.go_back(source)
    checked(shop)
    assert tale.uids(*OBJECTS) == before


def test_another_cluster_under_the_name_of_a_lost_one(shop: Engine[Story]) -> None:
    """What the lost one may have is not looked for on the other."""
    tale = shop.world
    before = tale.uids(*OBJECTS)
    tale.config["lost"] = "b"
    checked(shop, on="a")
    del tale.config["lost"]
    tale.leave("b")
    del tale.objects["data"]
    checked(shop, on="a")
    with own_control_planes("c") as others:
        tale.planes = {**tale.planes, "c": others["c"]}
        tale.join("b", "c")
        token = re.findall(
            r"fleet:confirm=([0-9a-f]{8})", refused(shop, "member b: leads to another cluster")
        )
        tale.config["confirm"] = token[-1]
        done = shop.up()
        assert done.ok, done.text
        del tale.config["confirm"]
        unchanged(shop)
        assert None not in tale.uids(*OBJECTS[:2], on="c").values()
        assert tale.uids(*OBJECTS) == before | {("a", *OBJECTS[-1]): None}
        tale.planes.pop("c")
