"""Rollout strategies of a placement: a rolling update within budgets, or an update run in
stages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import attrs

from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.model.release import Release
from fleet_components.model.selector import LabelSelector
from fleet_components.systems.kubefleet.model.placement import (
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
    RollingUpdate,
)
from fleet_components.systems.kubefleet.model.release import RELEASE

_UNIT_SECONDS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
# `ms` comes before `m`: of several alternatives the first that matches counts.
_NUMBER, _UNIT = r"[0-9]+\.?[0-9]*|\.[0-9]+", "ms|us|µs|ns|h|m|s"
_DURATION_PART = re.compile(f"({_NUMBER})({_UNIT})")
_DURATION = re.compile(f"0|(({_NUMBER})({_UNIT}))+")


NO_RUN = "the strategy type is External, and no update run rolls it out"
IntOrPercent = int | str
RunState = Literal["Initialize", "Run", "Stop"]
When = Literal["before", "after"]


def scaled(value: IntOrPercent, total: int, *, round_up: bool) -> int:
    """Return a number of clusters, given as a number or as a percentage of ``total``.

    Text that is not a percentage counts as 0, as in the real controllers: the API accepts ``"1"``,
    the controllers do not.
    """
    if isinstance(value, int):
        return value
    percent = value.removesuffix("%")
    if percent == value or not percent.isdecimal():
        return 0
    share = int(percent) * total
    # Twice negated, a division by `//` rounds up, without the errors of floats.
    return -(-share // 100) if round_up else share // 100


@attrs.frozen
class RolloutBudget:
    """Limits of a rolling update for unavailable and for additional clusters.

    Attributes:
        target: the intended number of clusters.
        unavailable: how many of them may be unavailable.
        surge: how many clusters beyond ``target`` may hold the placement.
    """

    target: int
    unavailable: int
    surge: int

    @classmethod
    def of(cls, rolling: RollingUpdate, target: int) -> RolloutBudget:
        """Return the budget of a placement with ``target`` intended clusters; percentages are
        rounded up.
        """
        # KubeFleet rounds both percentages up, unlike Kubernetes Deployments, which round
        # maxUnavailable down.
        unavailable, surge = (
            scaled(value, target, round_up=True)
            for value in (rolling.max_unavailable, rolling.max_surge)
        )
        return cls(target, unavailable, surge)

    @property
    def needed(self) -> int:
        """Number of clusters that must stay available; zero or negative if all may be
        unavailable.
        """
        return self.target - self.unavailable

    def disruptable(self, ready: int) -> int:
        """Return how many of the ``ready`` clusters may be updated or removed now."""
        return max(0, ready - self.needed)

    def addable(self, holding: int) -> int:
        """Return how many clusters may be added to the ``holding`` ones that have the placement."""
        return max(0, self.target + self.surge - holding)


@attrs.frozen
class Task:
    """Task before or after a stage.

    Attributes:
        type: ``Approval`` or ``TimedWait``.
        wait: the duration of a ``TimedWait``, from the moment when all clusters of the stage are
            done.
    """

    type: str
    wait: timedelta | None = None


@attrs.frozen
class RolloutStage:
    """Stage of a staged update.

    Attributes:
        name: the name, part of the names of approvals.
        selector: selects the clusters of the stage among the picked ones; None selects none.
        sorting_label_key: label whose value, as an integer, orders the clusters; None orders by
            name.
        max_concurrency: how many clusters are updated together: a number, or a percentage of the
            stage's clusters rounded down; at least 1, which is the default.
        before: tasks that must be done before the stage begins.
        after: tasks that must be done before the next stage begins.
    """

    name: str
    selector: LabelSelector | None = None
    sorting_label_key: str | None = None
    max_concurrency: IntOrPercent = 1
    before: tuple[Task, ...] = ()
    after: tuple[Task, ...] = ()


@attrs.frozen
class UpdateRun:
    """A ``ClusterStagedUpdateRun`` or ``StagedUpdateRun`` with the strategy that it follows.

    Attributes:
        name: the name, part of the names of approvals.
        strategy: name of the strategy, as ``namespace/name``; the namespace is empty for
            cluster-scoped ones.
        stages: the strategy's stages, in order.
        state: ``Initialize``, ``Run`` or ``Stop``.
        index: the revision that it rolls out, as written in ``resourceSnapshotIndex``; empty for
            the newest.
        namespace: its namespace; empty for a ClusterStagedUpdateRun.
        had: once it has begun, the clusters that ran its revision before.
        since: the time when it first ran; None if that is unknown.
    """

    name: str
    strategy: str
    stages: tuple[RolloutStage, ...]
    state: RunState = "Initialize"
    index: str = ""
    namespace: str = ""
    had: tuple[str, ...] = ()
    since: datetime | None = None

    @property
    def spec(self) -> str:
        """Fields that no API server lets anybody change: a run with others is another one of the
        same name.
        """
        return f"{self.strategy}#{self.index}"

    def approval(self, when: When, stage: RolloutStage) -> str:
        """Return the name of the approval that a stage requires; empty if it requires none.

        It is ``RUN-before-STAGE`` or ``RUN-after-STAGE``, with the run's namespace and a slash
        before it.
        """
        tasks = stage.before if when == "before" else stage.after
        place = f"{self.namespace}/" if self.namespace else ""
        return (
            f"{place}{self.name}-{when}-{stage.name}"
            if any(task.type == "Approval" for task in tasks)
            else ""
        )

    @property
    def approvals(self) -> tuple[str, ...]:
        """Names of all approvals that the run requires."""
        asked = (self.approval(when, stage) for stage in self.stages for when in get_args(When))
        return tuple(filter(None, asked))


@attrs.frozen
class External:
    """Strategy type ``External``: only an update run rolls anything out.

    Attributes:
        run: the update run in force; None if there is none.
        runs: the update runs of the placement, by name.
        held: why nothing moves without a run in force.
        release: the release of KubeFleet, which says what becomes of stages without clusters.
    """

    run: UpdateRun | None = None
    runs: tuple[UpdateRun, ...] = ()
    held: str = NO_RUN
    release: Release = RELEASE


def target_of(policy: PlacementPolicy | None) -> int | None:
    """Return how many clusters a placement asks for; None for PickAll, which takes all that fit."""
    if policy and policy.placement_type == PICK_N:
        return policy.number_of_clusters
    return len(policy.cluster_names) if policy and policy.placement_type == PICK_FIXED else None


def read_update_run(run: Manifest, strategy: Manifest | None) -> UpdateRun:
    """Build an update run from its manifest and that of the strategy it names; None if that is not
    there any more.
    """
    return UpdateRun(
        run.name,
        f"{run.namespace}/{run.data['spec'].get('stagedRolloutStrategyName', '')}",
        tuple(_stage(stage) for stage in strategy.data["spec"].get("stages") or ())
        if strategy
        else (),
        run.data["spec"].get("state") or "Initialize",
        str(run.data["spec"].get("resourceSnapshotIndex") or ""),
        run.namespace,
    )


def _stage(stage: Mapping[str, Any]) -> RolloutStage:
    selector = stage.get("labelSelector")
    return RolloutStage(
        stage["name"],
        None if selector is None else decode(LabelSelector, selector),
        stage.get("sortingLabelKey"),
        stage.get("maxConcurrency", 1),
        _tasks(stage.get("beforeStageTasks")),
        _tasks(stage.get("afterStageTasks")),
    )


def _tasks(tasks: Sequence[Mapping[str, Any]] | None) -> tuple[Task, ...]:
    return tuple(Task(task["type"], _duration(task.get("waitTime"))) for task in tasks or ())


def in_reach(text: str) -> bool:
    """Return whether Go reads a duration, and can hold it: nanoseconds in 64 bits, some 292
    years.
    """
    return _DURATION.fullmatch(text) is not None and _seconds(text) * 10**9 < 2**63


def _seconds(text: str) -> float:
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(text))


def _duration(text: str | None) -> timedelta | None:
    return None if text is None else timedelta(seconds=_seconds(text))
