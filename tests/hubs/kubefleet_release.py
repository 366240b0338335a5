"""The release of KubeFleet that hubs are made of: its definitions, and its name."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from fleet_components.systems.kubefleet.model.release import RELEASES, Rule
from tests.clusters.documents import Document, documents
from tests.shared import shared

_PLACEMENTS = "clusterresourceplacements.placement.kubernetes-fleet.io"
_SCOPE = ("spec", "resourceSelectors", "selectionScope")
_NEWER_SCOPE = "NamespaceWithResourceSelectors"


def hub_definitions() -> list[Document]:
    """Return the definitions of the hub agent on PATH: those in ``crds`` beside it, else those of the shared folder.

    Skips the test where there are none.
    """
    beside = Path(shutil.which("hubagent") or "").parent / "crds"
    return documents(beside if beside.is_dir() else shared("data/crds/kubefleet"))


def release_of(definitions: Iterable[Document]) -> str:
    """Return the name of the first release that has such definitions, by a value that v1 takes or does not take."""
    (placements,) = (
        definition for definition in definitions if definition["metadata"]["name"] == _PLACEMENTS
    )
    (schema,) = (
        placement["schema"]["openAPIV3Schema"]
        for placement in placements["spec"]["versions"]
        if placement["name"] == "v1"
    )
    for step in _SCOPE:
        schema = schema.get("items", schema)["properties"][step]
    newer = _NEWER_SCOPE in schema["enum"]
    rule = Rule.SELECTORS_OF_NAMESPACE_IN_V1
    return next(name for name, release in RELEASES.items() if release.has(rule) is newer)
