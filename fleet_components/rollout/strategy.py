"""How a placement wants to be rolled out: all at once within budgets, or by an update run in stages."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal, get_args

import attrs

from fleet_components.model.placement import RollingUpdate
from fleet_components.model.selector import LabelSelector

IntOrPercent = int | str
RunState = Literal["Initialize", "Run", "Stop"]
When = Literal["before", "after"]


def scaled(value: IntOrPercent, total: int, *, round_up: bool) -> int:
    """A number of clusters from a number or a percentage of ``total``.

    Text that is no percentage counts as 0, as in the real controllers: the API takes ``"1"``, and they do not.
    """
    if isinstance(value, int):
        return value
    percent = value.removesuffix("%")
    if percent == value or not percent.isdecimal():
        return 0
    share = int(percent) * total
    return -(-share // 100) if round_up else share // 100


@attrs.frozen
class Budget:
    """How many clusters may be missing, and how many may be there too many, during a rolling update.

    Attributes:
        target: how many clusters the placement is meant to have.
        unavailable: how many of them may be unavailable.
        surge: how many more than ``target`` may hold the placement.
    """

    target: int
    unavailable: int
    surge: int

    @classmethod
    def of(cls, rolling: RollingUpdate, target: int) -> Budget:
        """The budget of a placement that is meant to have ``target`` clusters; percentages of it round up."""
        unavailable, surge = (
            scaled(value, target, round_up=True) for value in (rolling.max_unavailable, rolling.max_surge)
        )
        return cls(target, unavailable, surge)

    @property
    def needed(self) -> int:
        """How many clusters must stay available; negative when all may go."""
        return self.target - self.unavailable

    def disruptable(self, ready: int) -> int:
        """How many of the ``ready`` clusters may be updated or removed now."""
        return max(0, ready - self.needed)

    def addable(self, holding: int) -> int:
        """How many clusters may be added to the ``holding`` ones that have the placement."""
        return max(0, self.target + self.surge - holding)


@attrs.frozen
class Task:
    """A task before or after a stage.

    Attributes:
        type: ``Approval`` or ``TimedWait``.
        wait: how long a ``TimedWait`` lasts, from the moment that all clusters of the stage are done.
    """

    type: str
    wait: timedelta | None = None


@attrs.frozen
class Stage:
    """A stage of a staged update.

    Attributes:
        name: its name, part of the names of approvals.
        selector: the clusters in it, out of those that the placement picked; None selects none.
        sorting_label_key: label whose value, as an integer, orders the clusters; None orders by name.
        max_concurrency: how many clusters go together: a number, or a percentage of the stage's clusters
            rounded down; 1 at least, and by default.
        before: tasks to be done before it begins.
        after: tasks to be done before the next one begins.
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
        name: its name, part of the names of approvals.
        strategy: name of the strategy, as ``namespace/name``; the namespace is empty for cluster-scoped ones.
        stages: the strategy's stages, in order.
        state: ``Initialize``, ``Run`` or ``Stop``.
    """

    name: str
    strategy: str
    stages: tuple[Stage, ...]
    state: RunState = "Initialize"

    def approval(self, when: When, stage: Stage) -> str:
        """The name of the approval that a stage asks for; empty where it asks for none."""
        tasks = stage.before if when == "before" else stage.after
        return f"{self.name}-{when}-{stage.name}" if any(task.type == "Approval" for task in tasks) else ""

    @property
    def approvals(self) -> tuple[str, ...]:
        """The names of all approvals that it asks for."""
        asked = (self.approval(when, stage) for stage in self.stages for when in get_args(When))
        return tuple(filter(None, asked))


@attrs.frozen
class External:
    """Strategy type ``External``: nothing is rolled out but by an update run.

    Attributes:
        run: the update run in force; None when there is none.
    """

    run: UpdateRun | None = None
