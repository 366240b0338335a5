"""The real provider on real API servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_components.testing import kubeconfig
from tests.control_planes import Given, Planes, control_planes
from tests.engine.driver import Engine, provider_or_skip
from tools.clusters.cluster import Cluster

pytestmark = [pytest.mark.engine, pytest.mark.clusters]


@pytest.fixture
def planes(request: pytest.FixtureRequest) -> Iterator[Planes]:
    """Two control planes, or as many as the test names."""
    provider_or_skip()
    names = getattr(request, "param", "ab")
    with control_planes(names) as started:
        yield started


@pytest.fixture
def clusters(planes: Planes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A stack on them; clusters that were given are left as they were."""
    engine = stack_on(planes, tmp_path_factory.mktemp("stack"))
    yield engine
    if any(isinstance(plane, Given) for plane in planes.values()):
        engine.world.config["keepClusterResources"] = "false"
        assert engine.unprotect().ok
        assert engine.destroy().ok


def stack_on(planes: Planes, folder: Path, name: str = "dev") -> Engine:
    engine = Engine(folder, standin=False, name=name)
    engine.world.members = {name: {} for name in planes}
    engine.world.config = {
        "kubeconfigs": {name: plane.kubeconfig.read_text() for name, plane in planes.items()}
    }
    engine.world.extra = [config_map("one"), secret("one")]
    return engine


def config_map(value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "shop"},
        "data": {"k": value},
    }


def secret(value: str) -> dict[str, Any]:
    metadata = {"name": "s", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"k": value}}


def image(plane: Cluster) -> str:
    deployment = plane.get("deployment", "web", "-n", "shop")
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def test_a_fleet_of_two(clusters: Engine, planes: Planes) -> None:
    assert (first := clusters.up()).ok, first.text
    for plane in planes.values():
        deployment = plane.get("deployment", "web", "-n", "shop")
        assert deployment["status"]["availableReplicas"] == 1
        assert (
            deployment["metadata"]["annotations"]["fleet-components/stack"]
            == "organization/fleet/dev"
        )
        assert (
            deployment["metadata"]["annotations"]["fleet-components/placement"]
            == "ClusterResourcePlacement/shop"
        )
    assert clusters.preview().changes == {}
    uids = {
        name: plane.get("cm", "c", "-n", "shop")["metadata"]["uid"]
        for name, plane in planes.items()
    }
    clusters.world.extra = [config_map("two"), secret("two")]
    changed = clusters.up()
    assert changed.ok, changed.text
    assert {
        changed.changes[f"{kind} shop@{name}/shop/{kind[0].lower()}"]
        for kind in ("ConfigMap", "Secret")
        for name in planes
    } == {"update"}
    assert set(changed.changes.values()) == {"update"}
    for name, plane in planes.items():
        found = plane.get("cm", "c", "-n", "shop")
        assert (found["metadata"]["uid"], found["data"]) == (uids[name], {"k": "two"})
    rotated = planes["a"].kubeconfig.read_text() + "\n# rotated\n"
    clusters.world.config["kubeconfigs"]["a"] = rotated
    seen = clusters.up()
    assert seen.ok, seen.text
    assert seen.changes == {"kubernetes a": "update"}
    assert clusters.preview().changes == {}


@pytest.mark.parametrize("planes", ["abc"], indirect=True)
def test_a_member_that_is_lost(clusters: Engine, planes: Planes) -> None:
    clusters.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    assert clusters.up().ok
    assert clusters.runs().keys() == {"b", "c"}
    planes["c"].kill()
    clusters.world.config["lost"] = "c"
    moved = clusters.up()
    assert moved.ok, moved.text
    assert image(planes["a"]) == image(planes["b"]) == "web:1"
    assert not [r for r in clusters.state().resources.values() if "shop@c" in r.urn]
    assert clusters.preview().changes == {}


def test_a_member_that_nothing_answers_for_is_named(clusters: Engine, planes: Planes) -> None:
    clusters.world.config["kubeconfigs"]["b"] = kubeconfig("b")
    refused = clusters.up()
    assert not refused.ok
    assert "shop@b/shop" in refused.text
    assert "unreachable" in refused.text
    clusters.world.config["kubeconfigs"]["b"] = planes["b"].kubeconfig.read_text()
    assert clusters.up().ok
    assert {image(plane) for plane in planes.values()} == {"web:1"}


def test_custom_resources_wait_for_their_definition(clusters: Engine, planes: Planes) -> None:
    clusters.world.extra = [
        WIDGETS,
        widget("first"),
        {"apiVersion": "v1", "kind": "List", "items": [config_map("in a list")]},
    ]
    clusters.world.selectors = [
        {
            "group": "apiextensions.k8s.io",
            "version": "v1",
            "kind": "CustomResourceDefinition",
            "name": "widgets.example.com",
        }
    ]
    first = clusters.up()
    assert first.ok, first.text
    for plane in planes.values():
        assert plane.get("widgets", "w", "-n", "shop")["spec"] == {"size": "first"}
        assert plane.get("cm", "c", "-n", "shop")["data"] == {"k": "in a list"}
    clusters.world.extra[1] = widget("second")
    assert clusters.up().ok
    assert planes["a"].get("widgets", "w", "-n", "shop")["spec"] == {"size": "second"}
    assert clusters.preview().changes == {}


@pytest.mark.parametrize("kept", [True, False])
def test_namespaces_when_the_placement_goes(clusters: Engine, planes: Planes, kept: bool) -> None:
    clusters.world.config["keepClusterResources"] = str(kept).lower()
    assert clusters.unprotect().ok
    gone = clusters.destroy()
    assert gone.ok, gone.text
    for plane in planes.values():
        assert bool(plane.get("namespace", "shop")) is kept
        assert plane.get("cm", "c", "-n", "shop") is None
    again = clusters.up()
    assert again.ok, again.text
    assert {image(plane) for plane in planes.values()} == {"web:1"}


WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"size": {"type": "string"}}}
                        },
                    }
                },
            }
        ],
    },
}


def widget(size: str) -> dict[str, Any]:
    metadata = {"name": "w", "namespace": "shop"}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": metadata,
        "spec": {"size": size},
    }
