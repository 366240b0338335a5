"""The role that may observe a hub: it lists what is asked for, and Secrets unless that is not wished."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fleet_components.hub import roles
from fleet_components.hub.listing import NOT_ASKED, Listing, Query, ServedResource
from fleet_components.hub.roles import (
    NO_SECRETS_NOTE,
    NOTES,
    REFUSED_NOTE,
    SECRETS_NOTE,
    first_queries,
    notes,
    role,
)
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

QUERIES = (
    Query("v1", "Secret", "shop", metadata_only=True),
    Query("v1", "ConfigMap", "shop"),
    Query("v1", "ConfigMap", "other"),
    Query("apps/v1", "Deployment"),
)
SERVED = {
    ("", "Secret"): ServedResource("v1", "Secret", "secrets", True),
    ("", "ConfigMap"): ServedResource("v1", "ConfigMap", "configmaps", True),
    ("apps", "Deployment"): ServedResource("apps/v1", "Deployment", "deployments", True),
    ("work.karmada.io", "Work"): ServedResource("work.karmada.io/v1alpha1", "Work", "works", True),
}


def listing(system: System = SYSTEMS["kubefleet"]) -> Listing:
    return Listing(system, datetime(2026, 1, 1, tzinfo=UTC), SERVED)


def rules(found: Any) -> dict[str, list[str]]:
    assert (found["kind"], found["metadata"]) == ("ClusterRole", {"name": "fleet-observe"})
    assert all(rule["verbs"] == ["list"] and len(rule["apiGroups"]) == 1 for rule in found["rules"])
    return {rule["apiGroups"][0]: rule["resources"] for rule in found["rules"]}


@pytest.mark.parametrize(
    ("no_secrets", "core"), [(True, ["configmaps"]), (False, ["configmaps", "secrets"])]
)
def test_it_lists_each_kind_once(no_secrets: bool, core: list[str]) -> None:
    assert rules(role(listing(), QUERIES, no_secrets=no_secrets)) == {
        "": core,
        "apps": ["deployments"],
    }


def test_works_of_karmada_are_in_it_though_they_are_not_always_asked_for() -> None:
    assert rules(role(listing(SYSTEMS["karmada"]), ())) == {"work.karmada.io": ["works"]}


def test_what_is_said_of_secrets() -> None:
    assert notes(listing(), QUERIES) == (*NOTES, SECRETS_NOTE)
    assert notes(listing(), QUERIES, no_secrets=True) == (*NOTES, NO_SECRETS_NOTE)
    assert notes(listing(), QUERIES[1:]) == NOTES


def test_a_role_that_may_not_be_whole_says_so() -> None:
    refused = listing().with_answers({}, {QUERIES[1]: "is forbidden"})
    assert notes(refused, QUERIES[1:]) == (*NOTES, REFUSED_NOTE)
    left_out = listing().with_answers({}, {QUERIES[0]: NOT_ASKED})
    assert notes(left_out, QUERIES[1:]) == NOTES


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("ClusterStagedUpdateStrategy", "clusterstagedupdatestrategies"),
        ("ClusterResourcePlacementStatus", "clusterresourceplacementstatuses"),
        ("FederatedHPA", "federatedhpas"),
        ("MultiClusterIngress", "multiclusteringresses"),
    ],
)
def test_plurals_without_a_hub(kind: str, plural: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def queries(asked: Listing) -> tuple[Query, ...]:
        return (Query(asked.served["example.com", kind].api_version, kind),)

    system = SYSTEMS["kubefleet"]
    monkeypatch.setattr(type(system), "queries", lambda _, listing: queries(listing))
    asked, found = first_queries(system)
    assert rules(role(asked, found)) == {"example.com": [plural]}


def test_the_kinds_of_karmada_are_known() -> None:
    assert {f"{word}.karmada.io" for word in roles._OF_KARMADA} >= {
        "cluster.karmada.io",
        "policy.karmada.io",
    }
    assert all(kinds == tuple(sorted(kinds)) for kinds in roles._OF_KARMADA.values())
