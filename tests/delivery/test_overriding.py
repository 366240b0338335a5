"""Overrides of KubeFleet over successive runs: each member gets what they make of the placement's objects."""

from __future__ import annotations

from typing import Any

from tests.delivery.driver import Driver

WEB = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}
IMAGE = "/spec/template/spec/containers/0/image"


def rule(image: str, **labels: str) -> dict[str, Any]:
    """A rule that sets the image on the members with these labels, on all without any."""
    return {
        "clusterSelector": selecting(**labels),
        "jsonPatchOverrides": [{"op": "replace", "path": IMAGE, "value": image}],
    }


def selecting(**labels: str) -> dict[str, Any]:
    return {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": labels}}] if labels else []}


def override(*rules: dict[str, Any], name: str = "edge", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1",
        "kind": "ResourceOverride",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"resourceSelectors": [WEB], "policy": {"overrideRules": list(rules)}, **spec},
    }


def moved(driver: Driver) -> set[str]:
    """The members on which the next update changes an object."""
    changes = driver.preview().changes
    return {
        name.partition("@")[2].partition("/")[0]
        for name in changes
        if name.startswith("Deployment ")
    }


def labelled(driver: Driver) -> None:
    """The placement is on four members, two of which are at the edge."""
    driver.world.members = {"a": {}, "b": {}, "c": {"at": "edge"}, "d": {"at": "edge"}}
    driver.world.rolling = {"maxUnavailable": 1, "maxSurge": 0}
    assert driver.up().ok


def test_an_override_reaches_its_members_alone_and_goes_again(driver: Driver) -> None:
    labelled(driver)
    driver.world.extra = [override(rule("edge:1", at="edge"))]
    shown = driver.preview()
    assert "ResourceOverride shop/edge changes Deployment shop/web" in shown.text
    assert moved(driver) == {"c", "d"}
    assert driver.up().ok
    assert driver.images() == {"a": "web:1", "b": "web:1", "c": "edge:1", "d": "edge:1"}
    assert driver.preview().changes == {}
    assert driver.record()["revision"] == 0
    driver.world.extra = []
    assert (
        "ResourceOverride shop/edge no longer changes Deployment shop/web" in driver.preview().text
    )
    assert driver.up().ok
    assert set(driver.images().values()) == {"web:1"}
    assert driver.preview().changes == {}


def test_a_changed_override_rolls_within_what_may_be_unavailable(driver: Driver) -> None:
    labelled(driver)
    driver.world.extra = [override(rule("edge:1"))]
    assert driver.up().ok
    waves = {name: placed["wave"] for name, placed in driver.record()["decisions"].items()}
    assert sorted(waves.values()) == [1, 2, 3, 4]
    # The first member refuses: none of the others is touched.
    first = next(name for name, wave in waves.items() if wave == 1)
    driver.world.extra = [override(rule("edge:2"))]
    assert not driver.up(fails=first).ok
    assert {image for name, image in driver.images().items() if name != first} == {"edge:1"}
    assert driver.up().ok
    assert set(driver.images().values()) == {"edge:2"}


def test_one_that_fails_holds_its_members_and_not_the_others(driver: Driver) -> None:
    labelled(driver)
    broken = rule("edge:1", at="edge")
    broken["jsonPatchOverrides"][0]["path"] = "/spec/template/spec/initContainers/0/image"
    driver.world.image, driver.world.extra = "web:2", [override(broken)]
    shown = driver.preview()
    assert "fails on c for Deployment shop/web" in shown.text
    assert "spec.policy.overrideRules[0].jsonPatchOverrides[0]: fails on c, d" in shown.text
    assert moved(driver) == {"a", "b"}
    assert driver.up().ok
    assert driver.images() == {"a": "web:2", "b": "web:2", "c": "web:1", "d": "web:1"}
    driver.world.extra = [override(rule("edge:1", at="edge"))]
    assert driver.up().ok
    assert driver.images() == {"a": "web:2", "b": "web:2", "c": "edge:1", "d": "edge:1"}


def test_a_changed_one_moves_only_the_members_whose_objects_change(driver: Driver) -> None:
    labelled(driver)
    driver.world.extra = [override(rule("edge:1", at="edge"))]
    assert driver.up().ok
    # The same objects by other rules, on c and d; another image on a.
    driver.world.members["a"] = {"at": "home"}
    driver.world.extra = [
        override(rule("web:1"), rule("edge:1", at="edge"), rule("home:1", at="home"))
    ]
    assert moved(driver) == {"a"}
    assert driver.up().ok
    assert driver.images() == {"a": "home:1", "b": "web:1", "c": "edge:1", "d": "edge:1"}


def test_delete_removes_the_object_there_alone(driver: Driver) -> None:
    labelled(driver)
    gone = {"clusterSelector": selecting(at="edge"), "overrideType": "Delete"}
    driver.world.extra = [override(gone)]
    shown = driver.preview()
    assert "ResourceOverride shop/edge deletes Deployment shop/web" in shown.text
    assert shown.changes["Deployment shop@c/shop/web"] == "delete"
    assert driver.up().ok
    assert driver.images() == {"a": "web:1", "b": "web:1"}
    assert driver.preview().changes == {}
    driver.world.extra = []
    assert driver.up().ok
    assert set(driver.images()) == {"a", "b", "c", "d"}


def test_variables_have_the_values_of_the_member(driver: Driver) -> None:
    labelled(driver)
    driver.world.extra = [
        override(rule("${MEMBER-CLUSTER-NAME}:${MEMBER-CLUSTER-LABEL-KEY-at}", at="edge"))
    ]
    assert driver.up().ok
    assert driver.images() == {"a": "web:1", "b": "web:1", "c": "c:edge", "d": "d:edge"}


def test_one_of_another_placement_changes_nothing(driver: Driver) -> None:
    labelled(driver)
    driver.world.extra = [override(rule("edge:1"), placement={"name": "another"})]
    shown = driver.preview()
    assert set(shown.changes) == {"Roster dev"}  # which remembers what may not change of it
    assert 'there is no ClusterResourcePlacement "another"' in shown.text
