"""What a directory comes to, in the words of the table of expected outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fleet_components.plan.place import Outcome, Request, place

from fleet_components import Inventory, read_source
from fleet_components.model.decision import ClusterDecision
from fleet_components.plan.record import Record
from fleet_components.plan.source import Workload
from fleet_components.rollout.plan import Done

Records = Mapping[str, Record]


def run(folder: Path, before: Records | None = None) -> tuple[dict[str, Any], Records]:
    """Decide every placement of a directory; the outcome, and what to remember.

    Args:
        folder: the directory.
        before: what is remembered of an earlier run, all of which was carried out.
    """
    source = read_source(folder)
    inventory = Inventory(source.clusters)
    outcomes = {w.name: (w, _place(w, inventory, (before or {}).get(w.name, Record()))) for w in source.workloads()}
    shown = {name: _show(workload, outcome) for name, (workload, outcome) in outcomes.items()}
    return shown, {name: outcome.record for name, (_, outcome) in outcomes.items()}


def _place(workload: Workload, inventory: Inventory, before: Record) -> Outcome:
    placement = workload.placement
    request = Request(
        key=placement.key,
        policy=placement.spec.policy,
        strategy=workload.strategy,
        inventory=inventory,
        objects=workload.objects,
        namespace=placement.namespace,
        done={cluster: Done(placed.revision) for cluster, placed in before.decisions.items()},
        untrackable=workload.untrackable,
    )
    return place(request, before)


def _show(workload: Workload, outcome: Outcome) -> dict[str, Any]:
    status = outcome.decision.status
    condition = status.placement_condition(workload.placement.kind)
    return {
        "objects": [f"{data['kind']} {data['metadata']['name']}" for data in workload.objects],
        "picked": [_scored(decision) for decision in status.decisions if decision.selected],
        "left out": {decision.cluster_name: decision.reason for decision in status.decisions if not decision.selected},
        "condition": f"{condition.type} {condition.status} {condition.reason}: {condition.message}",
        "rollout": _rollout(outcome.record),
    }


def _scored(decision: ClusterDecision) -> str:
    score = decision.cluster_score
    scores = f" {score.affinity_score}/{score.topology_spread_score}" if score else ""
    return f"{decision.cluster_name}{scores}"


def _rollout(record: Record) -> dict[str, str]:
    """The clusters of each revision and wave."""
    steps = {(placed.revision, placed.wave) for placed in record.decisions.values()}
    return {f"revision {r}, wave {w}": ", ".join(_at(record, r, w)) for r, w in sorted(steps)}


def _at(record: Record, revision: int, wave: int) -> Iterable[str]:
    return sorted(n for n, placed in record.decisions.items() if (placed.revision, placed.wave) == (revision, wave))
