"""Find the update runs that roll placements out."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.manifest import Manifest

STRATEGY_OF = {
    "ClusterStagedUpdateRun": "ClusterStagedUpdateStrategy",
    "StagedUpdateRun": "StagedUpdateStrategy",
}
"""Kind of the strategy that each kind of run follows."""
PLACEMENT_OF = {"ClusterStagedUpdateRun": "ClusterResourcePlacement", "StagedUpdateRun": "ResourcePlacement"}
"""Kind of the placement that each kind of run rolls out."""


def runs_of(policies: Iterable[Manifest]) -> dict[tuple[str, str], Manifest]:
    """Return the runs by namespace and name of the placement; of those that name one placement the last by name."""
    found: dict[tuple[str, str], Manifest] = {}
    for run in (policy for policy in policies if policy.kind in STRATEGY_OF):
        placement = run.namespace, str(run.data["spec"].get("placementName", ""))
        found[placement] = max(found.get(placement, run), run, key=lambda run: run.name)
    return found
