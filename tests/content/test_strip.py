"""Exactly what KubeFleet strips goes, everything else stays."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_components.content.strip import strip
from fleet_components.model.manifest import Manifest
from tests.content.build import obj, objects

GONE = {
    "creationTimestamp": "x",
    "deletionTimestamp": "x",
    "generation": 3,
    "managedFields": [{}],
    "ownerReferences": [{}],
    "resourceVersion": "1",
    "selfLink": "/x",
    "uid": "1",
}
STAYS = {
    "finalizers": ["x/y"],
    "labels": {"a": "b", "kubernetes-fleet.io/mine": "x"},
    "deletionGracePeriodSeconds": 3,
}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
UIDS = {"controller-uid": "1", "batch.kubernetes.io/controller-uid": "1", "app": "web"}


def test_metadata_and_status() -> None:
    stripped = strip(
        obj("ConfigMap", "c", metadata={**GONE, **STAYS}, status={"a": 1}, data={"status": "x"})
    )
    wanted = {"name": "c", **STAYS}
    assert stripped.data == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": wanted,
        "data": {"status": "x"},
    }


@pytest.mark.parametrize(
    ("annotations", "left"),
    [
        ({LAST_APPLIED: "{}", "note": "keep"}, {"note": "keep"}),
        (
            {"deployment.kubernetes.io/revision": "7", "kubernetes-fleet.io/mine": "y"},
            {"kubernetes-fleet.io/mine": "y"},
        ),
        ({LAST_APPLIED: "{}"}, None),
        ({}, None),
    ],
)
def test_annotations(annotations: dict[str, str], left: dict[str, str] | None) -> None:
    stripped = strip(obj("ConfigMap", "c", metadata={"annotations": annotations}))
    assert stripped.metadata.get("annotations") == left


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        ({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}, {}),
        (
            {"clusterIP": "None", "clusterIPs": ["None"]},
            {"clusterIP": "None", "clusterIPs": ["None"]},
        ),
        ({"clusterIPs": ["10.0.0.1"]}, {"clusterIPs": ["10.0.0.1"]}),
        ({"healthCheckNodePort": 30000, "type": "LoadBalancer"}, {"type": "LoadBalancer"}),
        (
            {"ports": [{"port": 80, "nodePort": 30123}, {"port": 81}]},
            {"ports": [{"port": 80}, {"port": 81}]},
        ),
        ({"ports": None}, {"ports": None}),
    ],
)
def test_services(spec: dict[str, Any], left: dict[str, Any]) -> None:
    assert strip(obj("Service", "s", spec=spec)).data["spec"] == left
    other = obj("Service", "s", api="serving.knative.dev/v1", spec=spec)
    assert strip(other).data["spec"] == spec


@pytest.mark.parametrize(
    ("manual", "api", "stripped"),
    [
        (None, "batch/v1", True),
        (False, "batch/v1", True),
        (True, "batch/v1", False),
        (None, "batch/v2", False),
    ],
)
def test_jobs(manual: bool | None, api: str, stripped: bool) -> None:
    template = {"metadata": {"creationTimestamp": None, "labels": UIDS}, "spec": {}}
    spec = {"selector": {"matchLabels": UIDS}, "template": template, "manualSelector": manual}
    left = {"app": "web"}
    wanted = {
        "selector": {"matchLabels": left},
        "template": {"metadata": {"labels": left}, "spec": {}},
    }
    found = strip(obj("Job", "j", api=api, spec=spec)).data["spec"]
    assert found == ({**wanted, "manualSelector": manual} if stripped else spec)


def test_a_deployment_keeps_labels_that_jobs_lose() -> None:
    spec = {"selector": {"matchLabels": UIDS}}
    assert strip(obj("Deployment", "d", api="apps/v1", spec=spec)).data["spec"] == spec


@settings(max_examples=40)
@given(objects())
def test_stripping_twice_is_stripping_once_and_leaves_the_original_alone(
    data: dict[str, Any],
) -> None:
    data["metadata"] |= GONE
    before = copy.deepcopy(data)
    once = strip(Manifest(data))
    assert strip(once) == once
    assert data == before
