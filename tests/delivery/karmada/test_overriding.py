"""Override policies over successive runs: each member gets what they make of the object."""

from __future__ import annotations

from typing import Any

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import (
    WEB,
    Driver,
    KarmadaWorld,
    carried_out,
    delivered,
    deployment,
    member,
    of_kind,
    on,
    policy,
    replicas,
    weights,
)


def override(*members: str, **more: Any) -> dict[str, Any]:
    """The policy ``mirror``: another registry on these members, and more overriders."""
    registry = {"component": "Registry", "operator": "replace", "value": "mirror.example.com"}
    rule = {
        "targetCluster": {"clusterNames": list(members)},
        "overriders": {"imageOverrider": [registry], **more},
    }
    return {
        **policy("mirror", "OverridePolicy"),
        "spec": {"resourceSelectors": [WEB], "overrideRules": [rule]},
    }


def test_an_override_reaches_its_members_alone(driver: Driver) -> None:
    delivered(driver, on("a", "b"))
    driver.world.objects["override"] = override("b")
    assert of_kind(carried_out(driver)) == {"b": "update"}
    assert driver.images() == {"a": "web:1", "b": "mirror.example.com/web:1"}
    del driver.world.objects["override"]
    assert driver.up().ok
    assert driver.images() == {"a": "web:1", "b": "web:1"}


def test_an_override_beats_the_division(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, weights(a=1, b=1))
    patch = [{"path": "/spec/replicas", "operator": "replace", "value": 7}]
    in_process.world.objects["override"] = override("b", plaintext=patch)
    assert in_process.up().ok
    assert replicas(in_process) == {"a": 2, "b": 7}


def test_a_rename_by_override_leaves_nothing_behind(driver: Driver) -> None:
    delivered(driver, on("a"))
    patch = [{"path": "/metadata/name", "operator": "replace", "value": "www"}]
    driver.world.objects["override"] = override("a", plaintext=patch)
    seen = carried_out(driver)
    assert seen.changes["Deployment shop/Deployment/web@a/shop/www"] == "create"
    assert seen.changes["Deployment shop/Deployment/web@a/shop/web"] == "delete"
    assert driver.stands()["a"]["metadata"]["name"] == "www"


def test_an_override_that_fails_holds_its_members_alone(driver: Driver) -> None:
    delivered(driver, on("a", "b", "c"))
    driver.world.objects["web"] = deployment(4, "web:2")
    patch = [{"path": "/spec/nothing/here", "operator": "remove"}]
    driver.world.objects["override"] = override("b", plaintext=patch)
    seen = driver.preview()
    assert "OverridePolicy shop/mirror: spec.overrideRules[0].overriders" in seen.text
    assert "exclude b" in seen.text
    assert of_kind(carried_out(driver)) == {"a": "update", "c": "update"}
    assert driver.images() == {"a": "web:2", "b": "web:1", "c": "web:2"}
    driver.world.objects["override"] = override("b")
    assert of_kind(carried_out(driver)) == {"b": "update"}
    assert driver.images()["b"] == "mirror.example.com/web:2"


def test_a_member_joins_once_its_override_applies(in_process: InProcess[KarmadaWorld]) -> None:
    patch = [{"path": "/spec/nothing/here", "operator": "remove"}]
    in_process.world.objects["override"] = override("b", plaintext=patch)
    delivered(in_process, on("a", "b"))
    assert in_process.images() == {"a": "web:1"}
    in_process.world.objects["override"] = override("b")
    assert of_kind(carried_out(in_process)) == {"b": "create"}


def test_a_changed_override_moves_the_members_whose_objects_change(driver: Driver) -> None:
    driver.world.objects["override"] = override("a", "b")
    delivered(driver, on("a", "b", "c"))
    label = {"labelsOverrider": [{"operator": "add", "value": {"edge": "yes"}}]}
    rules = driver.world.objects["override"]["spec"]["overrideRules"]
    driver.world.objects["override"] = override("a", "b")
    driver.world.objects["override"]["spec"]["overrideRules"] = [
        *rules,
        {"targetCluster": {"clusterNames": ["a"]}, "overriders": label},
    ]
    seen = driver.preview()
    assert [name for name in seen.changes if "@b" in name or "@c" in name] == []
    assert any("@a" in name for name in seen.changes)
    assert of_kind(carried_out(driver)) == {"a": "update"}


def test_an_override_whose_policy_waits_for_it(in_process: InProcess[KarmadaWorld]) -> None:
    waiting = policy(placement=on("a"), dependentOverrides=["mirror"])
    in_process.world.objects = {"web": deployment(4), "policy": waiting}
    assert in_process.up().ok
    assert in_process.stands() == {}
    in_process.world.objects["override"] = override("a")
    carried_out(in_process)
    assert in_process.images() == {"a": "mirror.example.com/web:1"}


def test_a_policy_that_selects_the_new_name_of_a_renamed_object_applies(
    in_process: InProcess[KarmadaWorld],
) -> None:
    rename = {"path": "/metadata/name", "operator": "replace", "value": "shop-front"}
    rules: list[dict[str, Any]] = [{"overriders": {"plaintext": [rename]}}]
    add = {"labelsOverrider": [{"operator": "add", "value": {"renamed": "yes"}}]}
    front = {**WEB, "name": "shop-front"}
    delivered(in_process, on("a"), 2)
    in_process.world.objects |= {
        "rename": policy("rename", "ClusterOverridePolicy", overrideRules=rules),
        "label": policy(
            "label",
            "OverridePolicy",
            resourceSelectors=[front],
            overrideRules=[{"overriders": add}],
        ),
    }
    carried_out(in_process)
    metadata = in_process.stands()["a"]["metadata"]
    assert (metadata["name"], metadata["labels"]["renamed"]) == ("shop-front", "yes")


def test_where_dispatching_is_suspended_a_new_label_of_the_member_changes_nothing(
    driver: Driver,
) -> None:
    labelled = override("b")
    labelled["spec"]["overrideRules"][0]["targetCluster"] = {
        "labelSelector": {"matchLabels": {"air": "gapped"}}
    }
    driver.world.objects["override"] = labelled
    delivered(driver, on("a", "b"), suspension={})
    driver.world.objects["policy"] = policy(
        placement=on("a", "b"), suspension={"dispatching": True}
    )
    carried_out(driver)
    driver.world.members["b"] = member("b", labels={"air": "gapped"})
    assert of_kind(carried_out(driver)) == {}
    assert driver.images() == {"a": "web:1", "b": "web:1"}
    driver.world.objects["policy"] = policy(placement=on("a", "b"))
    assert of_kind(carried_out(driver)) == {"b": "update"}
    assert driver.images() == {"a": "web:1", "b": "mirror.example.com/web:1"}
