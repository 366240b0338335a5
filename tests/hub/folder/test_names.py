"""Names that file systems would mix up, refuse or hide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.load import load
from fleet_components.hub.folder.paths import memory_files, object_files
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.model.manifest import Manifest
from fleet_components.systems.registry import SYSTEMS
from tests.hub.folder.hubs import AS_OF


def role(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
    }


def hub(*objects: dict[str, Any], **more: Any) -> HubObservation:
    return HubObservation(system=SYSTEMS["karmada"], as_of=AS_OF, objects=objects, **more)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("view", "objects/ClusterRole.view.yaml"),
        ("system:node", "objects/ClusterRole.system%3anode.yaml"),
        ("system:Node", "objects/ClusterRole.system%3a%4eode.yaml"),
        ("über rolle", "objects/ClusterRole.%c3%bcber%20rolle.yaml"),
        (".hidden", "objects/ClusterRole.%2ehidden.yaml"),
        ("back\\slash", "objects/ClusterRole.back%5cslash.yaml"),
    ],
)
def test_odd_names(name: str, path: str) -> None:
    assert list(object_files(hub(role(name)))) == [path]


def test_names_of_devices_and_of_builds_are_none() -> None:
    members = tuple(
        {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name}}
        for name in ("con", "nul.eu", "kustomization", "east")
    )
    found = object_files(hub(members=members))
    assert sorted(found) == [
        "members/%63on.yaml",
        "members/%6bustomization.yaml",
        "members/%6eul.eu.yaml",
        "members/east.yaml",
    ]


def test_kinds_of_two_groups_have_the_group() -> None:
    own = {
        "apiVersion": "example.com/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    built_in = {**own, "apiVersion": "apps/v1"}
    assert sorted(object_files(hub(own))) == ["objects/shop/Deployment.web.yaml"]
    assert sorted(object_files(hub(own, built_in))) == [
        "objects/shop/Deployment.example.com.web.yaml",
        "objects/shop/Deployment.web.yaml",
    ]


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=253).filter(
    lambda name: name not in (".", "..") and not set(name) & {"/", "%"}
)


@given(st.lists(names, unique=True, max_size=6))
def test_any_names_are_files_of_their_own(given: list[str]) -> None:
    twins = {name.swapcase() for name in given} - set(given)
    every = {role(name)["metadata"]["name"]: role(name) for name in (*given, *sorted(twins))}
    found = object_files(hub(*every.values()))
    assert {item["metadata"]["name"] for item in found.values()} == every.keys()
    assert len({path.casefold() for path in found}) == len(every)
    for path in found:
        assert path.isascii()
        assert not set(path) & set('\\:*?"<>|')
        assert len(path.rpartition("/")[2]) <= 255


def test_long_names_are_short_files(tmp_path: Path) -> None:
    longest = [f"{'a' * 250}{end}" for end in ("x", "y", "X")]
    write_observation(tmp_path / "hub", hub(*map(role, longest)), update=False)
    assert {Manifest(item.data).name for item in load(tmp_path / "hub")} == set(longest)


def test_subjects_of_one_name_have_files_of_their_own() -> None:
    found = memory_files(
        [
            "Template/shop/Deployment/web",
            "Template/ClusterRole/system:node",
            "ResourcePlacement/a/b.c",
            "ResourcePlacement/a.b/c",
        ]
    )
    assert found["observed/Template/shop.Deployment.web.json"] == "Template/shop/Deployment/web"
    assert (
        found["observed/Template/ClusterRole.system%3anode.json"]
        == "Template/ClusterRole/system:node"
    )
    assert len(found) == 4
