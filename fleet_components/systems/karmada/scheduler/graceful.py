"""Karmada's graceful eviction: how long an object stays on a member that it was evicted from.

The same rules apply to all purge modes. The health on the members that are targets now counts, not
the health on the member that the object leaves. Source: Karmada 1.19,
``pkg/controllers/gracefuleviction/evictiontask.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import attrs

from fleet_components.systems.karmada.model.memory import EvictionTask


@attrs.frozen
class Surroundings:
    """State that the eviction tasks of one object are assessed against.

    Attributes:
        targets: the members that the object is to run on.
        healthy: the members on which it is Healthy; Unknown does not count.
        observed: the scheduler has processed the current generation of the binding.
        as_of: the time of the assessment; None means that no task times out.
        timeout: the flag ``--graceful-eviction-timeout``, for tasks without a grace period of their
            own.
    """

    targets: Collection[str]
    healthy: Collection[str]
    observed: bool
    as_of: datetime | None
    timeout: timedelta


def unfinished(tasks: Mapping[str, EvictionTask], around: Surroundings) -> dict[str, EvictionTask]:
    """Return the tasks that continue. A task without a creation time is new: it gets ``as_of`` as
    creation time.
    """
    kept: dict[str, EvictionTask] = {}
    for cluster, task in tasks.items():
        if around.as_of and not task.created:
            kept[cluster] = attrs.evolve(task, created=around.as_of.isoformat())
        elif not _has_ended(task, around):
            kept[cluster] = task
    return kept


def grace_of(task: EvictionTask, timeout: timedelta) -> timedelta:
    """Return how long a task may take: its own grace period, or the timeout of the control
    plane.
    """
    return (
        timeout
        if task.grace_period_seconds is None
        else timedelta(seconds=task.grace_period_seconds)
    )


def _has_ended(task: EvictionTask, around: Surroundings) -> bool:
    # Purge mode Never works by this: the task stays until somebody sets the field to false, which
    # ends it at once.
    if task.suppress_deletion is not None:
        return not task.suppress_deletion
    grace = grace_of(task, around.timeout)
    if (
        around.as_of
        and task.created
        and around.as_of - datetime.fromisoformat(task.created) > grace
    ):
        return True
    # Before the scheduler has looked, targets and health are those of before the eviction.
    return around.observed and all(target in around.healthy for target in around.targets)
