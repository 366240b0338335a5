"""Recordings in which objects go along with others: their bindings, copies and statuses are compared like all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.delivery.karmada.recording import Recording
from tests.delivery.karmada.replay import Replay
from tests.vectors import vectors

MEMBERS = ("member1", "member2")


def recorded() -> Any:
    """A recording in which the Deployment needs a ConfigMap, as a control plane shows it (facts of ``propagateDeps``)."""
    data = vectors("karmada-live/seed_06_clusternames")
    (step,) = data["steps"] = data["steps"][:1]
    policy, workload = step["apply"]
    policy["spec"]["propagateDeps"] = True
    workload["spec"]["template"]["spec"]["volumes"] = [
        {"name": "conf", "configMap": {"name": "conf"}}
    ]
    step["apply"].append(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "1"}}
    )
    after, space = step["after"], data["namespace"]
    (parent,) = after["bindings"]
    for member in MEMBERS:
        after["memberObjects"][member].append(
            {
                "kind": "ConfigMap",
                "name": f"{space}/conf",
                "labels": {"karmada.io/managed": "true"},
                "data": {"a": "1"},
            }
        )
    after["bindings"].append(
        {
            "kind": "ResourceBinding",
            "name": f"{space}/conf-configmap",
            "resource": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": "conf",
                "namespace": space,
            },
            "requiredBy": [
                {"namespace": space, "name": "nginx-deployment", "clusters": parent["clusters"]}
            ],
            "conditions": [
                condition
                for condition in parent["conditions"]
                if condition["type"] == "FullyApplied"
            ],
            "aggregatedStatus": [
                {"applied": True, "clusterName": name, "health": "Healthy"} for name in MEMBERS
            ],
        }
    )
    return data


def found(data: Any) -> list[str]:
    return [item.words for item in Replay.of(Recording("attached", data)).unexplained()]


def test_what_goes_along_is_as_recorded() -> None:
    assert found(recorded()) == []


def _elsewhere(after: Any) -> None:
    after["bindings"][1]["requiredBy"][0]["clusters"].pop()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda after: after["bindings"].pop(), "ConfigMap conf: only here"),
        (_elsewhere, "ConfigMap conf: requiredBy"),
        (
            lambda after: after["bindings"][1]["requiredBy"][0].update(name="x"),
            "ConfigMap conf: requiredBy",
        ),
        (
            lambda after: after["bindings"][1]["aggregatedStatus"].pop(),
            "member2 of ConfigMap conf: only here",
        ),
        (
            lambda after: after["memberObjects"]["member1"].pop(),
            "member1 ConfigMap conf: only here",
        ),
        (
            lambda after: after["memberObjects"]["member1"][-1].update(data={}),
            "member1 ConfigMap conf: data",
        ),
    ],
)
def test_another_recording_does_not_pass(change: Callable[[Any], object], words: str) -> None:
    data = recorded()
    change(data["steps"][0]["after"])
    assert any(item.startswith(words) for item in found(data))


def test_a_binding_that_is_attached_to_nothing_any_more_counts_for_nothing() -> None:
    data = recorded()
    data["steps"][0]["after"]["bindings"].append(
        {
            "kind": "ResourceBinding",
            "name": "x/old-secret",
            "resource": {"apiVersion": "v1", "kind": "Secret", "name": "old", "namespace": "x"},
        }
    )
    assert found(data) == []
