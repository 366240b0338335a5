"""Karmada's graceful eviction: how long an object stays on a member that it was evicted from.

The same rules apply to all purge modes. The health on the members that are targets now counts, not the health on the
member that the object leaves. Source: Karmada 1.19, ``pkg/controllers/gracefuleviction/evictiontask.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import attrs

from fleet_components.model.memory import EvictionTask
from fleet_components.model.text import count

DEFAULT_TIMEOUT = timedelta(minutes=10)


@attrs.frozen
class Assessed:
    """Eviction tasks that continue, by member, and for every other member the reason why its task has ended."""

    kept: Mapping[str, EvictionTask]
    ended: Mapping[str, str]


@attrs.frozen
class Surroundings:
    """State that the eviction tasks of one object are assessed against.

    Attributes:
        targets: the members that the object is to run on.
        healthy: the members on which it is Healthy; Unknown does not count.
        observed: the scheduler has processed the current generation of the binding.
        as_of: the time of the assessment; None means that no task times out.
        timeout: the flag ``--graceful-eviction-timeout``, for tasks without a grace period of their own.
    """

    targets: Collection[str]
    healthy: Collection[str]
    observed: bool
    as_of: datetime | None
    timeout: timedelta = DEFAULT_TIMEOUT


def assess(tasks: Mapping[str, EvictionTask], around: Surroundings) -> Assessed:
    """Assess every task. A task without a creation time is new: it gets ``as_of`` as creation time and is kept."""
    kept: dict[str, EvictionTask] = {}
    ended: dict[str, str] = {}
    for cluster, task in tasks.items():
        if around.as_of and not task.created:
            kept[cluster] = attrs.evolve(task, created=around.as_of.isoformat())
        elif why := _why_ended(task, around):
            ended[cluster] = why
        else:
            kept[cluster] = task
    return Assessed(kept, ended)


def _why_ended(task: EvictionTask, around: Surroundings) -> str:
    """Return why the task has ended; empty if it continues."""
    if task.suppress_deletion is not None:
        return "" if task.suppress_deletion else "suppressDeletion is false"
    grace = around.timeout if task.grace_period_seconds is None else timedelta(seconds=task.grace_period_seconds)
    if around.as_of and task.created and around.as_of - datetime.fromisoformat(task.created) >= grace:
        return f"it took longer than {count(round(grace.total_seconds()), 'second')}"
    if around.observed and all(target in around.healthy for target in around.targets):
        return "all members that have the object now are healthy"
    return ""
