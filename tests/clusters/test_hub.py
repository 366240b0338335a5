"""Each object that this repository writes for a hub is taken by the hub's real CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from fleet_components.admission import KINDS, Existing, admit
from fleet_components.model.manifest import Manifest
from fleet_components.model.releases import Releases
from tests.admission.test_properties import objects
from tests.clusters.documents import Document, Judge, documents, judging, namespaces_of
from tests.control_planes import Planes
from tests.examples.test_examples import EXAMPLES
from tests.shared import shared

pytestmark = pytest.mark.clusters
FOLDERS = [
    path
    for place in (EXAMPLES, EXAMPLES.parent / "stacks")
    for path in sorted(place.glob("[a-z]*/"))
]
GROUPS = {kind.group for kind in KINDS.values()} - {"cluster.karmada.io"}
"""Karmada serves its Clusters by an API server of its own, which has no definition of them."""
DEFINED = {"crd", "strict"}
"""The stages of an admission that a definition carries out."""


@pytest.fixture(scope="module")
def hub(api_servers: Planes) -> Iterator[Judge]:
    """The hub with the definitions of both systems."""
    definitions = [
        document
        for system in ("kubefleet", "karmada")
        for document in documents(shared(f"data/crds/{system}"))
    ]
    with judging(api_servers["h"]) as hub:
        hub.make(definitions)
        yield hub


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_objects_of_a_folder(folder: Path, hub: Judge) -> None:
    found = for_a_hub(folder)
    hub.make(namespaces_of(found))
    assert hub.refused(found) == []


def test_what_the_hub_refuses_is_seen(hub: Judge) -> None:
    (placement,) = (
        item
        for item in for_a_hub(EXAMPLES / "crp-pickall")
        if item["kind"] == "ClusterResourcePlacement"
    )
    assert hub.refused([placement]) == []
    for wrong in ({"policy": {"placementType": "PickSome"}}, {"unheardOf": True}):
        (said,) = hub.refused([{**placement, "spec": {**placement["spec"], **wrong}}])
        assert next(iter(wrong)) in said


def test_the_hub_and_admission_agree(hub: Judge) -> None:
    """On what definitions say. Admission speaks for the webhooks as well, those that change an object among them."""

    @given(objects(wrong=True))
    @settings(max_examples=400)
    def agree(written: Document) -> None:
        assume(written["apiVersion"].partition("/")[0] in GROUPS)
        # The definitions are those of KubeFleet's main branch.
        admission = admit(
            Manifest(written), context=Existing((), Releases.named(kubefleet="main-2026-08"))
        )
        if not admission.refusals:
            assert hub.refused([dict(admission.defaulted.data)]) == []
        elif DEFINED & {refusal.stage for refusal in admission.refusals}:
            assert hub.refused([written]) != []

    agree()


def for_a_hub(folder: Path) -> list[Document]:
    """Policies, members and whatever else a hub's API has."""
    return [
        document
        for document in documents(folder)
        if document["apiVersion"].rpartition("/")[0] in GROUPS
    ]
