"""Find the update run that rolls a placement out."""

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


def run_of(policies: Iterable[Manifest], namespace: str, placement: str) -> Manifest | None:
    """Return the run that rolls a placement out: of those that name it, the last by name; None if none does."""
    runs = [m for m in policies if m.kind in STRATEGY_OF and (m.namespace, _placement(m)) == (namespace, placement)]
    return max(runs, key=lambda run: run.name, default=None)


def _placement(run: Manifest) -> str:
    return str(run.data["spec"].get("placementName", ""))
