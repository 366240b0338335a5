"""Conditions of placements and their members, in the words of KubeFleet.

Source: ``pkg/utils/condition`` and ``pkg/controllers/placement`` of KubeFleet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.decision import Condition
from fleet_components.model.release import Release
from fleet_components.systems.kubefleet.model.release import RELEASE, Rule

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
ROLLOUT_STARTED, OVERRIDDEN, SYNCHRONIZED = "RolloutStarted", "Overridden", "WorkSynchronized"
APPLIED, AVAILABLE, DIFF_REPORTED = "Applied", "Available", "DiffReported"
STATUS_SYNCED = "ClusterResourcePlacementStatusSynced"
NO_OVERRIDE = ("NoOverrideSpecified", "No override rules are configured for the selected resources")

_WRITTEN = (ROLLOUT_STARTED, OVERRIDDEN, SYNCHRONIZED, APPLIED, AVAILABLE)
_REPORTED = (ROLLOUT_STARTED, OVERRIDDEN, SYNCHRONIZED, DIFF_REPORTED)
_STILL = "There are still {} cluster(s) in the process of "
# Both spelling mistakes are KubeFleet's.
_SYNCHRONIZED_BEFORE = (
    "Works(s) are succcesfully created or updated in {} target cluster(s)' namespaces"
)
# By type and status: the reason, and the message with the number of members.
_OF_PLACEMENT: Mapping[tuple[str, str], tuple[str, str]] = {
    (ROLLOUT_STARTED, UNKNOWN): (
        "RolloutStartedUnknown",
        f"{_STILL}deciding whether to roll out the latest resources or not",
    ),
    (ROLLOUT_STARTED, FALSE): (
        "RolloutNotStartedYet",
        "The rollout is being blocked by the rollout strategy in {} cluster(s)",
    ),
    (ROLLOUT_STARTED, TRUE): (
        "RolloutStarted",
        "All {} cluster(s) start rolling out the latest resource",
    ),
    (OVERRIDDEN, FALSE): ("OverriddenFailed", "Failed to override resources in {} cluster(s)"),
    (OVERRIDDEN, TRUE): (
        "OverriddenSucceeded",
        "The selected resources are successfully overridden in {} cluster(s)",
    ),
    (SYNCHRONIZED, TRUE): (
        "WorkSynchronized",
        "Work(s) are successfully created or updated in {} target cluster(s)' namespaces",
    ),
    (APPLIED, FALSE): (
        "ApplyFailed",
        "Failed to apply resources to {} cluster(s), please check the `failedPlacements` status",
    ),
    (APPLIED, TRUE): (
        "ApplySucceeded",
        "The selected resources are successfully applied to {} cluster(s)",
    ),
    (AVAILABLE, FALSE): (
        "ResourceNotAvailableYet",
        "The selected resources in {} cluster(s) are still not available yet",
    ),
    (AVAILABLE, TRUE): (
        "ResourceAvailable",
        "The selected resources in {} cluster(s) are available now",
    ),
    (DIFF_REPORTED, FALSE): (
        "DiffReportingIncompleteOrFailed",
        "Diff reporting in {} clusters is still in progress or has failed",
    ),
    (DIFF_REPORTED, TRUE): (
        "DiffReportingCompleted",
        "Diff reporting in {} cluster(s) has been completed",
    ),
}


def of_placement(
    kind: str, members: Sequence[Sequence[Condition]], *, reports: bool, release: Release = RELEASE
) -> list[Condition]:
    """Return the conditions of a placement that sum up those of its members, up to the first that
    is not True.

    Args:
        kind: ``ClusterResourcePlacement`` or ``ResourcePlacement``.
        members: the conditions of each member.
        reports: True if differences are reported only.
        release: the release of KubeFleet.
    """
    found: list[Condition] = []
    for name in _REPORTED if reports else _WRITTEN:
        here = [
            condition
            for conditions in members
            for condition in conditions
            if condition.type == name
        ]
        # Unknown beats False, and False beats True.
        status = next((s for s in (UNKNOWN, FALSE) if any(item.status == s for item in here)), TRUE)
        counted = [item for item in here if item.status == status]
        reason, message = _OF_PLACEMENT[name, status]
        if (name, status) == (SYNCHRONIZED, TRUE) and not release.has(Rule.WORK_TEXT_CORRECTED):
            message = _SYNCHRONIZED_BEFORE
        if name == OVERRIDDEN and all(
            (item.reason, item.message) == NO_OVERRIDE for item in counted
        ):
            reason, message = NO_OVERRIDE
        found.append(Condition(f"{kind}{name}", status, reason, message.format(len(counted))))
        if status != TRUE:
            break
    return found


def undecided(kind: str, *, differ: bool) -> Condition:
    """Return the condition of a placement that only update runs roll out, and whose members have no
    common revision.

    Args:
        kind: ``ClusterResourcePlacement`` or ``ResourcePlacement``.
        differ: True if the members have different revisions, False if they have none.
    """
    run = "ClusterStagedUpdateRun" if kind.startswith("Cluster") else "StagedUpdateRun"
    what = (
        "different resource snapshot versions are observed across clusters"
        if differ
        else "no resource snapshot name is observed across clusters. To determine rollout status, "
        f"check the {run} resources with spec.placementName matching this placement"
    )
    message = f"Rollout is controlled by an external controller and {what}"
    return Condition(
        f"{kind}{ROLLOUT_STARTED}", UNKNOWN, "RolloutControlledByExternalController", message
    )


def accessible_in(namespace: str) -> Condition:
    """Return the condition of a placement whose status is copied into a namespace."""
    message = (
        f"Successfully created or updated ClusterResourcePlacementStatus in namespace '{namespace}'"
    )
    return Condition(STATUS_SYNCED, TRUE, "StatusSyncSucceeded", message)


def to_wire(condition: Condition) -> dict[str, str]:
    """Return a condition in the form of the API."""
    wire: dict[str, str] = attrs.asdict(condition)
    return wire


_PASSING = ("True", None)


def complaints(status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the members of a placement on which not all is well, each with what the hub says.

    Args:
        status: the status of the placement.
    """
    # The field has another name in version v1beta1.
    members = status.get("perClusterPlacementStatuses") or status.get("placementStatuses") or ()
    for item in members:
        wrong = [*_untrue(item.get("conditions")), *_failed(item)]
        if item.get("clusterName") and wrong:
            yield item["clusterName"], wrong


def _untrue(conditions: Iterable[Mapping[str, Any]] | None) -> Iterator[str]:
    for condition in conditions or ():
        if condition.get("status") not in _PASSING:
            yield f"{condition.get('reason')}: {condition.get('message')}"


def _failed(cluster: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a member of KubeFleet has reported about single objects."""
    for item in cluster.get("failedPlacements") or ():
        message = (item.get("condition") or {}).get("message")
        yield (
            f"{item.get('kind')}"
            f" {'/'.join(filter(None, (item.get('namespace'), item.get('name'))))}: {message}"
        )
