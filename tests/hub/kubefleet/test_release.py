"""Which release of KubeFleet a hub shows, and what is read otherwise by its rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import attrs
import pytest

from fleet_components.hub.listing import Listing
from fleet_components.hub.reading import read_hub
from fleet_components.hub.roles import first_queries, role
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.hub.bindings import bindings_of
from fleet_components.systems.kubefleet.hub.kinds import Kept
from fleet_components.systems.kubefleet.hub.queries import AGENT, release_shown
from fleet_components.systems.kubefleet.model.release import RELEASES
from fleet_components.systems.registry import SYSTEMS
from tests.delivery.recording import NOW
from tests.hub.kubefleet.hubs import API, hub_of, member

ANY = "ghcr.io/kubefleet-dev/kubefleet/hub-agent"


def agent(image: str) -> dict[str, Any]:
    """The Deployment of a hub's agent, as its chart makes it."""
    metadata = {
        "name": "hub-agent",
        "namespace": "fleet-system",
        "labels": {"app.kubernetes.io/name": "hub-agent"},
    }
    pod = {"containers": [{"name": "hub-agent", "image": image}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"template": {"spec": pod}},
    }


def test_it_is_that_of_the_image() -> None:
    found = read_hub(hub_of(member(), agent(f"{ANY}:v0.3.1")))
    assert (found.release, found.no_release, found.objects) == ("0.3.1", "", ())


@pytest.mark.parametrize(
    ("agents", "why"),
    [
        ([], "no hub-agent is in fleet-system, as on hubs of Azure"),
        ([agent(f"{ANY}:v0.2.2")], f"the image of its agent is {ANY}:v0.2.2"),
        ([agent(f"{ANY}:latest")], f"the image of its agent is {ANY}:latest"),
    ],
)
def test_it_is_said_to_be_unknown(agents: list[dict[str, Any]], why: str) -> None:
    found = read_hub(hub_of(member(), *agents))
    assert found.release == ""
    assert found.no_release == (
        f"the release of KubeFleet is not known: {why}; 0.3.1 is assumed, and fleet:kubefleet or --kubefleet names another"
    )
    assert found.unanswered == {}


def test_a_role_from_before_leaves_it_unknown() -> None:
    refused = Listing(SYSTEMS["kubefleet"], NOW).with_answers(
        {}, {AGENT: "is forbidden to the user of the kubeconfig"}
    )
    shown, why = release_shown(refused)
    assert (shown, "is forbidden to the user" in why) == ("", True)
    assert read_hub(refused).unanswered == {}


def test_what_the_user_says_goes_before_the_image() -> None:
    listing = attrs.evolve(hub_of(agent(f"{ANY}:v0.3.1")), release="main-2026-08")
    assert release_shown(listing) == ("main-2026-08", "")


def test_the_role_may_list_the_agent() -> None:
    found = role(*first_queries(SYSTEMS["kubefleet"]))
    assert {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]} in found[
        "rules"
    ]


@pytest.mark.parametrize(
    ("release", "reason", "awaited"),
    [
        ("0.3.1", "ApplyPending", True),
        ("main-2026-08", "ApplyPending", False),
        ("0.3.1", "NotAllWorkHaveBeenApplied", True),
        ("main-2026-08", "NotAllWorkHaveBeenApplied", True),
    ],
)
def test_a_binding_on_its_way_has_failed_or_not(release: str, reason: str, awaited: bool) -> None:
    conditions = [
        {"type": "Applied", "status": "False", "observedGeneration": 1, "reason": reason},
        {
            "type": "Available",
            "status": "True",
            "observedGeneration": 1,
            "reason": "AllWorkAreAvailable",
        },
    ]
    labels = {"kubernetes-fleet.io/parent-CRP": "shop"}
    spec = {
        "targetCluster": "cluster1",
        "state": "Bound",
        "resourceSnapshotName": "shop-0-snapshot",
    }
    spec["schedulingPolicySnapshotName"] = "shop-0"
    binding = {
        "apiVersion": API,
        "kind": "ClusterResourceBinding",
        "metadata": {"name": "shop-cluster1-0a1b2c3d", "generation": 1, "labels": labels},
        "spec": spec,
        "status": {"conditions": conditions},
    }
    placement = Manifest(
        {"apiVersion": API, "kind": "ClusterResourcePlacement", "metadata": {"name": "shop"}}
    )
    kept = Kept.of(hub_of(member(), binding))
    found, _ = bindings_of(kept, placement, ["cluster1"], NOW, timedelta(0), RELEASES[release])
    assert found["cluster1"].awaited is awaited
