"""Statuses of bindings and templates from what is known of the copies on members.

Whatever a control plane was recorded to say is held against in ``tests/delivery/karmada``.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.status.bindings import (
    api_objects,
    binding_status,
    template_status,
)
from tests.delivery.karmada.world import deployment, member, on, policy
from tests.plan.unmatched import planned

READY = {
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
    "observedGeneration": 1,
}
COPY = ObservedObject(
    Manifest(deployment()).key, "apps/v1", applied="Applied", generation=1, status=READY
)


def decided(*members: str, template: dict[str, Any] | None = None, **spec: Any) -> Decided:
    """The decision about a Deployment, on these members."""
    data = template or deployment()
    named = {
        "resourceSelectors": [{"apiVersion": data["apiVersion"], "kind": data["kind"]}],
        **spec,
    }
    kind = "PropagationPolicy" if "namespace" in data["metadata"] else "ClusterPropagationPolicy"
    written = policy(kind=kind, placement=on(*members), **named)
    return next(iter(planned([member("a"), member("b"), data, written]).of("Template")))


def seen(**copies: ObservedObject) -> dict[str, ObservedMember]:
    """What is known, by member."""
    return {cluster: ObservedMember({copy.key: copy}) for cluster, copy in copies.items()}


def applied(status: dict[str, Any]) -> list[str]:
    """The status of ``FullyApplied``; none if the condition is not there."""
    return [item["status"] for item in status["conditions"] if item["type"] == "FullyApplied"]


def test_copies_add_up_in_the_binding_and_in_the_template() -> None:
    found = seen(a=COPY, b=attrs.evolve(COPY, status={**READY, "availableReplicas": 1}))
    binding, template = api_objects(decided("a", "b"), found)
    assert binding["kind"] == "ResourceBinding"
    assert binding["metadata"] == {"name": "web-deployment", "namespace": "shop"}
    assert [(item["type"], item["status"]) for item in binding["status"]["conditions"]] == [
        ("Scheduled", "True"),
        ("FullyApplied", "True"),
    ]
    items = binding["status"]["aggregatedStatus"]
    assert [(item["clusterName"], item["health"]) for item in items] == [
        ("a", "Healthy"),
        ("b", "Unhealthy"),
    ]
    assert items[0]["status"] == {**READY, "generation": 1}
    assert template["status"] == {
        "replicas": 4,
        "updatedReplicas": 4,
        "readyReplicas": 4,
        "availableReplicas": 3,
    }


def test_an_object_without_a_namespace_has_a_binding_of_the_cluster() -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "shop:Read"},
    }
    binding, template = api_objects(decided("a", template=role), {})
    assert (binding["kind"], binding["metadata"]) == (
        "ClusterResourceBinding",
        {"name": "shop.read-clusterrole"},
    )
    assert (template["metadata"], template["status"]) == ({"name": "shop:Read"}, {})


def test_what_was_never_placed_is_not_said_to_be_applied() -> None:
    status = binding_status(decided("nosuch"), {})
    assert [(item["type"], item["reason"]) for item in status["conditions"]] == [
        ("Scheduled", "NoClusterFit")
    ]
    assert "aggregatedStatus" not in status


def test_a_member_that_is_missing_or_refuses_is_told() -> None:
    both = decided("a", "b")
    assert applied(binding_status(both, seen(a=COPY))) == ["False"]
    refused = attrs.evolve(COPY, applied="ManifestApplyFailed", error="admission webhook denied it")
    status = binding_status(both, seen(a=COPY, b=refused))
    assert applied(status) == ["False"]
    assert status["aggregatedStatus"][1] == {
        "clusterName": "b",
        "appliedMessage": "Failed to apply all manifests (0/1): admission webhook denied it",
        "health": "Unknown",
    }
    assert template_status(both, seen(a=COPY, b=refused))["replicas"] == 2


@pytest.mark.parametrize(
    "member",
    [
        ObservedMember(unreached="it does not answer"),
        ObservedMember({COPY.key: attrs.evolve(COPY, applied="")}, unreached="it does not answer"),
        ObservedMember({COPY.key: attrs.evolve(COPY, applied="", error="it does not answer")}),
    ],
)
def test_a_member_that_does_not_answer_is_told(member: ObservedMember) -> None:
    status = binding_status(decided("a"), {"a": member})
    assert status["aggregatedStatus"] == [
        {"clusterName": "a", "appliedMessage": "it does not answer", "health": "Unknown"}
    ]
    assert applied(status) == ["False"]


def test_what_leaves_is_not_told() -> None:
    status = binding_status(decided("a"), seen(a=COPY, b=COPY))
    assert [item["clusterName"] for item in status["aggregatedStatus"]] == ["a"]
    assert applied(status) == ["True"]


@pytest.mark.parametrize(
    ("copy", "health"),
    [
        (attrs.evolve(COPY, status=None), "Unknown"),
        (attrs.evolve(COPY, status=None, available="Available"), "Healthy"),
        (attrs.evolve(COPY, status=None, available="ManifestNotAvailableYet"), "Unhealthy"),
        (attrs.evolve(COPY, generation=2), "Unhealthy"),
        (attrs.evolve(COPY, generation=0), "Healthy"),
    ],
)
def test_health_comes_from_the_status_or_from_what_the_engine_saw(
    copy: ObservedObject, health: str
) -> None:
    assert [
        status["health"]
        for status in binding_status(decided("a"), seen(a=copy))["aggregatedStatus"]
    ] == [health]


def test_replicas_that_the_member_keeps_prove_nothing() -> None:
    template = deployment(replicas=5)
    template["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": "true"}
    kept = binding_status(decided("a", template=template), seen(a=COPY))
    sent = binding_status(decided("a", template=deployment(replicas=5)), seen(a=COPY))
    assert [item["aggregatedStatus"][0]["health"] for item in (kept, sent)] == [
        "Healthy",
        "Unhealthy",
    ]


def test_a_member_to_which_dispatching_is_suspended_has_an_entry() -> None:
    suspended = decided("a", "b", suspension={"dispatchingOnClusters": {"clusterNames": ["a"]}})
    status = binding_status(suspended, seen(b=COPY))
    assert [(item["clusterName"], item["health"]) for item in status["aggregatedStatus"]] == [
        ("a", "Unknown"),
        ("b", "Healthy"),
    ]
    assert "applied" not in status["aggregatedStatus"][0]
    assert applied(status) == ["False"]
