"""Find the update runs that roll placements out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fleet_components.model.manifest import Manifest

STRATEGY_OF = {
    "ClusterStagedUpdateRun": "ClusterStagedUpdateStrategy",
    "StagedUpdateRun": "StagedUpdateStrategy",
}
"""Kind of the strategy that each kind of run follows."""
PLACEMENT_OF = {"ClusterStagedUpdateRun": "ClusterResourcePlacement", "StagedUpdateRun": "ResourcePlacement"}
"""Kind of the placement that each kind of run rolls out."""
APPROVALS = ("ClusterApprovalRequest", "ApprovalRequest")
"""Kinds of the requests for an approval."""


def is_approved(manifest: Manifest) -> bool:
    """Return whether an object is an approval request of an update run that somebody has approved."""
    if manifest.kind not in APPROVALS or manifest.group != "placement.kubernetes-fleet.io":
        return False
    status = manifest.data.get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    return any(
        isinstance(condition, Mapping) and (condition.get("type"), condition.get("status")) == ("Approved", "True")
        for condition in (conditions if isinstance(conditions, list) else ())
    )


def runs_of(policies: Iterable[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    """Return the runs by namespace and name of the placement, each list by name."""
    found: dict[tuple[str, str], list[Manifest]] = {}
    for run in sorted((policy for policy in policies if policy.kind in STRATEGY_OF), key=lambda run: run.name):
        found.setdefault((run.namespace, str(run.data["spec"].get("placementName", ""))), []).append(run)
    return found
