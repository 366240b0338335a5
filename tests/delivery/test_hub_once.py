"""Requests that a hub carries out once: made once, whatever becomes of them there."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from tests.delivery.driver import InProcess
from tests.delivery.world import KubeFleetWorld

GROUP = "placement.kubernetes-fleet.io/v1beta1"


@pytest.fixture
def driver() -> InProcess:
    world = KubeFleetWorld(
        members={"a": {}, "b": {}}, config={"delivery": "kubefleet", "kubeconfigs": None}
    )
    driver = InProcess(world)
    assert driver.up().ok
    world.extra = [eviction("go", "a")]
    return driver


def eviction(name: str, member: str) -> dict[str, Any]:
    kind = "ClusterResourcePlacementEviction"
    spec = {"placementName": "shop", "clusterName": member}
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def evictions(driver: InProcess) -> list[str]:
    return [
        resource.name
        for resource in driver.state.resources.values()
        if resource.type.endswith("PlacementEviction")
    ]


def disappears(driver: InProcess) -> None:
    """The hub does not have it any more, and a refresh has found that out."""
    left = {
        urn: resource
        for urn, resource in driver.state.resources.items()
        if resource.name not in evictions(driver)
    }
    driver.state = attrs.evolve(driver.state, resources=left)


def test_what_is_gone_is_not_made_anew(driver: InProcess) -> None:
    assert driver.up().ok
    assert evictions(driver) == ["dev@hub/go"]
    assert driver.preview().changes == {}
    disappears(driver)
    assert driver.preview().changes == {}
    assert driver.up().ok
    assert evictions(driver) == []
    assert driver.preview().changes == {}


def test_another_one_is_made(driver: InProcess) -> None:
    assert driver.up().ok
    disappears(driver)
    driver.world.extra = [eviction("go", "a"), eviction("go-on", "a")]
    assert driver.up().ok
    assert evictions(driver) == ["dev@hub/go-on"]


def test_what_was_taken_out_is_made_when_it_is_written_again(driver: InProcess) -> None:
    assert driver.up().ok
    driver.world.extra = []
    assert driver.up().ok
    assert evictions(driver) == []
    driver.world.extra = [eviction("go", "b")]
    assert driver.up().ok
    assert evictions(driver) == ["dev@hub/go"]


def test_what_was_not_made_is_made_by_the_next_update(driver: InProcess) -> None:
    driver.world.image = "web:2"
    assert not driver.up(fails=["hub"]).ok
    assert evictions(driver) == []
    assert driver.up().ok
    assert evictions(driver) == ["dev@hub/go"]
