"""What a workload needs goes where it goes, before it."""

from __future__ import annotations

from typing import Any

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import Driver, KarmadaWorld, carried_out, deployment, on, policy

CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "shop"},
    "data": {},
}
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "token", "namespace": "shop"},
    "data": {"token": "c2VjcmV0"},
}


def needing(*volumes: dict[str, Any]) -> dict[str, Any]:
    return deployment(4, volumes=[{"name": f"v{i}", **volume} for i, volume in enumerate(volumes)])


def test_dependencies_go_where_the_workload_goes(driver: Driver) -> None:
    objects = driver.world.objects
    objects["policy"] = policy(placement=on("a", "b"), propagateDeps=True)
    objects["web"] = needing(
        {"configMap": {"name": "settings"}}, {"secret": {"secretName": "token"}}
    )
    objects |= {"settings": CONFIG, "token": SECRET}
    carried_out(driver)
    assert set(driver.stands("ConfigMap")) == set(driver.stands("Secret")) == {"a", "b"}
    objects["policy"] = policy(placement=on("b", "c"), propagateDeps=True)
    assert driver.up().ok
    assert set(driver.stands("ConfigMap")) == {"b", "c"}
    objects["web"] = needing({"secret": {"secretName": "token"}})
    assert driver.up().ok
    assert driver.stands("ConfigMap") == {}
    assert set(driver.stands("Secret")) == {"b", "c"}
    objects["policy"] = policy(placement=on("b", "c"))
    carried_out(driver)
    assert driver.stands("Secret") == {}


def test_a_dependency_with_a_policy_of_its_own_goes_to_both(
    in_process: InProcess[KarmadaWorld],
) -> None:
    objects = in_process.world.objects
    objects |= {"policy": policy(placement=on("a"), propagateDeps=True), "settings": CONFIG}
    objects["web"] = needing({"configMap": {"name": "settings"}})
    selector = {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}
    objects["own"] = policy("own", placement=on("c"), resourceSelectors=[selector])
    assert in_process.up().ok
    assert set(in_process.stands("ConfigMap")) == {"a", "c"}
    objects["settings"] = {**CONFIG, "data": {"colour": "red"}}
    assert in_process.up().ok
    assert {data["data"]["colour"] for data in in_process.stands("ConfigMap").values()} == {"red"}


def test_a_namespace_goes_before_what_is_in_it(in_process: InProcess[KarmadaWorld]) -> None:
    objects = in_process.world.objects
    objects |= {"web": deployment(4), "policy": policy(placement=on("a"))}
    objects["namespace"] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    run = in_process.run()
    web = run.named("dev/shop/Deployment/web@a/shop/web")
    namespace = run.named("dev/Namespace/shop@a", "Binding")
    assert namespace.urn in web.dependencies
    carried_out(in_process)
