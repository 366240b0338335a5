"""Members that are lost, taken out and back: nothing is sent to them, and what they still have stays known."""

from __future__ import annotations

import re

import pytest

from tests.delivery.driver import Driver
from tests.engine.driver import Engine

EXTRA = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "shop"},
    "data": {"k": "1"},
}


@pytest.fixture
def lost(driver: Driver) -> Driver:
    """Member d is lost, with a Deployment, a ConfigMap and a Namespace on it."""
    driver.world.extra = [EXTRA]
    assert driver.up().ok
    driver.world.config["lost"] = "d"
    done = driver.up()
    assert done.ok, done.text
    assert (
        "ConfigMap shop/c, Deployment shop/web, Namespace shop of ClusterResourcePlacement/shop on d: forgotten"
        in (done.text)
    )
    assert driver.preview().changes == {}
    return driver


def test_nothing_is_sent_to_a_lost_member(lost: Driver) -> None:
    if isinstance(lost, Engine):
        assert {call["cluster"] for call in lost.calls()} <= {"a", "b", "c"}
        assert (
            lost.standin / "clusters" / "d" / "kubernetes_core_v1_ConfigMap_shop_c.json"
        ).exists() or list((lost.standin / "clusters" / "d").glob("*ConfigMap*"))


def test_what_has_left_the_source_is_deleted_once_the_member_is_back(lost: Driver) -> None:
    """It is remembered while the member is neither declared nor marked."""
    lost.world.members.pop("d")
    assert "member d is lost" in lost.preview().text
    assert lost.up().changes == {}
    del lost.world.config["lost"]
    lost.world.extra = []
    without = lost.up()
    assert without.ok, without.text
    assert "3 objects may still be there" in without.text
    assert lost.preview().changes == {}
    lost.world.members["d"] = {}
    back = lost.preview()
    assert "ConfigMap shop/c on d: deleted: the member is back" in back.text
    assert (
        "Deployment shop/web, Namespace shop on d: taken up again, as the member is back"
        in back.text
    )
    done = lost.up()
    assert done.ok or "cannot be deleted" in done.text, done.text


def test_a_member_that_is_back_takes_up_what_it_has(lost: Driver) -> None:
    del lost.world.config["lost"]
    back = lost.up()
    assert back.ok, back.text
    assert "taken up again, as the member is back" in back.text
    assert "deleted" not in back.text
    assert lost.preview().changes == {}


def test_what_is_remembered_is_dropped_with_a_token_alone(lost: Driver) -> None:
    lost.world.members.pop("d")
    del lost.world.config["lost"]
    (token,) = re.findall("fleet:confirm=([0-9a-f]{8})", lost.preview().text)
    lost.world.config["confirm"] = token
    dropped = lost.up()
    assert dropped.ok, dropped.text
    assert "member d is gone for good: 3 objects may still be there" in dropped.text
    del lost.world.config["confirm"]
    assert "member d" not in lost.preview().text
    assert lost.preview().changes == {}


def test_a_lost_member_that_is_taken_back_before_anything_was_dropped(driver: Driver) -> None:
    """The update broke before the end, so the state still has the objects: nothing is deleted, and nothing listed twice."""
    assert driver.up().ok
    driver.world.config["lost"] = "d"
    driver.world.image = "web:2"
    assert not driver.up(fails="a").ok
    again = driver.preview()
    assert (
        again.text.count(
            "Deployment shop/web, Namespace shop of ClusterResourcePlacement/shop on d: forgotten"
        )
        == 1
    )
    del driver.world.config["lost"]
    back = driver.up()
    assert back.ok, back.text
    assert "deleted" not in back.text
    assert driver.images() == dict.fromkeys("abcd", "web:2")
    assert driver.preview().changes == {}
