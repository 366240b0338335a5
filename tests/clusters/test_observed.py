"""Observation of members, held against real API servers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.model.observed import FieldDifference, ObservedObject
from fleet_components.plan.apply_mode import ApplyMode
from tests.control_planes import control_planes
from tools.clusters.cluster import ControlPlane

pytestmark = pytest.mark.clusters
MANAGER = "fleet-components/organization/shop/dev"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with control_planes("x") as started:
        yield started["x"]


def web(name: str = "web", **pods: Any) -> dict[str, Any]:
    labels = {"app": name}
    containers = [{"name": "web", "image": "web:1"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers, **pods}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def deliver(plane: ControlPlane, data: Any) -> None:
    file = plane.folder / "delivered.json"
    file.write_text(json.dumps(data))
    plane.kubectl("apply", "--server-side", f"--field-manager={MANAGER}", "-f", str(file))


def asked(plane: ControlPlane, data: Any, **mode: Any) -> ObservedObject:
    wanted = WantedObject(data, ApplyMode(**mode), MANAGER, causes=True)
    seen = observe({"x": plane.kubeconfig.read_text()}, {"x": [wanted]}, timeout=30)["x"]
    assert not seen.unreached
    return next(iter(seen.objects.values()))


def paths(observed_object: ObservedObject) -> list[str]:
    return [each.path for each in observed_object.differences]


def test_what_is_as_it_was_sent_does_not_differ(plane: ControlPlane) -> None:
    deliver(plane, web("same"))
    assert paths(asked(plane, web("same"))) == []
    assert paths(asked(plane, web("same"), full=True)) == []


def test_what_somebody_has_changed(plane: ControlPlane) -> None:
    deliver(plane, web("changed"))
    plane.kubectl("scale", "deployment/changed", "--replicas=5")
    plane.kubectl("label", "deployment/changed", "by=hand")
    assert asked(plane, web("changed")).differences == (
        FieldDifference("/spec/replicas", "2", "5"),
    )
    assert paths(asked(plane, web("changed"), full=True)) == [
        "/metadata/labels/by",
        "/spec/replicas",
    ]
    assert asked(plane, web("changed"), stops_at_drift=True).applied == "FoundDrifts"
    conflict = asked(plane, web("changed"), forces=False)
    assert conflict.applied == "ManifestApplyFailed"
    assert conflict.error.startswith("Apply failed with 1 conflict: conflict with")
    reported = asked(plane, web("changed"), reports=True)
    assert (reported.compared, paths(reported)) == ("FoundDiff", ["/spec/replicas"])


def test_a_field_that_cannot_be_changed(plane: ControlPlane) -> None:
    deliver(plane, web("immutable"))
    other = web("immutable")
    other["spec"]["selector"]["matchLabels"]["more"] = other["spec"]["template"]["metadata"][
        "labels"
    ]["more"] = "x"
    refused = asked(plane, other)
    assert "field is immutable" in refused.error
    assert "/spec/selector/matchLabels/more" in paths(refused)
    assert asked(plane, other, reports=True).compared == "FoundDiffInDegradedMode"


def test_what_is_not_there(plane: ControlPlane) -> None:
    before = plane.get("ns", "default")
    missing = asked(plane, web("missing"))
    assert (missing.applied, missing.error, paths(missing)) == ("", "", ["/"])
    elsewhere = web("missing")
    elsewhere["metadata"]["namespace"] = "nowhere"
    assert asked(plane, elsewhere).error == 'namespaces "nowhere" not found'
    assert (
        "does not serve"
        in asked(plane, {**web("missing"), "apiVersion": "apps.example.com/v1"}).error
    )
    assert plane.get("ns", "default") == before


def test_why_a_workload_is_not_ready(plane: ControlPlane) -> None:
    stuck = web("stuck", nodeSelector={"no": "where"})
    deliver(plane, stuck)
    plane.kubectl(
        "wait", "pod", "-l", "app=stuck", "--for=condition=PodScheduled=False", "--timeout=60s"
    )
    seen = asked(plane, stuck)
    assert seen.available == "ManifestNotAvailableYet"
    assert any("Unschedulable" in cause and "stuck-" in cause for cause in seen.causes)


def test_what_an_api_server_sets_by_itself_is_no_difference(plane: ControlPlane) -> None:
    """Addresses, ports and labels, which a trial under another name gets otherwise."""
    ports = [{"port": 80}]
    job = {
        "template": {
            "spec": {"containers": [{"name": "c", "image": "c:1"}], "restartPolicy": "Never"}
        }
    }
    meta = {"name": "own", "namespace": "default"}
    for data in (
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta,
            "spec": {"type": "NodePort", "ports": ports},
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": job},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "own"}},
    ):
        deliver(plane, data)
        assert paths(asked(plane, data, full=True)) == []
