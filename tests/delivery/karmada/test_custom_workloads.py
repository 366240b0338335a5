"""Kinds of others with replicas, by the declared path of these."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import Driver, KarmadaWorld, carried_out, on, policy, weights

DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "farms.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Farm", "plural": "farms"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
FARM = {"apiVersion": "example.com/v1", "kind": "Farm", "name": "web"}
WITH_PODS = {
    "apiVersion": "example.com/v1",
    "kind": "Farm",
    "replicas": "spec.size",
    "podTemplate": "spec.pods",
}


def farm(size: int | None, **pod: Any) -> dict[str, Any]:
    """A custom workload."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Farm",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            **({} if size is None else {"size": size}),
            "pods": {"spec": {"containers": [], **pod}},
        },
    }


def declared(*workloads: dict[str, Any]) -> dict[str, Any]:
    """The settings with custom kinds."""
    spec = {"workloads": list(workloads)}
    return {
        "apiVersion": "fleet-components/v1",
        "kind": "KarmadaSettings",
        "metadata": {"name": "k"},
        "spec": spec,
    }


def fleet(
    driver: Driver, size: int | None, placement: dict[str, Any], *workloads: dict[str, Any]
) -> None:
    """A fleet with a custom workload."""
    driver.world.objects = {
        "definition": DEFINITION,
        "web": farm(size),
        "policy": policy(placement=placement, resourceSelectors=[FARM]),
        "settings": declared(*workloads),
    }


def sizes(driver: Driver) -> dict[str, Any]:
    """The replicas of what stands."""
    return {cluster: data["spec"].get("size") for cluster, data in driver.stands("Farm").items()}


def test_replicas_are_divided_and_scaled(driver: Driver) -> None:
    fleet(driver, 6, weights(a=2, b=1), WITH_PODS)
    carried_out(driver)
    assert sizes(driver) == {"a": 4, "b": 2}
    driver.world.objects["web"] = farm(9)
    assert "replicas: a 6 (has 4), b 3 (has 2)" in carried_out(driver).text
    assert driver.record("shop/Farm.example.com/web")["revision"] == 0


def test_undeclared_it_has_none_and_goes_everywhere_as_it_is(
    in_process: InProcess[KarmadaWorld],
) -> None:
    fleet(in_process, 6, weights(a=2, b=1))
    carried_out(in_process)
    assert sizes(in_process) == {"a": 6, "b": 6, "c": 6}


def test_without_the_field_the_default_counts(in_process: InProcess[KarmadaWorld]) -> None:
    fleet(in_process, None, weights(a=1, b=1), {**WITH_PODS, "default": 2})
    carried_out(in_process)
    assert sizes(in_process) == {"a": 1, "b": 1}


def test_what_was_sent_keeps_its_replicas_when_the_declaration_goes(
    in_process: InProcess[KarmadaWorld],
) -> None:
    fleet(in_process, 6, weights(a=2, b=1), WITH_PODS)
    in_process.world.objects["policy"]["spec"]["suspension"] = {}
    carried_out(in_process)
    in_process.world.objects["policy"]["spec"]["suspension"] = {"dispatching": True}
    in_process.world.objects["settings"] = declared()
    carried_out(in_process)
    assert {cluster: size for cluster, size in sizes(in_process).items() if size} == {
        "a": 4,
        "b": 2,
    }


def test_the_declared_pod_template_names_what_goes_along(
    in_process: InProcess[KarmadaWorld],
) -> None:
    fleet(in_process, 2, on("b"), WITH_PODS)
    in_process.world.objects["policy"]["spec"]["propagateDeps"] = True
    volume = {"name": "conf", "configMap": {"name": "conf"}}
    in_process.world.objects["web"] = farm(2, volumes=[volume])
    metadata = {"name": "conf", "namespace": "shop"}
    in_process.world.objects["conf"] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
    }
    carried_out(in_process)
    assert sorted(in_process.stands("ConfigMap")) == ["b"]


