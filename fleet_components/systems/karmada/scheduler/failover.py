"""Failover: which causes evict an object from its members, and where it is scheduled then.

Karmada evicts, schedules and ends evictions in separate controllers. Here they form one decision,
which is the state that those controllers converge to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

import attrs

from fleet_components.model.cluster import Taint
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.memory import EvictionTask, TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    DIRECTLY,
    GRACEFULLY,
    NEVER,
    ApplicationFailover,
    Failover,
    Placement,
    Toleration,
    Tolerations,
)
from fleet_components.systems.karmada.model.settings import KarmadaSettings
from fleet_components.systems.karmada.scheduler.graceful import Surroundings, unfinished
from fleet_components.systems.karmada.scheduler.status import TemplateDecision

_BARRED = EvictionTask(reason="Barred")
"""Placeholder for an eviction that would follow at once if the member were chosen."""


@attrs.frozen
class Cause:
    """Reason why an object has to leave a member.

    Attributes:
        words: the reason, for readers.
        task: the resulting eviction task.
    """

    words: str
    task: EvictionTask


@attrs.frozen
class Driven:
    """Members that an object has to leave.

    Attributes:
        now: the members to leave now, each with the cause.
        due: the members to leave later, each with the reason and the time in words.
    """

    now: Mapping[str, Cause] = attrs.field(factory=dict)
    due: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Circumstances:
    """Conditions that may evict an object from a member.

    Attributes:
        placement: the placement applied to the object.
        failover: the failover settings of its policy.
        unhealthy: the members on which the application is reported Unhealthy, with the time since
            when; None if it has been so for long enough.
        settings: settings of the control plane.
    """

    placement: Placement
    failover: Failover | None = None
    unhealthy: Mapping[str, datetime | None] = attrs.field(factory=dict)
    settings: KarmadaSettings = KarmadaSettings()


def driven_from(inventory: Inventory, around: Circumstances) -> Driven:
    """Return the members that an object has to leave, now or later."""
    now: dict[str, Cause] = {}
    due: dict[str, str] = {}
    for name, cause, ends, words in (*_tainted(inventory, around), *_failed(inventory, around)):
        if ends is None or (inventory.as_of and ends <= inventory.as_of):
            task = attrs.evolve(
                cause, created=inventory.as_of.isoformat() if inventory.as_of else ""
            )
            # The first cause counts: taints come before failures of the application.
            now.setdefault(name, Cause(words, task))
        else:
            due.setdefault(name, f"to be left at {in_utc(ends)}: {words}")
    return Driven(now, due)


def fail_over(
    schedule: Callable[[TemplateMemory], TemplateDecision],
    memory: TemplateMemory,
    driven: Driven,
    *,
    exact: bool,
) -> TemplateDecision:
    """Schedule an object, then again without the members that it has to leave.

    Args:
        schedule: the scheduler.
        memory: the past decision.
        driven: the members that the object has to leave.
        exact: whether such a member may be chosen nevertheless, to be left again, and whether an
            eviction continues when its cause is gone. If False, neither happens.
    """
    if not exact:
        caused = {name: task for name, task in memory.evictions.items() if name in driven.now}
        # ClusterEviction rejects members with a task, so a task keeps these from being chosen.
        barred = dict.fromkeys(sorted(driven.now.keys() - memory.clusters.keys()), _BARRED)
        memory = attrs.evolve(memory, evictions={**barred, **caused})
    decision = schedule(memory)
    # Ends, since every round adds tasks and ClusterEviction rejects members with a task.
    while leaving := [name for name in decision.memory.clusters if name in driven.now]:
        memory = decision.memory
        for name in leaving:
            memory = memory.evict(name, driven.now[name].task)
        decision = schedule(memory)
    return decision


def going_on(
    decision: TemplateDecision,
    emptied: Collection[str],
    standing: Collection[str],
    *,
    as_of: datetime | None,
    timeout: int,
) -> dict[str, EvictionTask]:
    """Return the evictions that have not ended after a successful update.

    Args:
        decision: the decision.
        emptied: the members that run the object now and are to be left.
        standing: the members that run it after the update.
        as_of: the time of the check; None means that evictions last until the object runs
            elsewhere.
        timeout: the maximum duration of an eviction, in seconds.
    """
    memory = decision.memory
    tasks = {name: task for name, task in sorted(memory.evictions.items()) if task != _BARRED}
    # Nothing has ended where nothing has changed, but what takes too long.
    observed = decision.status.observed and not decision.status.resting
    kept = unfinished(
        tasks, Surroundings(memory.clusters, standing, observed, as_of, timedelta(seconds=timeout))
    )
    # A copy that is to be purged keeps its task until it is gone, even if the task has ended.
    purged = {
        name: task
        for name, task in tasks.items()
        if task.purge_mode == DIRECTLY and name in emptied
    }
    return {**purged, **kept}


_Found = tuple[str, EvictionTask, datetime | None, str]
"""A member, the eviction due there, its time (None for now), and the reason."""


def _tainted(inventory: Inventory, around: Circumstances) -> Iterable[_Found]:
    if not around.settings.no_execute_eviction:
        return
    settings = EvictionSettings(enabled=True, purge_mode=around.settings.purge_mode)
    task = EvictionTask(
        purge_mode=settings.purge_mode_for(around.failover),
        reason="TaintUntolerated",
        producer="TaintManager",
    )
    for cluster in inventory.clusters:
        harmful = [taint for taint in cluster.taints if taint.effect == NO_EXECUTE]
        if harmful:
            eviction = evict(harmful, around.placement, inventory.as_of, settings)
            if eviction.due or eviction.now:
                does = (
                    f"tolerated until {in_utc(eviction.due)}" if eviction.due else "not tolerated"
                )
                yield cluster.name, task, eviction.due, f"{_named(harmful)} {does}"


def _failed(inventory: Inventory, around: Circumstances) -> Iterable[_Found]:
    application = around.failover.application if around.failover else None
    if application is None:
        return
    tolerated = timedelta(seconds=application.decision_conditions.toleration_seconds)
    task = _task_of_failure(application)
    for name, since in sorted(around.unhealthy.items()):
        if inventory.position(name) is not None:
            words = "the application is Unhealthy" + (f" since {in_utc(since)}" if since else "")
            yield name, task, since + tolerated if since else None, words


def _task_of_failure(application: ApplicationFailover) -> EvictionTask:
    return EvictionTask(
        purge_mode=application.purge_mode,
        reason="ApplicationFailure",
        producer="resource-binding-application-failover-controller",
        grace_period_seconds=application.grace_period_seconds
        if application.purge_mode == GRACEFULLY
        else None,
        suppress_deletion=True if application.purge_mode == NEVER else None,
    )


def _named(taints: Iterable[Taint]) -> str:
    shown = [f"{t.key}={t.value}:{t.effect}" if t.value else f"{t.key}:{t.effect}" for t in taints]
    return f"the taints {', '.join(shown)} are" if len(shown) > 1 else f"the taint {shown[0]} is"


def in_utc(time: datetime) -> str:
    """Return a time as Kubernetes writes it, for readers."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Karmada's taint manager: when a NoExecute taint evicts an object from a member.
