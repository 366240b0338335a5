"""What Karmada reads out of workloads and sets in them: replicas, requirements, dependencies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components.content.dependencies import Dependency, dependencies_of
from fleet_components.model.manifest import Manifest, WorkloadShape, completions_of, replicas_of
from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.content.replicas import (
    Requirements,
    divide_completions,
    requirements_of,
    with_replicas,
)

RECORDED = json.loads((Path(__file__).parent / "data/workloads.json").read_text())
GAME = WorkloadShape("game.io/v1", "Game", ("spec", "size"), ("spec", "pod"))


def _job(**spec: Any) -> Manifest:
    return Manifest(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}
    )


def _deployment(**spec: Any) -> Manifest:
    metadata = {"name": "web", "namespace": "default"}
    return Manifest(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    )


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["object"]["kind"])
def test_the_default_interpreter_is_met(case: dict[str, Any]) -> None:
    manifest = Manifest(case["object"])
    assert replicas_of(manifest) == case.get("replicas", 0)
    assert _requirements(requirements_of(manifest)) == _recorded_requirements(
        case.get("requirements")
    )
    found = [
        [it.api_version, it.kind, it.namespace, it.name, dict(it.labels)]
        for it in dependencies_of(manifest)
    ]
    assert sorted(found, key=str) == sorted(case["deps"], key=str)


def _requirements(found: Requirements | None) -> Any:
    if found is None:
        return None
    claim = found.node_claim
    return (
        _nano(found.requests),
        claim and (dict(claim.node_selector), list(claim.tolerations), claim.hard_node_affinity),
    )


def _recorded_requirements(recorded: Mapping[str, Any] | None) -> Any:
    if recorded is None:
        return None
    claim = recorded.get("nodeClaim")
    parts = claim and (
        claim.get("nodeSelector") or {},
        claim.get("tolerations") or [],
        claim.get("hardNodeAffinity"),
    )
    return _nano(recorded.get("resourceRequest") or {}), parts


def _nano(amounts: Mapping[str, str]) -> dict[str, int]:
    return {name: parse_quantity(amount).nano for name, amount in amounts.items()}


@pytest.mark.parametrize(
    ("manifest", "replicas", "completions"),
    [
        (_deployment(), 1, None),
        (_deployment(replicas=3), 3, None),
        (_deployment(replicas=2.0), 2, None),
        (_job(), 1, 1),
        (_job(parallelism=4), 4, None),
        (_job(completions=7), 1, 7),
        (_job(parallelism=4, completions=2), 2, 2),
        (Manifest({"apiVersion": "v1", "kind": "ConfigMap"}), 0, None),
        (
            Manifest({"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {"replicas": 3}}),
            0,
            None,
        ),
        (Manifest({"apiVersion": "v1", "kind": "Pod"}), 1, None),
        (
            Manifest(
                {
                    "apiVersion": "apps.kruise.io/v1alpha1",
                    "kind": "CloneSet",
                    "spec": {"replicas": 4},
                }
            ),
            4,
            None,
        ),
    ],
)
def test_replicas_are_those_that_the_api_server_would_store(
    manifest: Manifest, replicas: int, completions: int | None
) -> None:
    assert (replicas_of(manifest), completions_of(manifest)) == (replicas, completions)


def test_a_divided_job_divides_its_completions_by_the_parallelism_of_each_member() -> None:
    job = _job(parallelism=4, completions=10)
    assert divide_completions(job, {"member1": 3, "member2": 1}, "") == {"member1": 7, "member2": 3}
    assert divide_completions(_job(parallelism=4), {"member1": 3, "member2": 1}, "") == {}
    assert with_replicas(job, 3, 7) == _job(parallelism=3, completions=7).data


def test_replicas_are_set_where_the_kind_keeps_them_and_nowhere_else() -> None:
    deployment, config = (
        _deployment(),
        Manifest({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}),
    )
    assert with_replicas(deployment, 5) == _deployment(replicas=5).data
    assert deployment.data["spec"] == {}
    assert with_replicas(config, 5) == config.data


def test_a_declared_kind_is_a_workload() -> None:
    pod = {
        "spec": {
            "containers": [{"resources": {"requests": {"cpu": "1"}}}],
            "serviceAccountName": "game",
        }
    }
    game = Manifest(
        {
            "apiVersion": "game.io/v1",
            "kind": "Game",
            "metadata": {"namespace": "a"},
            "spec": {"size": 2, "pod": pod},
        }
    )
    assert (replicas_of(game), requirements_of(game), dependencies_of(game)) == (0, None, ())
    assert replicas_of(game, [GAME]) == 2
    assert requirements_of(game, [GAME]) == Requirements({"cpu": "1000m"})
    assert [str(it.name) for it in dependencies_of(game, [GAME])] == ["game"]
    changed = with_replicas(game, 7, declared=[GAME])
    assert changed["spec"]["size"] == 7


def test_a_dependency_names_its_object() -> None:
    volume = {"name": "v", "secret": {"secretName": "tls"}}
    (dependency,) = dependencies_of(
        _deployment(template={"spec": {"containers": [], "volumes": [volume]}})
    )
    assert dependency == Dependency("Secret", "tls", "v1", "default")
