"""Rollout what is sent to the members: everything in one wave, as in Karmada, except to members
that have to wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import cached_property

import attrs

from fleet_components.model.message import NEXT_UPDATE, Phrase
from fleet_components.rollout.rollout import Change, Done, Entry, Gate, Rollout, Wave
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.model.policy import DIRECTLY, Suspension
from fleet_components.systems.karmada.plan.content import Share
from fleet_components.systems.karmada.plan.record import TemplateState
from fleet_components.systems.karmada.scheduler.failover import in_utc
from fleet_components.systems.karmada.scheduler.graceful import grace_of

_NOTHING = Done(None)
_SUSPENDED = "dispatching is suspended by the policy"
_LEAVING = "its copy stays until the object stands elsewhere"
_NEVER_PURGED = "purge mode Never: its copy stays"
_PURGED_FIRST = Phrase(
    "purge mode Directly: the copy on {clusters} goes first, {update} sends the rest",
    update=NEXT_UPDATE,
)


@attrs.frozen(slots=False)
class Dispatch:
    """Delivery of one template to the members.

    Attributes:
        state: what is remembered of the template, with its targets.
        done: what really runs, by member.
        members: names of the fleet's members.
        timeout: the longest time that an eviction without a grace period may take; None if none
            takes too long.
        known: the evictions from before this plan.
    """

    state: TemplateState
    done: Mapping[str, Done]
    members: Collection[str]
    timeout: timedelta | None = None
    known: Mapping[str, EvictionTask] = attrs.field(factory=dict)

    @cached_property
    def suspension(self) -> Suspension:
        """The policy's ``suspension``."""
        return self.state.suspension

    @cached_property
    def running(self) -> set[str]:
        """Reachable members that run the template."""
        running = {
            cluster
            for cluster, done in self.done.items()
            if done.revision is not None and not done.lost
        }
        return running.intersection(self.members)

    @cached_property
    def standing(self) -> set[str]:
        """Members that run the template after this update has succeeded."""
        reached = {
            cluster for cluster in self.state.targets if not self.suspension.suspends(cluster)
        }
        return self.running | reached

    @cached_property
    def emptied(self) -> set[str]:
        """Members that run the template without being among its targets."""
        return self.running - set(self.state.targets)

    def plan(
        self,
        shares: Mapping[str, Share],
        before: Mapping[str, Share],
        why: Mapping[str, str],
        failing: Mapping[str, str] = {},
        waits: Mapping[str, Gate] = {},
    ) -> Rollout:
        """Return which member gets what. Removals come last, when everything else stands.

        Args:
            shares: what each target is to get.
            before: what each member was sent by the last update, whether it succeeded or not.
            why: why members have to be left.
            failing: why targets keep what they run: an override fails there.
            waits: targets that wait for something else to come there, each with the gate.
        """
        entries = {
            cluster: self._entry(cluster, share, before.get(cluster))
            for cluster, share in shares.items()
        }
        here = {cluster: self.done.get(cluster, _NOTHING) for cluster in (*waits, *failing)}
        for cluster, gate in waits.items():
            entries[cluster] = _held(here[cluster], gate.why, gate)
        # Last: a failing override counts even if the member also waits for another object.
        entries |= {cluster: _held(here[cluster], words) for cluster, words in failing.items()}
        kept = [cluster for cluster in self.state.left_later if cluster in self.emptied]
        entries |= {cluster: self._kept(cluster, why.get(cluster, "")) for cluster in kept}
        runs = {cluster for cluster, done in self.done.items() if done.revision is not None}
        # An update that was interrupted may have left objects where nothing is known to run.
        removals = tuple(sorted((runs | set(before)) - set(entries)))
        entries |= {
            cluster: Entry(Change.REMOVE, None, why.get(cluster, "")) for cluster in removals
        }
        moving = tuple(
            c for c, entry in sorted(entries.items()) if entry.change in (Change.ADD, Change.UPDATE)
        )
        return Rollout(
            dict(sorted(entries.items())), (Wave(1, moving),) if moving else (), removals
        )

    def _entry(self, cluster: str, share: Share, sent: Share | None) -> Entry:
        done = self.done.get(cluster, _NOTHING)
        if self.suspension.suspends(cluster):
            return _held(done, _SUSPENDED)
        # If it was sent something else than what runs, the last update stopped there.
        if done.revision is not None and share.stands(done) and (sent is None or sent.stands(done)):
            return Entry(Change.KEEP, share)
        # Source: karmada-io/karmada 1.19, pkg/controllers/binding/binding_controller.go,
        # checkDirectPurgeOrphanWorks.
        purged = self._purged_first()
        if purged:
            return _held(done, _PURGED_FIRST.filled(clusters=", ".join(purged)))
        return Entry(Change.ADD if done.revision is None else Change.UPDATE, share)

    def _kept(self, cluster: str, why: str) -> Entry:
        # Present: `left_later` lists members with an eviction task.
        task = self.state.schedule.evictions[cluster]
        stays = (
            _NEVER_PURGED if task.suppress_deletion else f"{_LEAVING}{self._at_the_latest(cluster)}"
        )
        return _held(self.done[cluster], f"{why or f'evicted for {task.reason}'}; {stays}")

    def _at_the_latest(self, cluster: str) -> str:
        """Return when an eviction ends even if the object stands nowhere else; empty if it does
        not.
        """
        if self.timeout is None:
            return ""
        # A task from before this plan has its time already; one of this plan begins with the
        # update.
        task = self.known.get(cluster, self.state.schedule.evictions[cluster])
        grace = grace_of(task, self.timeout)
        if cluster in self.known and task.created:
            return (
                f", or until {in_utc(datetime.fromisoformat(task.created) + grace)} at the latest"
            )
        return f", or for {grace.total_seconds():.0f} s at the latest"

    def _purged_first(self) -> list[str]:
        tasks = self.state.schedule.evictions
        return [
            cluster
            for cluster, task in tasks.items()
            if task.purge_mode == DIRECTLY and cluster in self.emptied
        ]


def _held(done: Done, why: Phrase | str, gate: Gate | None = None) -> Entry:
    """Return an entry that leaves a member as it is; a member without the template gets nothing."""
    if done.revision is None:
        return Entry(Change.HELD, None, why, gate)
    return Entry(Change.HELD, Share.of(done), why, gate)
