"""Values of objects that are read here: what cannot be read is refused with its field, and nothing else is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.admission.workload import misread
from fleet_components.content.availability import trackable
from fleet_components.content.dependencies import dependencies_of
from fleet_components.model.manifest import Manifest, replicas_of, shape_of
from fleet_components.model.problem import Problem, show_path
from fleet_components.systems.karmada.content.replicas import divide_completions, requirements_of

RECORDED = json.loads(
    (Path(__file__).parents[1] / "content/karmada/data/workloads.json").read_text()
)
OBJECTS = [
    *(case["object"] for case in RECORDED if "spec" in case["object"]),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"type": "ClusterIP"},
    },
]


def problems_of(data: dict[str, Any]) -> list[Problem]:
    manifest = Manifest(data)
    return list(dict.fromkeys(misread(manifest, shape_of(manifest))))


def workload(kind: str = "Deployment", api: str = "apps/v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": spec,
    }


def pod(**fields: Any) -> dict[str, Any]:
    return workload(template={"spec": fields})


POD = "spec.template.spec"


@pytest.mark.parametrize(
    ("data", "field", "hint"),
    [
        ({**workload(), "spec": "oops"}, "spec", "write spec: {}"),
        (workload(replicas="many"), "spec.replicas", "write replicas: 3"),
        (workload(replicas=-1), "spec.replicas", "write replicas: 3"),
        (workload(replicas=2**31), "spec.replicas", "write replicas: 2147483647"),
        (workload(replicas=1e300), "spec.replicas", "write replicas: 3"),
        (workload(replicas=True), "spec.replicas", "write replicas: 3"),
        (workload(template="x"), "spec.template", "write template: {}"),
        (
            pod(containers=["nginx"]),
            f"{POD}.containers[0]",
            "write {name: web, image: 'nginx:1.27'}",
        ),
        (pod(containers=[None]), f"{POD}.containers[0]", "write {name: web, image: 'nginx:1.27'}"),
        (pod(containers={"name": "web"}), f"{POD}.containers", "write containers: [{name: web}]"),
        (pod(initContainers="x"), f"{POD}.initContainers", "write initContainers: [{name: web"),
        (pod(imagePullSecrets=["key"]), f"{POD}.imagePullSecrets[0]", "write {name: shop}"),
        (
            pod(volumes=[{"secret": "key"}]),
            f"{POD}.volumes[0].secret",
            "write secret: {secretName: shop}",
        ),
        (
            pod(containers=[{"env": [{"valueFrom": "x"}]}]),
            f"{POD}.containers[0].env[0].valueFrom",
            "valueFrom: {}",
        ),
        (
            pod(containers=[{"resources": {"requests": {"cpu": "1core"}}}]),
            f"{POD}.containers[0].resources.requests.cpu",
            "write a quantity, such as 250m or 1Gi",
        ),
        (pod(overhead={"cpu": False}), f"{POD}.overhead.cpu", "write a quantity"),
        (workload("Job", "batch/v1", completions="x"), "spec.completions", "write completions: 1"),
        (
            workload("Ingress", "networking.k8s.io/v1", tls=["x"]),
            "spec.tls[0]",
            "write {secretName: shop}",
        ),
        (workload("Service", "v1", type=5), "spec.type", "write type: '5'"),
        (
            workload("StatefulSet", volumeClaimTemplates=["x"]),
            "spec.volumeClaimTemplates[0]",
            "write {}",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(data: dict[str, Any], field: str, hint: str) -> None:
    (problem,) = problems_of(data)
    assert show_path(problem.path) == field
    assert hint in problem.hint


@pytest.mark.parametrize("data", OBJECTS, ids=lambda data: data["kind"])
def test_what_real_systems_take_is_taken(data: dict[str, Any]) -> None:
    assert problems_of(data) == []


def test_what_is_left_out_or_null_is_no_mistake() -> None:
    nothing = dict.fromkeys(("containers", "volumes", "affinity", "overhead", "imagePullSecrets"))
    assert problems_of({**pod(**nothing), "status": 5}) == []
    assert (
        problems_of(pod(containers=[{"resources": {"requests": {"cpu": None, "memory": 1.5}}}]))
        == []
    )
    assert (
        problems_of(
            {"apiVersion": "example.com/v1", "kind": "Deployment", "metadata": {}, "spec": "x"}
        )
        == []
    )


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something may be written instead."""
    if path:
        yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from places(item, (*path, key))


values = st.sampled_from(
    [None, "x", 5, -1, 0.5, True, [], ["x"], [None], {}, {"a": "b"}, [{"name": 5}], [[1]]]
)


@settings(max_examples=300)
@given(st.sampled_from(OBJECTS), st.data())
def test_what_is_taken_can_be_read(data: dict[str, Any], draw: st.DataObject) -> None:
    """Whatever stands at any place: it is refused with its field, or all that reads it comes to an end."""
    changed = copy.deepcopy(data)
    *around, last = draw.draw(st.sampled_from([path for path in places(data) if path[0] == "spec"]))
    parent = changed
    for step in around:
        parent = parent[step]
    parent[last] = draw.draw(values)
    manifest = Manifest(changed)
    if not problems_of(changed):
        if manifest.kind not in ("CloneSet", "StatefulSet") or "replicas" in (
            changed.get("spec") or {}
        ):
            divide_completions(manifest, {"a": replicas_of(manifest)}, "")
        requirements_of(manifest)
        dependencies_of(manifest)
        trackable(manifest)
