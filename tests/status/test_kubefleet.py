"""Statuses of placements from what is known of the objects on members.

Whatever a hub was recorded to say is held against in ``tests/delivery/kubefleet``.
"""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import FieldDifference, ObservedMember, ObservedObject
from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.status.placements import api_objects
from fleet_components.systems.kubefleet.status.works import Work, compared, works_of, written
from tests.plan.unmatched import planned

CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "shop"},
}
ENVELOPE = {
    "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
    "kind": "ResourceEnvelope",
    "metadata": {"name": "wrapped", "namespace": "shop"},
    "data": {"a.yaml": CONFIG},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
STANDS = ObservedObject(Manifest(CONFIG).key, "v1", applied="Applied", available="Available")
CHANGED = FieldDifference("/data/a", "1", "2")


def seen(*objects: ObservedObject) -> ObservedMember:
    """What is known of a member."""
    return ObservedMember({data.key: data for data in objects})


def placement(**spec: Any) -> Decided:
    """A placement of a namespace that has gone nowhere yet."""
    identity = {"kind": "ServiceAccount", "name": "a", "namespace": "fleet-system"}
    member = {
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
        "kind": "MemberCluster",
        "metadata": {"name": "a"},
        "spec": {"identity": identity},
    }
    written_as = {
        "apiVersion": "placement.kubernetes-fleet.io/v1",
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": "shop"},
        "spec": {
            "resourceSelectors": [
                {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
            ],
            "policy": {"placementType": "PickFixed", "clusterNames": ["a"]},
            **spec,
        },
    }
    return next(iter(planned([member, NAMESPACE, written_as]).of("Placement")))


def test_what_an_envelope_holds_is_told_with_the_envelope() -> None:
    refused = attrs.evolve(
        STANDS, applied="ManifestApplyFailed", available="", error="no room", generation=3
    )
    conditions, details = written(
        works_of("team/shop", (NAMESPACE, ENVELOPE), seen(namespace_stands(), refused))
    )
    assert [condition.message for condition in conditions] == [
        "Work object team.shop-work-envelope-wrapped has failed to apply"
    ]
    assert details["failedPlacements"] == [
        {
            "version": "v1",
            "kind": "ConfigMap",
            "namespace": "shop",
            "name": "settings",
            "envelope": {"name": "wrapped", "namespace": "shop", "type": "ResourceEnvelope"},
            "condition": {
                "type": "Applied",
                "status": "False",
                "observedGeneration": 3,
                "reason": "ManifestApplyFailed",
                "message": "Failed to apply the manifest (error: failed to apply the manifest: no room)",
            },
        }
    ]


def test_of_a_member_that_does_not_answer_nothing_is_said_that_may_be_old() -> None:
    silent = attrs.evolve(seen(attrs.evolve(STANDS, differences=(CHANGED,))), unreached="timed out")
    conditions, details = written(works_of("shop", (CONFIG,), silent))
    assert [(condition.status, condition.message) for condition in conditions] == [
        ("False", "Work object shop-work has not yet completed the apply op")
    ]
    assert details == {}


def test_no_more_than_a_hundred_objects_and_fields_are_told() -> None:
    fields = tuple(FieldDifference(f"/data/{number}", "1", "2") for number in range(150))
    drifted = [
        attrs.evolve(STANDS, key=STANDS.key._replace(name=f"n{n}"), differences=fields)
        for n in range(150)
    ]
    conditions, details = written([Work("w", tuple(drifted))])
    assert [condition.status for condition in conditions] == ["True", "True"]
    assert (
        len(details["driftedPlacements"])
        == len(details["driftedPlacements"][0]["observedDrifts"])
        == 100
    )


def test_a_comparison_in_degraded_mode_does_not_count_as_reported() -> None:
    whole = attrs.evolve(
        STANDS, applied="", available="", compared="FoundDiff", differences=(CHANGED,)
    )
    (reported,), details = compared([Work("w", (whole,))])
    assert (reported.status, len(details["diffedPlacements"])) == ("True", 1)
    (reported,), details = compared(
        [Work("w", (attrs.evolve(whole, compared="FoundDiffInDegradedMode"),))]
    )
    assert (reported.status, details) == ("False", {})


def test_the_users_of_a_namespace_read_the_status_there() -> None:
    shown, snapshot, copy = api_objects(placement(statusReportingScope="NamespaceAccessible"), {})
    assert [(item["type"], item["status"]) for item in shown["status"]["conditions"]] == [
        ("ClusterResourcePlacementScheduled", "True"),
        ("ClusterResourcePlacementStatusSynced", "True"),
        ("ClusterResourcePlacementRolloutStarted", "False"),
    ]
    assert snapshot["kind"] == "ClusterSchedulingPolicySnapshot"
    assert (copy["kind"], copy["metadata"]) == (
        "ClusterResourcePlacementStatus",
        {"name": "shop", "namespace": "shop"},
    )
    told = [
        item for item in shown["status"]["conditions"] if not item["type"].endswith("StatusSynced")
    ]
    assert copy["sourceStatus"] == {**shown["status"], "conditions": told}
    assert len(api_objects(placement(), {})) == 2


def test_no_revision_is_observed_that_only_some_members_of_an_update_run_have() -> None:
    status = api_objects(placement(strategy={"type": "External"}))[0]["status"]
    assert (status["observedResourceIndex"], status["selectedResources"]) == ("", [])
    assert [item["clusterName"] for item in status["placementStatuses"]] == ["a"]


def namespace_stands() -> ObservedObject:
    """The namespace, as it should be."""
    return ObservedObject(Manifest(NAMESPACE).key, "v1", applied="Applied", available="Available")