#
# Every NoExecute taint must be tolerated. For each taint only the first matching toleration is
# used, and the used toleration that expires first decides. Source: Karmada 1.19,
# ``pkg/controllers/cluster/taint_manager.go``.


NO_EXECUTE = "NoExecute"
_MOST_SECONDS = 2**63 // 10**9
"""Go counts a duration in nanoseconds of 64 bits, some 292 years: a toleration beyond that does not
expire.
"""
NO_PLACEMENT = "the applied placement for ResourceBining can not be empty"
"""Karmada's error message, including its spelling mistake."""


@attrs.frozen
class EvictionSettings:
    """Settings of the control plane that affect evictions.

    Attributes:
        enabled: the flag ``--enable-no-execute-taint-eviction`` together with the feature gate
            ``Failover``; both are off by default.
        purge_mode: the flag ``--no-execute-taint-eviction-purge-mode``.
    """

    enabled: bool = False
    purge_mode: str = GRACEFULLY

    def purge_mode_for(self, failover: Failover | None) -> str:
        """Return how the copy on the old member is removed: the policy's purge mode, or else that
        of the flag.
        """
        if failover and failover.cluster:
            return failover.cluster.purge_mode or GRACEFULLY
        return DIRECTLY if self.purge_mode == DIRECTLY else GRACEFULLY


@attrs.frozen
class TaintEviction:
    """Result of the taint check for one object on one member.

    Attributes:
        now: whether the object has to leave at once.
        due: when it will have to leave if the taints stay; None for never, or if the taint's time
            is not recorded.
    """

    now: bool = False
    due: datetime | None = None


def evict(
    taints: Iterable[Taint],
    placement: Placement | None,
    as_of: datetime | None,
    settings: EvictionSettings = EvictionSettings(),
) -> TaintEviction:
    """Check one object on one member.

    Args:
        taints: the member's taints.
        placement: the placement that was last applied, which may differ from the policy's current
            one.
        as_of: the time of the check; None means that no toleration expires.
        settings: settings of the control plane.

    Raises:
        ValueError: no placement was ever applied.
    """
    if placement is None:
        raise ValueError(NO_PLACEMENT)
    harmful = [taint for taint in taints if taint.effect == NO_EXECUTE] if settings.enabled else []
    # The first in the list, even if a later one lasts longer (``GetMatchingTolerations`` in
    # pkg/util/helper/taint.go).
    used = [next(iter(placement.tolerations.of(taint)), None) for taint in harmful]
    tolerations = [toleration for toleration in used if toleration]
    if len(tolerations) < len(used):
        return TaintEviction(now=True)
    due = min(_ends(harmful, placement.tolerations, frozenset(tolerations)), default=None)
    return TaintEviction(due is not None and as_of is not None and due <= as_of, due)


def _ends(
    taints: Iterable[Taint], tolerations: Tolerations, used: frozenset[Toleration]
) -> Iterator[datetime]:
    """Yield when each used toleration expires, counted from every taint that it tolerates."""
    # Every taint that it matches, also one for which another toleration was used: Karmada tries
    # each with all.
    for taint in taints:
        for toleration in used.intersection(tolerations.of(taint)):
            seconds = toleration.toleration_seconds
            # Bounded at both ends, since datetime covers fewer years than 64 bits of seconds.
            if taint.time_added and seconds is not None and seconds <= _MOST_SECONDS:
                yield taint.time_added + timedelta(seconds=max(seconds, -_MOST_SECONDS))
