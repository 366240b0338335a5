"""What Karmada reads out of statuses: the answers of its own interpreter, native and of other projects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.content.health import health
from fleet_components.systems.karmada.status.aggregation import aggregated, reflected

Case = Mapping[str, Any]
RECORDED = json.loads((Path(__file__).parent / "data/interpreter.json").read_text())


def _reflected(case: Case) -> Any:
    data = case["object"]
    return reflected(Manifest(data), data["status"], data["metadata"]["generation"])


ANSWERS: Mapping[str, Callable[[Case], Any]] = {
    "health": lambda case: health(case["object"]),
    "reflect": _reflected,
    "aggregate": lambda case: aggregated(Manifest(case["object"]), case["items"]),
}


@pytest.mark.parametrize(
    "case", RECORDED, ids=lambda case: f"{case['op']} {case['object']['kind']}"
)
def test_the_interpreter_is_met(case: Case) -> None:
    assert ANSWERS[case["op"]](case) == case["answer"]


def test_what_stands_alone_is_healthy_without_a_status() -> None:
    assert health({"apiVersion": "v1", "kind": "ConfigMap"}) == "Healthy"
    assert (
        health({"apiVersion": "v1", "kind": "Service", "spec": {"type": "ClusterIP"}}) == "Healthy"
    )
    assert (
        health({"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer"}})
        == "Unknown"
    )
    assert health({"apiVersion": "apps/v1", "kind": "Deployment"}) == "Unknown"


def test_a_status_of_another_form_is_unknown() -> None:
    assert (
        health(
            {"apiVersion": "kubeflow.org/v1", "kind": "Notebook", "status": {"containerState": 1}}
        )
        == "Unknown"
    )
    assert health({"apiVersion": "v1", "kind": "Pod", "status": {"conditions": ["?"]}}) == "Unknown"
