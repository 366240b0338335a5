"""Labels by which an object asks to be left alone: by its replicas on the members, and by deletion."""

from __future__ import annotations

from typing import Any

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import (
    Driver,
    KarmadaWorld,
    carried_out,
    deployment,
    on,
    policy,
    replicas,
    weights,
)

LABEL = "resourcetemplate.karmada.io/retain-replicas"


def retaining(count: int, image: str = "web:1", label: str = "true") -> dict[str, Any]:
    """The Deployment with the label."""
    web = deployment(count, image)
    web["metadata"]["labels"] = {**web["metadata"]["labels"], LABEL: label}
    return web


def test_a_member_keeps_its_replicas_and_gets_everything_else(driver: Driver) -> None:
    driver.world.objects = {"web": retaining(4), "policy": policy(placement=weights(a=1, b=1))}
    carried_out(driver)
    assert replicas(driver) == {"a": 2, "b": 2}
    driver.world.objects["web"] = retaining(8, "web:2")
    seen = carried_out(driver)
    assert (
        "replicas: each member keeps those that it has, as a label of the object asks" in seen.text
    )
    assert replicas(driver) == {"a": 2, "b": 2}
    assert set(driver.images().values()) == {"web:2"}


def test_without_the_label_the_decided_replicas_are_sent_again(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects = {"web": retaining(4), "policy": policy(placement=weights(a=1, b=1))}
    carried_out(in_process)
    in_process.world.objects["web"] = retaining(8, label="false")
    carried_out(in_process)
    assert replicas(in_process) == {"a": 4, "b": 4}


def test_a_new_member_begins_with_what_was_decided(in_process: InProcess[KarmadaWorld]) -> None:
    in_process.world.objects = {"web": retaining(4), "policy": policy(placement=on("a"))}
    carried_out(in_process)
    in_process.world.objects |= {"web": retaining(6), "policy": policy(placement=on("a", "b"))}
    carried_out(in_process)
    assert replicas(in_process) == {"a": 4, "b": 6}


def test_objects_without_replicas_take_no_notice(in_process: InProcess[KarmadaWorld]) -> None:
    metadata = {"name": "conf", "namespace": "shop", "labels": {LABEL: "true"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}}
    selector = {"apiVersion": "v1", "kind": "ConfigMap", "name": "conf"}
    in_process.world.objects = {
        "conf": config,
        "policy": policy(placement=on("a"), resourceSelectors=[selector]),
    }
    carried_out(in_process)
    in_process.world.objects["conf"] = {**config, "data": {"a": "2"}}
    carried_out(in_process)
    assert in_process.stands("ConfigMap")["a"]["data"] == {"a": "2"}


def test_an_object_that_is_protected_cannot_be_deleted(driver: Driver) -> None:
    web = deployment(2)
    web["metadata"]["labels"]["resourcetemplate.karmada.io/deletion-protected"] = "Always"
    driver.world.config = {"limit": 1}
    driver.world.objects = {
        "web": web,
        "policy": policy(placement=on("a")),
        "other": deployment(1, name="other"),
    }
    carried_out(driver)
    del driver.world.objects["web"]
    refused = driver.up()
    assert not refused.ok
    label = "resourcetemplate.karmada.io/deletion-protected"
    assert "Template/shop/Deployment/web: is protected from deletion by " in refused.text
    assert f"its label {label}" in refused.text
    assert "fleet:confirm=" in refused.text
    assert replicas(driver) == {"a": 2}
    driver.world.objects["web"] = deployment(2)
    carried_out(driver)
    del driver.world.objects["web"]
    carried_out(driver)
    assert replicas(driver) == {}
