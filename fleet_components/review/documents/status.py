"""Decisions about placements, in the form of KubeFleet's API.

Source: ``PlacementStatus`` and ``SchedulingPolicySnapshotStatus`` of ``placement.kubernetes-fleet.io/v1``, and the
controller that fills the one from the other. Times, generations and what only members could report are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model.decision import ClusterDecision, Status
from fleet_components.model.kubefleet.placement import PICK_FIXED, PICK_N
from fleet_components.model.manifest import Manifest
from fleet_components.plan.kubefleet.subject import PlacementSubject
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.form import without_none
from fleet_components.rollout.rollout import Placed
from fleet_components.rollout.strategy import External

API_VERSION = "placement.kubernetes-fleet.io/v1"


def placement_status(decided: Decided, status: Status) -> dict[str, Any]:
    """Return the ``status`` of a placement as the hub shows it during the rollout.

    Args:
        decided: the placement.
        status: the scheduler's status, right after this decision or after the next scheduling.
    """
    placed = decided.record.decisions
    selected = [_selected(decision, placed) for decision in status.decisions if decision.selected]
    failed = [_failed(decision) for decision in status.decisions if not decision.selected]
    return {
        "conditions": [attrs.asdict(status.placement_condition(decided.subject.kind))],
        "observedResourceIndex": _observed(decided),
        "placementStatuses": [*selected, *failed[: _missing(decided, len(selected))]],
        "selectedResources": list(map(_resource, _placement(decided).selected)),
    }


def cluster_decisions(status: Status) -> list[dict[str, Any]]:
    """Return the scheduler's decisions, which the API keeps as ``status.targetClusters`` of the policy snapshot."""
    return [without_none(decision.to_wire()) for decision in status.decisions]


def api_objects(decided: Decided) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the placement and its policy snapshot, each with nothing but its status.

    The status is that after the next scheduling, which stays the same while nothing changes.
    """
    request, record = _placement(decided), decided.record
    status = request.schedule(record.memory).status
    namespace, _, name = decided.subject.key.rpartition("/")
    scope = {"namespace": namespace} if namespace else {}
    kind = "SchedulingPolicySnapshot" if namespace else "ClusterSchedulingPolicySnapshot"
    return (
        _object(decided.subject.kind, {"name": name, **scope}, placement_status(decided, status)),
        _object(
            kind,
            {"name": f"{name}-{record.memory.snapshot}", **scope},
            {
                "conditions": [attrs.asdict(status.condition)] if status.condition else [],
                "targetClusters": cluster_decisions(status),
            },
        ),
    )


def _placement(decided: Decided) -> PlacementSubject:
    assert isinstance(decided.subject, PlacementSubject)
    return decided.subject


def _object(kind: str, metadata: Mapping[str, str], status: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "status": status}


def _observed(decided: Decided) -> str:
    """Return the observed index; with an update run it is only set if all members have the same one."""
    record = decided.record
    running = {placed.revision for placed in record.decisions.values()}
    if not isinstance(_placement(decided).strategy, External):
        return str(record.revision)
    return str(running.pop()) if len(running) == 1 else ""


def _selected(decision: ClusterDecision, placed: Mapping[str, Placed]) -> dict[str, Any]:
    name = decision.cluster_name
    here = placed.get(name)
    index = {"observedResourceIndex": str(here.revision)} if here else {}
    return {"clusterName": name, **index, "conditions": [_condition("True", "Scheduled", decision.reason)]}


def _failed(decision: ClusterDecision) -> dict[str, Any]:
    return {"conditions": [_condition("False", "ScheduleFailed", decision.reason)]}


def _condition(status: str, reason: str, message: str) -> dict[str, str]:
    return {"type": "Scheduled", "status": status, "reason": reason, "message": message}


def _missing(decided: Decided, selected: int) -> int:
    """Return the number of members that are wanted and were not found."""
    policy = _placement(decided).policy
    if policy and policy.placement_type == PICK_N:
        return max(0, (policy.number_of_clusters or 0) - selected)
    return len(policy.cluster_names) - selected if policy and policy.placement_type == PICK_FIXED else 0


def _resource(manifest: Manifest) -> dict[str, str]:
    fields = {
        "group": manifest.group,
        "version": manifest.version,
        "kind": manifest.kind,
        "namespace": manifest.namespace,
        "name": manifest.name,
    }
    return {field: value for field, value in fields.items() if value}