def test_the_declared_pod_template_says_what_a_replica_needs(
    in_process: InProcess[KarmadaWorld],
) -> None:
    for name, cpu in (("a", "8"), ("b", "2")):
        summary = {"allocatable": {"cpu": cpu, "pods": "10"}}
        serves = [
            {"groupVersion": "example.com/v1", "resources": [{"kind": "Farm", "name": "farms"}]}
        ]
        in_process.world.members[name]["status"] = {
            "resourceSummary": summary,
            "apiEnablements": serves,
        }
        in_process.world.members[name]["spec"]["resourceModels"] = []
    dynamic = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    }
    fleet(in_process, 5, {**on("a", "b"), "replicaScheduling": dynamic}, WITH_PODS)
    container = {"name": "web", "image": "web:1", "resources": {"requests": {"cpu": "1"}}}
    in_process.world.objects["web"] = farm(5, containers=[container])
    carried_out(in_process)
    assert sizes(in_process) == {"a": 4, "b": 1}


def test_a_script_is_refused_with_what_would_do(in_process: InProcess[KarmadaWorld]) -> None:
    fleet(in_process, 6, on("a"))
    in_process.world.objects["script"] = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "farms"},
        "spec": {"target": {"apiVersion": "example.com/v1", "kind": "Farm"}, "customizations": {}},
    }
    text = in_process.preview().text
    assert "ResourceInterpreterCustomization is not carried out" in text
    assert "say where the kind has its replicas: spec.workloads of a KarmadaSettings" in text


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            {**WITH_PODS, "replicas": "spec..size"},
            'spec.workloads[0].replicas: "spec..size" is not a field',
        ),
        ({**WITH_PODS, "podTemplate": ""}, 'spec.workloads[0].podTemplate: "" is not a field'),
        ({**WITH_PODS, "default": -1}, "spec.workloads[0].default: -1 is not a number of replicas"),
        (
            {"apiVersion": "example.com/v1", "kind": "Farm"},
            "spec.workloads[0].replicas: replicas is missing",
        ),
    ],
)
def test_wrong_declarations_are_refused(
    in_process: InProcess[KarmadaWorld], workload: dict[str, Any], words: str
) -> None:
    fleet(in_process, 6, on("a"), workload)
    assert words in in_process.preview().text


def test_without_the_field_and_without_a_default_it_is_refused(
    in_process: InProcess[KarmadaWorld],
) -> None:
    fleet(in_process, None, weights(a=1, b=1), WITH_PODS)
    assert (
        "spec.size: there is no number of replicas (write it, or declare a default)"
        in in_process.preview().text
    )


def test_replicas_that_are_no_number_are_refused_at_the_declared_field(
    in_process: InProcess[KarmadaWorld],
) -> None:
    fleet(in_process, 6, weights(a=1), WITH_PODS)
    in_process.world.objects["web"]["spec"]["size"] = "many"
    assert "spec.size in body must be of type integer" in in_process.preview().text


def test_an_object_of_a_kind_with_our_own_name_is_only_an_object(driver: Driver) -> None:
    own = {"apiVersion": "example.com/v1", "kind": "CustomWorkload"}
    driver.world.objects = {
        "definition": {
            **DEFINITION,
            "metadata": {"name": "customworkloads.example.com"},
            "spec": {
                **DEFINITION["spec"],
                "names": {"kind": "CustomWorkload", "plural": "customworkloads"},
            },
        },
        "web": {**own, "metadata": {"name": "web", "namespace": "shop"}, "size": 1},
        "policy": policy(placement=on("a"), resourceSelectors=[{**own, "name": "web"}]),
    }
    carried_out(driver)
    assert set(driver.stands("CustomWorkload")) == {"a"}
    driver.world.objects["web"]["size"] = 2
    carried_out(driver)
    assert driver.stands("CustomWorkload")["a"]["size"] == 2
