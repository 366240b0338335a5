"""Our declarations against KubeFleet's own CustomResourceDefinitions: every type, default, bound and rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from fleet_components.admission.kinds import KINDS
from fleet_components.admission.kubefleet import MADE_BY_SYSTEM
from fleet_components.admission.registry import Kind
from tests.admission.definitions import genuine_lines, lines
from tests.shared import shared

_OURS = [kind for kind in KINDS.values() if kind.group.endswith(".kubernetes-fleet.io")]


@pytest.mark.parametrize("kind", _OURS, ids=lambda kind: f"{kind.name}-{kind.version}")
def test_is_declared_as_in_the_definition(kind: Kind) -> None:
    definition = _definition(kind)
    version = next(it for it in definition["spec"]["versions"] if it["name"] == kind.version)
    assert kind.namespaced == (definition["spec"]["scope"] == "Namespaced")
    genuine = version["schema"]["openAPIV3Schema"]
    assert ("status" in kind.schema.fields) == ("status" in genuine["properties"])
    assert list(lines("", kind.schema.without("metadata", "status"))) == list(genuine_lines("", genuine))


@pytest.mark.parametrize("name", sorted({kind.name for kind in _OURS if kind.status}))
def test_the_status_that_is_read_is_that_of_the_definition(name: str) -> None:
    """In one version or the other; v1 of a MemberCluster has no namespaces, which are read all the same."""
    kinds = [kind for kind in _OURS if kind.name == name]
    versions = _definition(kinds[0])["spec"]["versions"]
    schemas = [version["schema"]["openAPIV3Schema"]["properties"]["status"] for version in versions]
    genuine = {line.split()[0] for schema in schemas for line in genuine_lines("status", schema)}
    assert all({*_paths(kind)} == genuine for kind in kinds)


def _paths(kind: Kind) -> Iterator[str]:
    assert kind.status
    for steps, _ in kind.status.walk():
        yield "status" + "".join("[]" if step in ("[]", "{}") else f".{step}" for step in steps)


def test_no_kind_of_the_definitions_is_unknown() -> None:
    files = shared("data/crds/kubefleet").glob("*.yaml")
    names = {yaml.safe_load(file.read_text())["spec"]["names"]["kind"] for file in files}
    assert names == {kind.name for kind in _OURS} | {name for made in MADE_BY_SYSTEM.values() for name in made}


def _definition(kind: Kind) -> dict[str, Any]:
    for file in shared("data/crds/kubefleet").glob(f"{kind.group}_{kind.name.lower()[:-1]}*.yaml"):
        definition: dict[str, Any] = yaml.safe_load(file.read_text())
        if definition["spec"]["names"]["kind"] == kind.name:
            return definition
    raise AssertionError(f"no definition of {kind.name}")
