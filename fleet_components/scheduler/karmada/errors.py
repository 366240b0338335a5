"""How a run of the algorithm fails, and what becomes of it."""

from __future__ import annotations

from typing import ClassVar

from fleet_components.scheduler.framework import SchedulingError


class Failure(SchedulingError):
    """The run fails; the targets stay, and the scheduler tries again."""

    reason: ClassVar[str] = "SchedulerError"


class Unschedulable(Failure):
    """The members cannot take the replicas; the targets stay, and the scheduler tries again."""

    reason = "Unschedulable"


class NoClusterFit(Failure):
    """No member passes the filters; the targets are cleared, and nothing is tried until something changes."""

    reason = "NoClusterFit"
