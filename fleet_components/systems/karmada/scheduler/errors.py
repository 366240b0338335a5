"""Failures of the scheduling algorithm, which differ in what happens to the targets and in when it is retried."""

from __future__ import annotations

from typing import ClassVar

from fleet_components.scheduler.framework import SchedulingError


class Failure(SchedulingError):
    """Failure of a run; the targets stay, and the scheduler retries."""

    reason: ClassVar[str] = "SchedulerError"


class Unschedulable(Failure):
    """Failure because the members cannot take the replicas; the targets stay, and the scheduler retries."""

    reason = "Unschedulable"


class NoClusterFit(Failure):
    """Failure because no member passes the filters; the targets are cleared, and only a change leads to a retry."""

    reason = "NoClusterFit"
