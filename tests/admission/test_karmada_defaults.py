"""What Karmada's definitions and mutating webhooks add to the objects that users write."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.admission import admit
from fleet_components.model.manifest import Manifest

_SELECTOR = {"apiVersion": "apps/v1", "kind": "Deployment"}
_IMPORT = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport"}


def _defaulted(kind: str, spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
    data = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "web", **metadata},
    }
    admission = admit(Manifest({**data, "spec": {"resourceSelectors": [_SELECTOR], **spec}}))
    assert admission.problems == ()
    result: dict[str, Any] = admission.defaulted.data["spec"]
    return result


def _placement(**placement: Any) -> dict[str, Any]:
    result: dict[str, Any] = _defaulted("ClusterPropagationPolicy", {"placement": placement})[
        "placement"
    ]
    return result


def test_a_bare_policy() -> None:
    assert _defaulted("ClusterPropagationPolicy", {}) == {
        "resourceSelectors": [_SELECTOR],
        "placement": {},
        "priority": 0,
        "preemption": "Never",
        "schedulerName": "default-scheduler",
        "conflictResolution": "Abort",
    }


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({}, {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}),
        ({"replicaSchedulingType": "Duplicated"}, {"replicaSchedulingType": "Duplicated"}),
        (
            {"replicaDivisionPreference": "Aggregated"},
            {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        ),
    ],
)
def test_replica_scheduling(written: dict[str, Any], stored: dict[str, Any]) -> None:
    assert _placement(replicaScheduling=written) == {"replicaScheduling": stored}
    assert _placement() == {}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({}, {"spreadByField": "cluster", "minGroups": 1}),
        (
            {"maxGroups": 2, "minGroups": 0},
            {"spreadByField": "cluster", "maxGroups": 2, "minGroups": 1},
        ),
        ({"spreadByLabel": "rack"}, {"spreadByLabel": "rack", "minGroups": 1}),
        (
            {"spreadByField": "cluster", "minGroups": 3},
            {"spreadByField": "cluster", "minGroups": 3},
        ),
    ],
)
def test_spread_constraints(written: dict[str, Any], stored: dict[str, Any]) -> None:
    assert _placement(spreadConstraints=[written]) == {"spreadConstraints": [stored]}


def test_failover() -> None:
    spec = {
        "propagateDeps": True,
        "failover": {"application": {"decisionConditions": {}}, "cluster": {}},
    }
    assert _defaulted("ClusterPropagationPolicy", spec)["failover"] == {
        "application": {
            "decisionConditions": {"tolerationSeconds": 300},
            "purgeMode": "Gracefully",
            "gracePeriodSeconds": 600,
        },
        "cluster": {"purgeMode": "Gracefully"},
    }
    spec["failover"] = {
        "application": {"decisionConditions": {"tolerationSeconds": 0}, "purgeMode": "Never"}
    }
    assert _defaulted("ClusterPropagationPolicy", spec)["failover"] == spec["failover"]


def test_imported_services_bring_what_they_depend_on() -> None:
    spec = {"resourceSelectors": [_SELECTOR, _IMPORT], "propagateDeps": False}
    assert _defaulted("ClusterPropagationPolicy", spec)["propagateDeps"] is True
    assert "propagateDeps" not in _defaulted("ClusterPropagationPolicy", {"propagateDeps": False})


@pytest.mark.parametrize("kind", ["PropagationPolicy", "OverridePolicy"])
def test_a_namespaced_policy_selects_in_its_namespace(kind: str) -> None:
    shop = [{**_SELECTOR, "namespace": "shop"}]
    assert _defaulted(kind, {}, namespace="shop")["resourceSelectors"] == shop
    assert (
        _defaulted(kind, {"resourceSelectors": shop}, namespace="shop")["resourceSelectors"] == shop
    )
    assert _defaulted(kind, {})["resourceSelectors"] == [{**_SELECTOR, "namespace": "default"}]
    assert _defaulted(f"Cluster{kind}", {})["resourceSelectors"] == [_SELECTOR]


def test_the_zone_of_a_cluster_becomes_a_list() -> None:
    cluster = {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "member1"},
    }
    admission = admit(Manifest({**cluster, "spec": {"syncMode": "Push", "zone": "a"}}))
    assert admission.defaulted.data["spec"] == {"syncMode": "Push", "zones": ["a"]}
