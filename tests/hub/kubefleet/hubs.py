"""Small hubs made for tests, and changes of what a hub answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from fleet_components.hub.listing import Listing, Object
from fleet_components.hub.reading import missing
from fleet_components.model.manifest import Manifest
from fleet_components.systems.registry import SYSTEMS
from tests.delivery.kubefleet.recording import Recording
from tests.delivery.recording import NOW
from tests.hub.kubefleet.recorded import RecordedHub, answer, served

API = "placement.kubernetes-fleet.io/v1beta1"
MEMBER_API = "cluster.kubernetes-fleet.io/v1beta1"


def recorded(name: str, step: int) -> Listing:
    """What a recorded hub answers after a step."""
    return [listing for _, listing in RecordedHub(Recording.kept(name)).listings()][step]


def hub_of(*objects: Mapping[str, Any], secrets: bool = False) -> Listing:
    """What a hub with these objects answers to all requests."""
    listing = Listing(SYSTEMS["kubefleet"], NOW, served(objects), secrets=secrets)
    while queries := missing(listing):
        listing = listing.with_answers(
            {query: tuple(answer(query, objects)) for query in queries}, {}
        )
    return listing


def member(name: str = "cluster1", *, status: Any = None, **metadata: Any) -> dict[str, Any]:
    """A member whose agent was heard a minute ago."""
    return {
        "apiVersion": MEMBER_API,
        "kind": "MemberCluster",
        "metadata": {"name": name, "uid": "1", "resourceVersion": "5", **metadata},
        "spec": {"heartbeatPeriodSeconds": 5, "identity": {"kind": "User", "name": name}},
        "status": {"agentStatus": [agent("2025-12-31T23:59:00Z")], **(status or {})},
    }


def agent(heard: str | None, *, healthy: str = "True") -> dict[str, Any]:
    """The report of a member agent."""
    since = "2025-12-01T00:00:00Z"
    kinds = (("Joined", "True"), ("Healthy", healthy))
    conditions = [
        {"type": kind, "status": status, "lastTransitionTime": since} for kind, status in kinds
    ]
    return {
        "type": "MemberAgent",
        "conditions": conditions,
        **({"lastReceivedHeartbeat": heard} if heard else {}),
    }


def rewritten(listing: Listing, change: Callable[[str], str]) -> Listing:
    """A listing whose answers read otherwise as JSON."""
    answers = {
        query: tuple(json.loads(change(json.dumps(data))) for data in objects)
        for query, objects in listing.answers.items()
    }
    return attrs.evolve(listing, answers=answers)


def changed(listing: Listing, change: Callable[[Manifest], Object]) -> Listing:
    """A listing with each object changed."""
    answers = {
        query: tuple(change(Manifest(data)) for data in objects)
        for query, objects in listing.answers.items()
    }
    return attrs.evolve(listing, answers=answers)
