"""What a directory comes to, in the words of the table of expected outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fleet_components import read_source
from fleet_components.model.decision import ClusterDecision
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.overridden import overridden_members
from fleet_components.review.documents.schema import OverriddenObject
from fleet_components.review.showing.words import show_field, update_run
from fleet_components.rollout.rollout import Done

Records = Mapping[str, Record[Any, Any]]


def run(folder: Path, before: Records | None = None) -> tuple[dict[str, Any], Records]:
    """Decide every placement of a directory; the outcome, and what to remember.

    Args:
        folder: the directory.
        before: what is remembered of an earlier run, all of which was carried out.
    """
    plan = plan_fleet(read_source(folder), _carried_out(before or {}), Options())
    assert plan.refused == ()
    shown = {decided.subject.key: _show(decided) for decided in plan.of("Placement")}
    return shown, {decided.name: decided.record for decided in plan.subjects}


def _carried_out(records: Records) -> Past:
    done = {
        name: {
            cluster: Done(placed.revision, overrides=placed.overrides)
            for cluster, placed in record.decisions.items()
        }
        for name, record in records.items()
    }
    return Past(records=records, done=done)


def _show(decided: Decided) -> dict[str, Any]:
    status = decided.outcome.decision.status
    condition = status.placement_condition(decided.subject.kind)
    return {
        "objects": [
            f"{data['kind']} {data['metadata']['name']}" for data in decided.subject.objects
        ],
        "picked": [_scored(decision) for decision in status.decisions if decision.selected],
        "left out": {
            decision.cluster_name: decision.reason
            for decision in status.decisions
            if not decision.selected
        },
        "condition": f"{condition.type} {condition.status} {condition.reason}: {condition.message}",
        "rollout": _rollout(decided.record),
        **({"overridden": overridden} if (overridden := _overridden(decided)) else {}),
        **({"update run": stages} if (stages := _stages(decided)) else {}),
        **({"held": sorted(held)} if (held := decided.outcome.rollout.held) else {}),
    }


def _overridden(decided: Decided) -> dict[str, dict[str, Any]]:
    """What overrides change on the members: by object each field, or that it is deleted."""
    return {
        ", ".join(group.members): {data.object: _deviation(data) for data in group.objects or ()}
        for group in overridden_members(decided)
    }


def _stages(decided: Decided) -> list[str]:
    """The update run with its stages, or why it has failed."""
    run = decided.subject.system.facts(decided).update_run
    return update_run(run) or ([f"{run.name}: {run.message}"] if run else [])


def _deviation(overridden_object: OverriddenObject) -> list[str] | str:
    """The fields that change, each with the rule behind it."""
    if overridden_object.deleted:
        return f"deleted by {overridden_object.deleted.override} [{overridden_object.deleted.rule}]"
    return [
        f"{show_field(field)} by {field.by.override} [{field.by.rule}]"
        for field in overridden_object.fields
    ]


def _scored(decision: ClusterDecision) -> str:
    score = decision.cluster_score
    scores = f" {score.affinity_score}/{score.topology_spread_score}" if score else ""
    return f"{decision.cluster_name}{scores}"


def _rollout(record: Record[Any, Any]) -> dict[str, str]:
    """The clusters of each revision and wave."""
    steps = {(placed.revision, placed.wave) for placed in record.decisions.values()}
    return {f"revision {r}, wave {w}": ", ".join(_at(record, r, w)) for r, w in sorted(steps)}


def _at(record: Record[Any, Any], revision: int, wave: int) -> Iterable[str]:
    return sorted(
        n
        for n, placed in record.decisions.items()
        if (placed.revision, placed.wave) == (revision, wave)
    )
