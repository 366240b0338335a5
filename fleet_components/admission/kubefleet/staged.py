"""Staged updates: structure and rules of strategies, runs and approval requests. No webhook checks them."""

from __future__ import annotations

from typing import Any

from fleet_components.admission.kubefleet.member_cluster import SHORT_NAME
from fleet_components.admission.registry import Kind, versions, whole
from fleet_components.admission.schema import (
    CONDITIONS,
    LABEL_SELECTOR,
    Rule,
    Schema,
    anything,
    int_or_text,
    listing,
    rule,
    struct,
    text,
    transition,
)
from fleet_components.model.problem import FieldPath

_GROUP = "placement.kubernetes-fleet.io"
_DURATION = r"^(?:(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:s|m|h))+$"
_DURATION_OR_ZERO = r"^(?:0|(?:(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:s|m|h))+)$"
_WAIT = "write, for example, {type: TimedWait, waitTime: 1h} or {type: Approval}"


def _tasks(most: int, *rules: Rule, wait: str = _DURATION) -> Schema:
    task = struct(
        {
            "type": text(required=True, enum=("TimedWait", "Approval"), example="Approval"),
            "waitTime": text(pattern=wait, example="1h"),
        },
        example={"type": "Approval"},
    )
    return listing(task, max_items=most, rules=rules)


def _has_task(tasks: Any, task_type: str, *, with_wait: bool) -> bool:
    return any(task["type"] == task_type and ("waitTime" in task) == with_wait for task in tasks)


_NO_WAIT_FOR_APPROVAL = rule(
    "AfterStageTaskType is Approval, waitTime is not allowed",
    lambda it: not _has_task(it, "Approval", with_wait=True),
    _WAIT,
)

_AFTER = _tasks(
    2,
    _NO_WAIT_FOR_APPROVAL,
    rule(
        "AfterStageTaskType is TimedWait, waitTime is required",
        lambda it: not _has_task(it, "TimedWait", with_wait=False),
        _WAIT,
    ),
)

_BEFORE = _tasks(
    1,
    _NO_WAIT_FOR_APPROVAL,
    rule(
        "BeforeStageTaskType cannot be TimedWait",
        lambda it: all(task["type"] != "TimedWait" for task in it),
        "write type: Approval, or wait after the stage before",
    ),
)

_CONCURRENCY = int_or_text(
    pattern="^(100|[1-9][0-9]?)%$",
    default=1,
    rules=(
        rule(
            "maxConcurrency must be at least 1",
            lambda it: not isinstance(it, int) or it >= 1,
            "write maxConcurrency: 1",
        ),
    ),
)

_STAGE = struct(
    {
        "name": text(required=True, max_length=63, pattern="^[a-z0-9]+$", example="canary"),
        "labelSelector": LABEL_SELECTOR,
        "sortingLabelKey": text(),
        "maxConcurrency": _CONCURRENCY,
        "afterStageTasks": _AFTER,
        "beforeStageTasks": _BEFORE,
    },
    example={"name": "canary", "labelSelector": {"matchLabels": {"env": "canary"}}},
)
_FIRST_STAGE = _STAGE.without("maxConcurrency", "beforeStageTasks").having(
    {"afterStageTasks": _tasks(2, wait=_DURATION_OR_ZERO)}
)


def _strategy(stage: Schema) -> Schema:
    return struct({"stages": listing(stage, required=True, max_items=31)}, required=True)


def _fixed(name: str, **attributes: Any) -> Schema:
    same = transition(f"{name} is immutable", lambda it, old: it == old, "create a run of another name")
    return text(rules=(same,), **attributes)


def _no_way(before: str, after: str, do: str) -> Rule:
    return transition(
        f"invalid state transition: cannot transition from {before} to {after}",
        lambda it, old: (old.get("state"), it["state"]) != (before, after),
        do,
    )


_RUN = struct(
    {
        "placementName": _fixed("placementName", required=True, max_length=255, example="my-placement"),
        "stagedRolloutStrategyName": _fixed("stagedRolloutStrategyName", required=True, example="my-strategy"),
        "resourceSnapshotIndex": _fixed("resourceSnapshotIndex", example="0"),
        "state": text(enum=("Initialize", "Run", "Stop"), default="Initialize"),
    },
    required=True,
    rules=(
        _no_way("Initialize", "Stop", "delete the run; it has not started"),
        _no_way("Run", "Initialize", "write state: Stop, or create a run of another name"),
        _no_way("Stop", "Initialize", "write state: Run, or create a run of another name"),
    ),
)

_IMMUTABLE = transition("The spec field is immutable", lambda it, old: it == old, "create one of another name")

_FIRST_RUN = struct(
    {
        "placementName": text(required=True, max_length=255, example="my-placement"),
        "stagedRolloutStrategyName": text(required=True, example="my-strategy"),
        "resourceSnapshotIndex": text(required=True, example="0"),
    },
    required=True,
    rules=(_IMMUTABLE,),
)
_FIRST_NAME = rule(
    "metadata.name max length is 127", lambda it: len(it["metadata"].get("name", "")) < 128, "write a shorter name"
)

_APPROVAL = struct(
    {
        "parentStageRollout": text(required=True, example="my-run"),
        "targetStage": text(required=True, example="canary"),
    },
    required=True,
    rules=(_IMMUTABLE,),
)

_STRATEGY_NOW = whole({"spec": _strategy(_STAGE)})
_RUN_NOW = whole({"spec": _RUN, "status": anything()}, rules=(SHORT_NAME,))
_APPROVAL_NOW = whole({"spec": _APPROVAL, "status": anything()})


def _kinds(
    name: str, now: Schema, first: Schema, held: tuple[FieldPath, ...] = (), status: Schema | None = None
) -> tuple[Kind, ...]:
    """Return the cluster-scoped kind, which alone also has the version v1alpha1, and its namespaced counterpart."""
    return (
        *versions(_GROUP, f"Cluster{name}", {"v1": now, "v1alpha1": first, "v1beta1": now}, held=held, status=status),
        *versions(_GROUP, name, {"v1": now, "v1beta1": now}, namespaced=True, held=held, status=status),
    )


_FIRST_RUN_NOW = whole({"spec": _FIRST_RUN, "status": anything()}, rules=(_FIRST_NAME,))

KINDS = (
    *_kinds("StagedUpdateStrategy", _STRATEGY_NOW, whole({"spec": _strategy(_FIRST_STAGE)})),
    *_kinds("StagedUpdateRun", _RUN_NOW, _FIRST_RUN_NOW, tuple(("spec", field) for field in _RUN.fields)),
    *_kinds("ApprovalRequest", _APPROVAL_NOW, _APPROVAL_NOW, (("spec",),), struct({"conditions": CONDITIONS})),
)
