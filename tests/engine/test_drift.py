"""What somebody has changed or deleted by hand, on real API servers: what the engine does, and what `fleet drift` says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.engine.driver import Engine
from tests.engine.stories import Story, carried_out, config_map, namespace, placement, shop_of
from tests.engine.test_own_provider import PROGRAM

pytestmark = pytest.mark.engine


@pytest.fixture
def shop(story: Engine[Story]) -> Engine[Story]:
    """A Namespace with a Deployment and a ConfigMap on both members."""
    shop_of(story.world)
    assert (first := story.up()).ok, first.text
    return story


def by_hand(tale: Story, *command: str) -> None:
    tale.planes["b"].kubectl(*command, "-n", tale.space)


def patch(tale: Story, value: str) -> None:
    by_hand(tale, "patch", "configmap", "c", "-p", json.dumps({"data": {"k": value}}))


def value(tale: Story) -> str | None:
    found = tale.live("b", "configmap", "c")
    return found and str(found["data"]["k"])


def replicas(tale: Story) -> int:
    return int(tale.live("b", "deployment", "web")["spec"]["replicas"])


def test_an_update_sees_it_if_it_is_refreshed(shop: Engine[Story]) -> None:
    """An unchanged one does not look; neither a preview nor a refresh fails on what somebody else has set."""
    tale = shop.world
    patch(tale, "by hand")
    by_hand(tale, "scale", "deployment", "web", "--replicas=4")
    for outcome in (shop.preview(), shop.up()):
        assert (outcome.ok, outcome.changes) == (True, {}), outcome.text
    assert (value(tale), replicas(tale)) == ("by hand", 4)
    assert (mended := shop.up_refreshed()).ok, mended.text
    assert (value(tale), replicas(tale)) == ("one", 1)
    by_hand(tale, "delete", "configmap", "c")
    assert shop.up().changes == {}
    assert value(tale) is None
    assert (mended := shop.up_refreshed()).ok, mended.text
    assert value(tale) == "one"
    by_hand(tale, "scale", "deployment", "web", "--replicas=4")
    assert (refreshed := shop.refresh()).ok, refreshed.text
    assert shop.preview().changes == {f"Deployment shop@b/{tale.space}/web": "update"}
    assert shop.up().ok
    assert replicas(tale) == 1


def drift(engine: Engine[Story], *args: str, status: int = 0) -> str:
    """Everything that the command prints on standard output."""
    with engine.fleet("drift", ".", "--stack", engine.name, *args) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == status, (out, err)
    return out


def found(engine: Engine[Story], status: int) -> Any:
    return json.loads(drift(engine, "-o", "json", "--detailed-exitcode", status=status))


def test_it_is_told_by_member_object_and_field(shop: Engine[Story]) -> None:
    tale = shop.world
    assert found(shop, 0)["drifted"] is False
    patch(tale, "by hand")
    by_hand(tale, "annotate", "deployment", "web", "other=theirs")
    by_hand(tale, "scale", "deployment", "web", "--replicas=4")
    document = found(shop, 2)
    a, b = document["members"]
    assert (a["name"], a["objects"]) == ("a", [])
    assert {
        (item["kind"], each["path"], each["delivered"], each["there"])
        for item in b["objects"]
        for each in item["differences"]
    } == {
        ("ConfigMap", "/data/k", "one", "by hand"),
        ("Deployment", "/spec/replicas", "1", "4"),
    }
    drift(shop, "--strict", status=3)
    by_hand(tale, "delete", "configmap", "c")
    assert f"- ConfigMap {tale.space}/c of ClusterResourcePlacement/shop: missing" in drift(shop)
    tale.planes["a"].pause()
    try:
        assert "does not answer" in drift(shop, "--timeout", "2", status=1)
    finally:
        tale.planes["a"].resume()


def test_a_refresh_hides_none(shop: Engine[Story]) -> None:
    tale = shop.world
    patch(tale, "by hand")
    by_hand(tale, "delete", "deployment", "web")
    before = found(shop, 2)
    assert (refreshed := shop.refresh()).ok, refreshed.text
    assert found(shop, 2) == before
    assert (mended := shop.up()).ok, mended.text
    assert found(shop, 0)["drifted"] is False


def test_it_is_adopted(shop: Engine[Story]) -> None:
    """A change on all members goes into the file; the next update then changes nothing of it on any member."""
    tale = shop.world
    for plane in tale.planes.values():
        plane.kubectl("scale", "deployment", "web", "-n", tale.space, "--replicas=4")
    text = drift(shop, "--adopt")
    assert "replicas: 4" in text
    assert "not written, without --write" in text
    drift(shop, "--adopt", "--write")
    written = yaml.safe_load_all((shop.project / "fleet" / "fleet.yaml").read_text())
    (tale.objects["web"],) = (item for item in written if item["kind"] == "Deployment")
    before = {
        name: tale.live(name, "deployment", "web")["metadata"]["generation"] for name in tale.planes
    }
    carried_out(shop)
    assert {
        name: tale.live(name, "deployment", "web")["metadata"]["generation"] for name in tale.planes
    } == before
    assert found(shop, 0)["drifted"] is False


def test_a_provider_of_ones_own_may_not_force(
    tale: Story, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Then a preview fails on what somebody has changed; an update without a preview overwrites it all the same."""
    for name in tale.planes:
        tale.join(name)
    space = namespace(tale.space)
    tale.objects = {"space": space, "c": config_map(tale.space), "shop": placement("shop", space)}
    own = {
        "enable_config_map_mutable": True,
        "enable_secret_mutable": True,
        "upsert_existing_objects": True,
    }
    tale.config["own:providers"] = {"b": {**own, "cluster_identifier": "b"}}
    engine = Engine(tmp_path_factory.mktemp("stack"), PROGRAM, tale, standin=False)
    assert (first := engine.up()).ok, first.text
    for name, plane in tale.planes.items():
        plane.kubectl(
            "patch",
            "configmap",
            "c",
            "-n",
            tale.space,
            "-p",
            json.dumps({"data": {"k": f"by hand on {name}"}}),
        )
    told = [
        item["differences"] for member in found(engine, 2)["members"] for item in member["objects"]
    ]
    assert [each["there"] for item in told for each in item] == ["by hand on a", "by hand on b"]
    tale.objects["c"] = config_map(tale.space, "two")
    seen = engine.preview()
    assert not seen.ok
    assert 'conflict with "kubectl-patch"' in seen.text
    assert (done := engine.up()).ok, done.text
    assert [tale.live(name, "configmap", "c")["data"] for name in tale.planes] == [
        {"k": "two"},
        {"k": "two"},
    ]
