"""Which update run rolls a placement out, and which ones do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem

STRATEGY_OF = {
    "ClusterStagedUpdateRun": "ClusterStagedUpdateStrategy",
    "StagedUpdateRun": "StagedUpdateStrategy",
}
"""The kind of the strategy that a run of each kind follows."""
_PLACEMENT_OF = {"ClusterStagedUpdateRun": "ClusterResourcePlacement", "StagedUpdateRun": "ResourcePlacement"}
_PATH = ("spec", "placementName")


def run_of(policies: Iterable[Manifest], namespace: str, placement: str) -> Manifest | None:
    """The run that rolls a placement out: the last one by name that names it; None where none does."""
    runs = [m for m in policies if m.kind in STRATEGY_OF and (m.namespace, _placement(m)) == (namespace, placement)]
    return max(runs, key=lambda run: run.name, default=None)


def idle_runs(policies: Sequence[Manifest]) -> Iterator[Problem]:
    """Runs that roll out nothing, each with the reason. On a hub they fail, or take members from each other."""
    placements = {(m.kind, m.namespace, m.name): m for m in policies if m.kind in _PLACEMENT_OF.values()}
    for run in (m for m in policies if m.kind in STRATEGY_OF):
        kind, name = _PLACEMENT_OF[run.kind], _placement(run)
        placement = placements.get((kind, run.namespace, name))
        other = run_of(policies, run.namespace, name)
        if placement is None:
            known = ", ".join(key[2] for key in placements if key[:2] == (kind, run.namespace)) or "none"
            yield run.problem(f'has no effect: there is no {kind} "{name}"', _PATH, f"there is: {known}")
        elif placement.data["spec"].get("strategy", {}).get("type") != "External":
            what = f"has no effect: {kind} {name} is rolled out by its own strategy"
            yield run.problem(what, _PATH, "write strategy: {type: External} there, or take the run out")
        elif other is not None and other is not run:
            what = f"has no effect: {other.name} rolls {kind} {name} out, the last of its runs by name"
            yield run.problem(what, _PATH, "take it out when it is done")


def _placement(run: Manifest) -> str:
    return str(run.data["spec"].get("placementName", ""))
