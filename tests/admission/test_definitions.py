"""The data files against the CustomResourceDefinitions of both systems: every type, default, bound and rule."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.admission.admit import kinds_under
from fleet_components.admission.definitions import FOLDER
from fleet_components.admission.registry import AdmittedKind
from fleet_components.admission.schema import Schema
from fleet_components.model.releases import Releases
from fleet_components.systems.karmada import admission as karmada
from fleet_components.systems.kubefleet import admission as kubefleet
from tests.admission.definitions import genuine_lines, lines
from tests.shared import shared
from tools.schemas import write

SYSTEMS = ("karmada", "kubefleet")
# The API of Karmada's Clusters is served by a server of its own and has no definition.
# The definitions are those of KubeFleet's main branch.
DEFINED = [
    kind
    for kind in kinds_under(Releases.named(kubefleet="main-2026-08")).values()
    if kind.group != "cluster.karmada.io"
]
MADE_BY_SYSTEM = [*kubefleet.MADE_BY_SYSTEM.items(), *karmada.MADE_BY_SYSTEM.items()]


def test_the_data_are_what_the_script_makes_of_the_definitions(tmp_path: Path) -> None:
    write(_folders(), tmp_path)
    made, kept = (
        {file.name: file.read_text() for file in folder.iterdir()} for folder in (tmp_path, FOLDER)
    )
    assert made == kept, "run: python -m tools.schemas FOLDER..."


@pytest.mark.parametrize("kind", DEFINED, ids=lambda kind: f"{kind.name}-{kind.version}")
def test_a_kind_is_as_in_its_definition(kind: AdmittedKind) -> None:
    definition = _definitions()[kind.group, kind.name]
    version = next(it for it in definition["versions"] if it["name"] == kind.version)
    assert kind.namespaced == (definition["scope"] == "Namespaced")
    genuine = version["schema"]["openAPIV3Schema"]
    assert ("status" in kind.schema.fields) == ("status" in genuine["properties"])
    own = {
        name: field
        for name, field in kind.schema.fields.items()
        if name not in ("metadata", "status")
    }
    assert list(lines("", kind.schema.but(fields=own))) == list(genuine_lines("", genuine))


@pytest.mark.parametrize("kind", DEFINED, ids=lambda kind: f"{kind.name}-{kind.version}")
def test_every_version_is_served_and_the_stored_one_comes_last(kind: AdmittedKind) -> None:
    versions = {
        it["name"]: it["storage"]
        for it in _definitions()[kind.group, kind.name]["versions"]
        if it["served"]
    }
    served = [it.version for it in DEFINED if (it.group, it.name) == (kind.group, kind.name)]
    assert set(served) == set(versions)
    assert versions[served[-1]]


@pytest.mark.parametrize(
    "kind",
    [kind for kind in DEFINED if kind.status],
    ids=lambda kind: f"{kind.name}-{kind.version}",
)
def test_the_status_that_is_read_has_the_fields_of_all_versions(kind: AdmittedKind) -> None:
    """Namespaces of a MemberCluster, which v1 lacks, are read in v1 all the same."""
    versions = _definitions()[kind.group, kind.name]["versions"]
    schemas = [version["schema"]["openAPIV3Schema"]["properties"]["status"] for version in versions]
    assert kind.status
    assert {*_paths(kind.status)} == {
        line.split()[0] for it in schemas for line in genuine_lines("status", it)
    }


def test_no_kind_of_the_definitions_is_unknown() -> None:
    """But Karmada's own work, which is of a group that nobody writes objects of."""
    defined = {key for key in _definitions() if not key[0].startswith("work.")}
    made = {(group, name) for group, names in MADE_BY_SYSTEM for name in names}
    assert defined == {(kind.group, kind.name) for kind in DEFINED} | made


def _paths(status: Schema) -> Iterator[str]:
    for steps, _ in status.walk():
        yield "status" + "".join("[]" if step in ("[]", "{}") else f".{step}" for step in steps)


def _folders() -> list[Path]:
    return [shared(f"data/crds/{system}") for system in SYSTEMS]


@cache
def _definitions() -> dict[tuple[str, str], dict[str, Any]]:
    files = (file for folder in _folders() for file in folder.glob("*.yaml"))
    found = (yaml.load(file.read_text(), yaml.CSafeLoader)["spec"] for file in files)
    return {(it["group"], it["names"]["kind"]): it for it in found}
