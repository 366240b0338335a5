"""The facts of a placement that documents show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from fleet_components.model.codec import encode
from fleet_components.model.text import count
from fleet_components.plan.subject import Decided
from fleet_components.rollout.describe import describe_stages
from fleet_components.status.facts import (
    EvictionDocument,
    StageDocument,
    SubjectFacts,
    UpdateRunDocument,
)
from fleet_components.systems.kubefleet.model.placement import PICK_ALL, PICK_N
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.rollout.run_record import FAILED, SUCCEEDED
from fleet_components.systems.kubefleet.status.placements import (
    cluster_decisions,
    scheduling_status,
)

_OUTCOMES: Mapping[str, Literal["Succeeded", "Failed"]] = {
    SUCCEEDED: "Succeeded",
    FAILED: "Failed",
}


def facts(decided: Decided) -> SubjectFacts:
    """Return the facts of a placement."""
    subject, status = decided.subject, decided.outcome.decision.status
    assert isinstance(subject, PlacementSubject)
    shown = scheduling_status(decided, status)
    return SubjectFacts(
        policy=_policy(subject),
        first_reasons={
            decision.cluster_name: decision.reason
            for decision in status.decisions
            if not decision.selected
        },
        skipped=subject.skipped,
        status={**shown, "clusterDecisions": cluster_decisions(status)},
        evictions=tuple(_evictions(decided)),
        update_run=_update_run(decided),
    )


def _update_run(decided: Decided) -> UpdateRunDocument | None:
    """Return the update run that is or was in force, with its stages."""
    assert isinstance(decided.outcome, PlacementOutcome)
    runs = decided.outcome.runs
    if runs is None or runs.last is None:
        return None
    record = decided.outcome.record.runs.records[runs.latest]
    stages = runs.stages(decided.outcome.rollout)
    return UpdateRunDocument(
        name=runs.latest,
        revision=record.revision if record.revision >= 0 else None,
        state=runs.run.state if runs.run else None,
        outcome=_OUTCOMES.get(record.outcome),
        message=record.message or None,
        approvals=record.approvals,
        stages=[
            StageDocument(
                name=stage.name,
                clusters=stage.parts,
                done=stage.done,
                moves=stage.moves,
                waits_before=stage.before or None,
                waits_after=stage.after or None,
            )
            for stage in stages
        ],
        words=list(describe_stages(stages)),
    )


def _evictions(decided: Decided) -> Iterator[EvictionDocument]:
    assert isinstance(decided.outcome, PlacementOutcome)
    checked = {check.eviction.name for check, _ in decided.outcome.evictions}
    for name, handled in decided.outcome.record.memory.evictions.items():
        conditions = [encode(condition) for condition in handled.conditions]
        yield EvictionDocument(name, handled.cluster, name in checked, conditions)


def _policy(subject: PlacementSubject) -> str:
    """Return the policy in short: ``PickN 3 of 5 members``, or ``PickN 3 (the fleet has only 2
    members)``.
    """
    policy, members = subject.policy, len(subject.inventory)
    kind = policy.placement_type if policy else PICK_ALL
    if policy is None or kind == PICK_ALL:
        return f"{kind} of {count(members, 'member')}"
    wanted = policy.number_of_clusters or 0 if kind == PICK_N else len(policy.cluster_names)
    if wanted > members:
        return f"{kind} {wanted} ({_available(members)})"
    return f"{kind} {wanted} of {count(members, 'member')}"


def _available(members: int) -> str:
    return (
        f"the fleet has only {count(members, 'member')}" if members else "the fleet has no member"
    )
