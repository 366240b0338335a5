"""Statuses of update runs and evictions, in the form of KubeFleet's API.

Source: ``pkg/controllers/updaterun`` of KubeFleet. Times are left out, and the strategies
that a run has copied, which are those of its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.decision import Condition
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import StageProgress
from fleet_components.rollout.situation import stopped_at
from fleet_components.systems.kubefleet.model.eviction import EVICTION
from fleet_components.systems.kubefleet.model.release import Rule
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.rollout.run_record import FAILED, SUCCEEDED, RunRecord
from fleet_components.systems.kubefleet.rollout.strategy import (
    External,
    RolloutStage,
    Task,
    UpdateRun,
)
from fleet_components.systems.kubefleet.status.conditions import FALSE, TRUE, to_wire

_VERSION = "placement.kubernetes-fleet.io/v1beta1"
_DELETION = "kubernetes-fleet.io/deleteStage"
_INITIALIZED = Condition(
    "Initialized",
    TRUE,
    "UpdateRunInitializedSuccessfully",
    "The UpdateRun initialized successfully",
)
_STARTED = Condition("Started", TRUE, "ClusterUpdatingStarted", "Cluster update started")
_UPDATED = Condition(
    "Succeeded", TRUE, "ClusterUpdatingSucceeded", "Cluster update completed successfully"
)
_CREATED = Condition(
    "ApprovalRequestCreated",
    TRUE,
    "StageTaskApprovalRequestCreated",
    "ApprovalRequest object is created",
)
_APPROVED = Condition(
    "ApprovalRequestApproved",
    TRUE,
    "StageTaskApprovalRequestApproved",
    "ApprovalRequest object is approved",
)
_ELAPSED = Condition("WaitTimeElapsed", TRUE, "AfterStageTaskWaitTimeElapsed", "Wait time elapsed")
_STAGE_SUCCEEDED = (
    Condition(
        "Progressing",
        FALSE,
        "StageUpdatingSucceeded",
        "All clusters in the stage are updated and after-stage tasks are completed",
    ),
    Condition("Succeeded", TRUE, "StageUpdatingSucceeded", "Stage update completed successfully"),
)
_STAGE_ABORTED = "Stage update aborted due to a non-recoverable error"
_SKIPPED = "Stage skipped because it has no clusters"
_STAGE_SKIPPED = tuple(
    Condition(name, status, "StageUpdatingSkippedNoClusters", _SKIPPED)
    for name, status in (("Progressing", FALSE), ("Succeeded", TRUE))
)
# How far a stage has come, and its condition.
# In this order, since they are compared: `how_far >= _MOVING`.
_NOT_REACHED, _BEFORE, _MOVING, _STOPPED, _FAILED, _AFTER, _PASSED = range(7)
_PROGRESS: Mapping[int, tuple[str, str, str]] = {
    _BEFORE: (
        FALSE,
        "StageUpdatingWaiting",
        "Not all before-stage tasks are completed, waiting for approval",
    ),
    _MOVING: (TRUE, "StageUpdatingStarted", "Clusters in the stage started updating"),
    _STOPPED: (
        FALSE,
        "StageUpdatingStopped",
        (
            "All the updating clusters have finished updating, the stage is now stopped, waiting to"
            " be resumed"
        ),
    ),
    _AFTER: (
        FALSE,
        "StageUpdatingWaiting",
        "All clusters in the stage are updated, waiting for after-stage tasks to complete",
    ),
}


def api_objects(decided: Decided) -> Iterator[dict[str, Any]]:
    """Yield the update runs and evictions of a placement, each with nothing but its status."""
    namespace = decided.subject.key.rpartition("/")[0]
    runs = f"{'' if namespace else 'Cluster'}StagedUpdateRun"
    scope = {"namespace": namespace} if namespace else {}
    for name, status in update_run_statuses(decided).items():
        yield {
            "apiVersion": _VERSION,
            "kind": runs,
            "metadata": {"name": name, **scope},
            "status": status,
        }
    for name, status in eviction_statuses(decided).items():
        yield {
            "apiVersion": _VERSION,
            "kind": EVICTION,
            "metadata": {"name": name},
            "status": status,
        }


def update_run_statuses(decided: Decided) -> dict[str, dict[str, Any]]:
    """Return the ``status`` of each update run of a placement, by name."""
    subject, outcome = decided.subject, decided.outcome
    assert isinstance(subject, PlacementSubject)
    assert isinstance(outcome, PlacementOutcome)
    if not isinstance(subject.strategy, External) or outcome.runs is None:
        return {}
    return {
        run.name: _status(decided, run, outcome.runs.records[run.name])
        for run in subject.strategy.runs
        if run.name in outcome.runs.records
    }


def eviction_statuses(decided: Decided) -> dict[str, dict[str, Any]]:
    """Return the ``status`` of each eviction of a placement that was checked, by name."""
    outcome = decided.outcome
    assert isinstance(outcome, PlacementOutcome)
    handled = outcome.record.memory.evictions.items()
    return {
        name: {"conditions": [to_wire(condition) for condition in eviction.conditions]}
        for name, eviction in handled
    }


def _status(decided: Decided, run: UpdateRun, record: RunRecord) -> dict[str, Any]:
    # -1: the run could not begin, so it has neither stages nor clusters.
    if record.revision < 0:
        failed = Condition("Initialized", FALSE, "UpdateRunInitializedFailed", record.message)
        return {"conditions": [to_wire(failed)]}
    # A failed run keeps what it was updating then; the last update may have stopped elsewhere.
    sent = frozenset(record.updating) if record.outcome == FAILED else _in_flight(decided)
    subject = decided.subject
    assert isinstance(subject, PlacementSubject)
    skips = subject.release.has(Rule.EMPTY_STAGES_SKIPPED)
    parts = [
        _Part(stage, clusters, skipped=skips and not clusters)
        for stage, clusters in zip(record.stages, record.clusters, strict=True)
    ]
    reached = _reached(decided, run, record, parts)
    conditions = [
        _INITIALIZED,
        *_progress(run, record, list(zip(parts, reached, strict=True)), sent),
    ]
    done = record.outcome == SUCCEEDED
    return {
        "conditions": list(map(to_wire, conditions)),
        "policySnapshotIndexUsed": str(record.snapshot),
        "policyObservedClusterCount": len([cluster for part in parts for cluster in part.clusters]),
        "resourceSnapshotIndexUsed": str(record.revision),
        "stagesStatus": [
            part.to_wire(run, record, how_far, _done(decided, record, part, how_far), sent)
            for part, how_far in zip(parts, reached, strict=True)
        ],
        "deletionStageStatus": {
            "stageName": _DELETION,
            "clusters": [_cluster(name, updated=done) for name in record.leaving],
            **({"conditions": list(map(to_wire, _STAGE_SUCCEEDED))} if done else {}),
        },
    }


@attrs.frozen
class _Part:
    """A stage with its clusters; one that is skipped has none."""

    stage: RolloutStage
    clusters: Sequence[str]
    skipped: bool

    def to_wire(
        self,
        run: UpdateRun,
        record: RunRecord,
        how_far: int,
        done: frozenset[str],
        sent: frozenset[str],
    ) -> dict[str, Any]:
        """Return the stage in the form of the API."""
        begun = how_far >= _MOVING
        losses = record.losses() if how_far == _FAILED else {}
        clusters = [
            _cluster(
                cluster,
                updated=begun and cluster in done,
                started=begun and cluster in sent,
                loss=losses.get(cluster),
            )
            for cluster in self.clusters
        ]
        if how_far == _PASSED:
            conditions: Sequence[Condition] = _STAGE_SKIPPED if self.skipped else _STAGE_SUCCEEDED
        elif how_far == _FAILED:
            conditions = [
                Condition("Progressing", FALSE, "StageUpdatingFailed", _STAGE_ABORTED),
                Condition("Succeeded", FALSE, "StageUpdatingFailed", record.message),
            ]
        else:
            conditions = (
                [Condition("Progressing", *_PROGRESS[how_far])] if how_far in _PROGRESS else []
            )
        tasks = {
            "beforeStageTaskStatus": [
                _task(
                    run,
                    record,
                    self.stage,
                    "before",
                    task,
                    asked=how_far >= _BEFORE and not self.skipped,
                    passed=begun and not self.skipped,
                )
                for task in self.stage.before
            ],
            "afterStageTaskStatus": [
                _task(
                    run,
                    record,
                    self.stage,
                    "after",
                    task,
                    # The request exists once all clusters are updated; without clusters, once the
                    # tasks are due.
                    asked=(
                        done >= set(self.clusters)
                        if self.clusters
                        else how_far >= _AFTER and not self.skipped
                    ),
                    passed=how_far == _PASSED and not self.skipped,
                )
                for task in self.stage.after
            ],
        }
        return {
            "stageName": self.stage.name,
            "clusters": clusters,
            **{name: found for name, found in tasks.items() if found},
            **({"conditions": list(map(to_wire, conditions))} if conditions else {}),
        }


def _in_flight(decided: Decided) -> frozenset[str]:
    """Return the clusters that the last update has sent something, and that did not become
    ready.
    """
    return stopped_at(decided.subject.done, decided.before.decisions)


def _done(decided: Decided, record: RunRecord, part: _Part, how_far: int) -> frozenset[str]:
    """Return the clusters of a stage that are updated."""
    if record.outcome == FAILED:
        return frozenset(record.updated).intersection(part.clusters)
    if how_far in (_AFTER, _PASSED):
        return frozenset(part.clusters)
    stages: Sequence[StageProgress] = decided.outcome.rollout.stages
    return frozenset(
        name for stage in stages if stage.name == part.stage.name for name in stage.done
    )


def _reached(
    decided: Decided, run: UpdateRun, record: RunRecord, parts: Sequence[_Part]
) -> list[int]:
    """Return how far each stage has come."""
    runs = decided.outcome.runs
    if record.outcome == SUCCEEDED:
        return [_PASSED] * len(parts)
    if record.outcome == FAILED:
        return _left_off(record, parts)
    if run.state == "Initialize" or runs.run is None or runs.run.name != run.name:
        return [_NOT_REACHED] * len(parts)
    found: list[int] = []
    stages = {stage.name: stage for stage in decided.outcome.rollout.stages}
    for number, part in enumerate(parts):
        open_so_far = all(item == _PASSED for item in found)
        # A run in force has all of its stages in the rollout.
        # Clusters of a later stage that are done show that this one was passed.
        going_on = any(stages[later.stage.name].done for later in parts[number + 1 :])
        found.append(
            _of_stage(stages[part.stage.name], part, run, going_on) if open_so_far else _NOT_REACHED
        )
    return found


def _left_off(record: RunRecord, parts: Sequence[_Part]) -> list[int]:
    """Return how far each stage had come when its run failed.

    What ran the revision before the run began says nothing of its course.
    """
    brought = frozenset((*record.updated, *record.updating)).difference(record.had)
    found: list[int] = []
    for number, part in enumerate(parts):
        going_on = any(brought.intersection(later.clusters) for later in parts[number + 1 :])
        open_so_far = all(item == _PASSED for item in found)
        passed = open_so_far and (going_on or part.skipped)
        found.append(
            _PASSED
            if passed
            else _last_stage(record, part, brought)
            if open_so_far
            else _NOT_REACHED
        )
    return found


def _last_stage(record: RunRecord, part: _Part, brought: frozenset[str]) -> int:
    """Return how far the stage had come in which a run failed."""
    here = brought.intersection(part.clusters)
    if here.intersection(record.updating):
        # Only a run that takes clusters over fails their stage; any other failure leaves it moving.
        return _FAILED if record.taken else _MOVING
    if not here:
        return _NOT_REACHED
    if not set(record.updated) >= set(part.clusters):
        return _MOVING
    return _AFTER if part.stage.after else _PASSED


def _of_stage(stage: StageProgress, part: _Part, run: UpdateRun, going_on: bool) -> int:
    """Return how far a stage has come that follows upon those that are passed."""
    if part.skipped:
        return _PASSED
    done = set(stage.done) >= set(part.clusters)
    # A stopped run is past a stage with tasks after it only if later clusters show it.
    if run.state == "Stop":
        return _PASSED if done and (going_on or not part.stage.after) else _STOPPED
    if not part.clusters and stage.before:
        return _BEFORE
    if done:
        return _AFTER if stage.after else _PASSED
    return _BEFORE if stage.before and part.stage.before else _MOVING


def _progress(
    run: UpdateRun, record: RunRecord, stages: Sequence[tuple[_Part, int]], sent: frozenset[str]
) -> Iterator[Condition]:
    """Yield the conditions behind the first one."""
    if record.outcome == SUCCEEDED:
        yield Condition("Progressing", FALSE, "UpdateRunSucceeded", "All stages are completed")
        yield Condition(
            "Succeeded", TRUE, "UpdateRunSucceeded", "All stages are completed successfully"
        )
    elif record.outcome == FAILED:
        aborted = "The stages are aborted due to a non-recoverable error"
        yield Condition("Progressing", FALSE, "UpdateRunFailed", aborted)
        yield Condition("Succeeded", FALSE, "UpdateRunFailed", record.message)
    elif run.state == "Stop":
        yield Condition("Progressing", FALSE, "UpdateRunStopped", "The update run has been stopped")
    elif run.state == "Run":
        yield _going(stages, sent)


def _going(stages: Sequence[tuple[_Part, int]], sent: frozenset[str]) -> Condition:
    """Return the condition of a run that goes on, waits, or is stuck at clusters that do not become
    ready.
    """
    for part, how_far in stages:
        name = part.stage.name
        if how_far in (_BEFORE, _AFTER):
            when = "before" if how_far == _BEFORE else "after"
            message = f"The updateRun is waiting for {when}-stage tasks in stage {name} to complete"
            return Condition("Progressing", FALSE, "UpdateRunWaiting", message)
        if how_far == _MOVING and (
            stuck := [cluster for cluster in part.clusters if cluster in sent]
        ):
            what = (
                f"The updateRun is stuck waiting for {', '.join(stuck)} cluster(s) in stage {name}"
                " to finish updating"
            )
            hint = "please check placement status for potential errors"
            return Condition("Progressing", FALSE, "UpdateRunStuck", f"{what}, {hint}")
    return Condition(
        "Progressing", TRUE, "UpdateRunProgressing", "The update run is making progress"
    )


def _cluster(
    name: str, *, updated: bool, started: bool = False, loss: str | None = None
) -> dict[str, Any]:
    # An updated cluster has been started, whatever `started` says.
    conditions = [_STARTED, _UPDATED] if updated else [_STARTED] if started else []
    if loss:
        conditions.append(Condition("Succeeded", FALSE, "ClusterUpdatingFailed", loss))
    return {
        "clusterName": name,
        **({"conditions": list(map(to_wire, conditions))} if conditions else {}),
    }


def _task(
    run: UpdateRun,
    record: RunRecord,
    stage: RolloutStage,
    when: str,
    task: Task,
    *,
    asked: bool,
    passed: bool,
) -> dict[str, Any]:
    """Return a task of a stage in the form of the API."""
    if task.type != "Approval":
        return {"type": task.type, **({"conditions": [to_wire(_ELAPSED)]} if passed else {})}
    request = f"{run.name}-{when}-{stage.name}"
    # A record has the namespace before the name, a status the name alone.
    approved = passed or f"{run.namespace}/{request}".lstrip("/") in record.approvals
    conditions = [_CREATED, _APPROVED] if approved else [_CREATED] if asked else []
    shown = {"conditions": list(map(to_wire, conditions))} if conditions else {}
    return {"approvalRequestName": request, **shown, "type": task.type}
