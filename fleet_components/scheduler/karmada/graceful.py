"""How long an object stays on a member that it is leaving: Karmada's graceful eviction.

Source: Karmada facts. The same rules hold for all purge modes; the health of the members that have the object now
counts, not that of the one that it leaves.
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
    """The tasks that go on, by member, and why each other one has ended."""

    kept: Mapping[str, EvictionTask]
    ended: Mapping[str, str]


@attrs.frozen
class Surroundings:
    """What the tasks of an object are judged by.

    Attributes:
        targets: the members that the object is to be on.
        healthy: the members on which it is Healthy; Unknown is not.
        observed: the scheduler has seen the binding as it stands.
        as_of: the time of judging; None means that no task times out.
        timeout: the flag ``--graceful-eviction-timeout``, for tasks without a grace period of their own.
    """

    targets: Collection[str]
    healthy: Collection[str]
    observed: bool
    as_of: datetime | None
    timeout: timedelta = DEFAULT_TIMEOUT


def assess(tasks: Mapping[str, EvictionTask], around: Surroundings) -> Assessed:
    """Judge every task. One without a creation time is new: it is stamped and kept."""
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
    """Why the task has ended; empty when it goes on."""
    if task.suppress_deletion is not None:
        return "" if task.suppress_deletion else "suppressDeletion is false"
    grace = around.timeout if task.grace_period_seconds is None else timedelta(seconds=task.grace_period_seconds)
    if around.as_of and task.created and around.as_of - datetime.fromisoformat(task.created) >= grace:
        return f"it took longer than {count(round(grace.total_seconds()), 'second')}"
    if around.observed and all(target in around.healthy for target in around.targets):
        return "all members that have the object now are healthy"
    return ""
