"""Stages of an update run: the clusters of each stage and their order.

Source of the rules and of the texts: KubeFleet v0.3.1,
``pkg/controllers/updaterun/initialization.go``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleet_components.model.digits import integer
from fleet_components.rollout.rollout import Labels, Wanted
from fleet_components.systems.kubefleet.rollout.strategy import (
    RolloutStage,
    Task,
    UpdateRun,
    scaled,
)

_INTEGER = re.compile(r"[+-]?[0-9]+")
"""Form of the numbers that Go's ``strconv.Atoi`` reads."""
_SHOWN = 10
ABORTED = "cannot continue the updateRun: "
_VALIDATING = "failed to validate the updateRun: "
_USER_ERROR = "failed to process the request due to a client error: "


class InvalidRunError(Exception):
    """Error for an update run that cannot begin; its text is the message of the ``Initialized``
    condition.
    """

    def __init__(self, text: str, *, user_error: bool = True) -> None:
        super().__init__(ABORTED + _VALIDATING + (_USER_ERROR if user_error else "") + text)


def arrange(run: UpdateRun, wanted: Wanted) -> list[tuple[str, ...]]:
    """Return the clusters of each stage, in the order in which they are updated.

    Raises:
        InvalidRunError: the run does not begin, and never will.
    """
    if wanted.unscheduled:
        # KubeFleet does not wrap this as a user's error, so its text lacks the prefix
        # (``determinePolicySnapshot``).
        raise InvalidRunError(
            f"policy snapshot `{wanted.unscheduled}` not fully scheduled yet", user_error=False
        )
    arranged: list[tuple[str, ...]] = []
    placed: set[str] = set()
    for stage in run.stages:
        _check_tasks(run, stage)
        clusters = _select(run, stage, wanted)
        _check_clusters(stage, clusters, placed, wanted)
        placed.update(clusters)
        arranged.append(_ordered(stage, clusters, wanted))
    _check_all_placed(sorted(set(wanted.ranks) - placed))
    return arranged


def in_parts(stage: RolloutStage, clusters: Sequence[str]) -> list[Sequence[str]]:
    """Split the clusters of a stage into the parts that are updated together."""
    # Down, unlike the budgets of a rolling update (``calculateMaxConcurrencyValue`` in
    # execution.go).
    size = max(1, scaled(stage.max_concurrency, len(clusters), round_up=False))
    return [clusters[i : i + size] for i in range(0, len(clusters), size)]


def _labels(wanted: Wanted, cluster: str) -> Labels:
    return wanted.labels.get(cluster, {})


def _select(run: UpdateRun, stage: RolloutStage, wanted: Wanted) -> list[str]:
    selector = stage.selector
    # Left out and empty are opposites: ``LabelSelectorAsSelector`` lets nil match nothing and {}
    # match everything.
    if selector is None:
        return []
    if selector.error:
        raise InvalidRunError(_wrong(run, stage, "stage label selector is", selector.error))
    return [c for c in sorted(wanted.ranks) if selector.matches(_labels(wanted, c))]


def _ordered(stage: RolloutStage, clusters: list[str], wanted: Wanted) -> tuple[str, ...]:
    key = stage.sorting_label_key
    if key is None:
        return tuple(clusters)
    # Present and a number: `_check_clusters` refuses all others before.
    return tuple(sorted(clusters, key=lambda c: (integer(_labels(wanted, c)[key]), c)))


def _check_clusters(
    stage: RolloutStage, clusters: list[str], placed: set[str], wanted: Wanted
) -> None:
    for cluster in clusters:
        if cluster in placed:
            raise InvalidRunError(f"cluster `{cluster}` appears in more than one stages")
        if stage.sorting_label_key is not None:
            _check_integer(stage.sorting_label_key, cluster, wanted)


def _check_integer(key: str, cluster: str, wanted: Wanted) -> None:
    value = _labels(wanted, cluster).get(key, "")
    # A missing label fails as well, although the comment in the API promises the order of names for
    # it: KubeFleet parses the empty text (``computeRunStageStatus``).
    if not _INTEGER.fullmatch(value):
        fault = "invalid syntax"
    elif not -(2**63) <= integer(value) < 2**63:
        fault = "value out of range"
    else:
        return
    parsing = f'strconv.Atoi: parsing "{value}": {fault}'
    raise InvalidRunError(
        f"the sorting label `{key}:{value}` on cluster `{cluster}` is not valid: {parsing}"
    )


def _check_all_placed(missing: list[str]) -> None:
    if missing:
        shown = ", ".join(missing[:_SHOWN])
        raise InvalidRunError(
            f"some clusters are not placed in any stage, total {len(missing)}, showing up to"
            f" {_SHOWN}: {shown}"
        )


def _check_tasks(run: UpdateRun, stage: RolloutStage) -> None:
    fault = _fault_before(stage.before)
    if fault:
        raise InvalidRunError(_wrong(run, stage, "before stage tasks are", fault))
    fault = _fault_after(stage.after)
    if fault:
        raise InvalidRunError(_wrong(run, stage, "after stage tasks are", fault))


def _wrong(run: UpdateRun, stage: RolloutStage, what: str, fault: str) -> str:
    return (
        f"the {what} invalid, updateStrategy: `{run.strategy}`, stage: {stage.name}, err: {fault}"
    )


def _fault_before(tasks: Sequence[Task]) -> str:
    if len(tasks) > 1:
        return "beforeStageTasks can have at most one task"
    for i, task in enumerate(tasks):
        if task.type != "Approval":
            return (
                f"task {i} of type {task.type} is not allowed in beforeStageTasks, allowed type:"
                " Approval"
            )
        if task.wait is not None:
            return f"task {i} of type Approval cannot have wait duration set"
    return ""


def _fault_after(tasks: Sequence[Task]) -> str:
    if len(tasks) == 2 and tasks[0].type == tasks[1].type:
        return f"afterStageTasks cannot have two tasks of the same type: {tasks[0].type}"
    for i, task in enumerate(tasks):
        if task.type == "TimedWait" and task.wait is None:
            return f"task {i} of type TimedWait has wait duration set to nil"
        if task.type == "TimedWait" and task.wait is not None and task.wait.total_seconds() <= 0:
            return f"task {i} of type TimedWait has wait duration <= 0"
    return ""
