"""Which update run rolls a placement out."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.manifest import Manifest

STRATEGY_OF = {
    "ClusterStagedUpdateRun": "ClusterStagedUpdateStrategy",
    "StagedUpdateRun": "StagedUpdateStrategy",
}
"""The kind of the strategy that a run of each kind follows."""
PLACEMENT_OF = {"ClusterStagedUpdateRun": "ClusterResourcePlacement", "StagedUpdateRun": "ResourcePlacement"}
"""The kind of the placement that a run of each kind rolls out."""


def run_of(policies: Iterable[Manifest], namespace: str, placement: str) -> Manifest | None:
    """The run that rolls a placement out: the last one by name that names it; None where none does."""
    runs = [m for m in policies if m.kind in STRATEGY_OF and (m.namespace, _placement(m)) == (namespace, placement)]
    return max(runs, key=lambda run: run.name, default=None)


def _placement(run: Manifest) -> str:
    return str(run.data["spec"].get("placementName", ""))
