"""Decide one placement: which members it picks, what each is to run, and who moves now, in which
wave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from fleet_components.model.decision import Decision, Status
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import MEMORY, Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.again import written_where_interrupted
from fleet_components.plan.overriding import InForce, in_force, rules_in_use
from fleet_components.plan.record import LACKS_HINT, Objects, digest
from fleet_components.plan.subject import Outcome
from fleet_components.rollout.rollout import Change, Entry, Placed, Rollout, Wanted
from fleet_components.rollout.situation import stopped_at
from fleet_components.systems.kubefleet.model.eviction import EXECUTED
from fleet_components.systems.kubefleet.model.memory import UNSCHEDULED, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.plan.evictions import (
    EvictionCheck,
    carried_out,
    guards_only_evictions,
    held_clusters,
    outcomes_of,
)
from fleet_components.systems.kubefleet.plan.overrides import PlacementOverrides
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.update_runs import (
    RunMemory,
    RunsInForce,
    runs_in_force,
)
from fleet_components.systems.kubefleet.rollout.planner import plan_rollout
from fleet_components.systems.kubefleet.rollout.run_record import ScheduledPlacement
from fleet_components.systems.kubefleet.rollout.strategy import External, target_of

if TYPE_CHECKING:
    from fleet_components.systems.kubefleet.plan.subject import PlacementSubject

_NONE = -1
"""Stands for no override rules where a number is kept."""
_COMPARED = (
    "compared only (ReportDiff): nothing is written; previews and updates ask the members for what"
    " differs"
)
MOVED_STATUS_HINT = "choose the other namespace with a placement of another name"
_FAILED_HINT = "the whole scheduling cycle fails on it, here as on a hub, and nothing is decided"


@attrs.frozen(kw_only=True)
class PlacementOutcome(Outcome[PlacementRecord]):
    """Outcome of deciding one placement.

    Attributes:
        decision: the scheduler's decision, with the status that the real one would show.
        evictions: the evictions that were checked, each with what comes of it in words.
        notes: sentences about evictions, budgets and update runs.
        runs: its update runs; None if it rolls out by itself.
        untaken: the note that what is selected has changed and no update run takes it; empty if one
            does.
    """

    decision: Decision[PlacementMemory]
    runs: RunsInForce | None = None
    evictions: tuple[tuple[EvictionCheck, str], ...] = ()
    notes: tuple[str, ...] = ()
    untaken: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The overrides that fail, the evictions that are not carried out, and the update run that
        has failed.
        """
        not_executed = (
            words for check, words in self.evictions if check.handled.result != EXECUTED
        )
        failed = [self.runs.failure] if self.runs and self.runs.failure else []
        return (*super().warnings, *not_executed, *failed)

    @property
    def unscheduled(self) -> str:
        """Message of the ``Scheduled`` condition; empty if the condition is True."""
        condition = self.decision.status.placement_condition("")
        return condition.message if condition.status != "True" else ""

    def scores(self, cluster: str) -> Mapping[str, int] | None:
        """Return the scores for affinity and topology spread; None if the member was not scored."""
        binding = self.decision.memory.bindings.get(cluster)
        if binding is None or binding.affinity_score is None:
            return None
        return {
            "affinity": binding.affinity_score,
            "topologySpread": binding.topology_spread_score or 0,
        }

    def instead(self, entries: Mapping[str, Entry], before: PlacementRecord) -> PlacementOutcome:
        """Return the outcome with other entries; what is remembered of bindings and update runs
        follows.
        """
        found = super().instead(entries, before)
        held = (
            *found.rollout.held_removals,
            *(c for c, entry in entries.items() if entry.change is Change.HELD),
        )
        record = attrs.evolve(
            found.record,
            memory=self.decision.memory.settled(held),
            runs=self.runs.remembered(found.rollout) if self.runs else RunMemory(),
        )
        return attrs.evolve(found, record=record)


def place(request: PlacementSubject, before: PlacementRecord) -> PlacementOutcome:
    """Decide one placement.

    Args:
        request: what the decision depends on.
        before: the record of the last decision; the default record for a new placement.

    Raises:
        FleetError: the scheduling cycle fails, an update run cannot begin, the namespace of the
            status changes, or the state hides what is to be rolled out.
    """
    decision, checks = _scheduled(request, before)
    problems = [
        *_failed(request, decision),
        *_faults(request, before),
        *_moved_status(request, before),
    ]
    if problems:
        raise FleetError(problems)
    done, stopped = request.done, stopped_at(request.done, before.decisions)
    wanted = _wanted(request, decision, before.next_revision(request.content))
    runs = _runs(request, before, decision, wanted, stopped)
    # Overrides come after the revision, since they are evaluated on its content.
    wanted, found = _overridden(request, before, runs, _in_revision(wanted, runs, before))
    if runs:
        runs, found = _taken(request, before, runs, wanted, found)
    rollout = plan_rollout(
        done,
        wanted,
        _under(request.strategy, runs),
        before.decisions,
        gates=runs.gates(request.gates) if runs else request.gates,
        # A report is ready once it is made.
        untrackable=request.untrackable and not request.reports,
    )
    live = runs.live.values() if runs else ()
    newest, later = before.next_revision(request.content), {run.revision for run in live}
    record = PlacementRecord(
        wanted.revision,
        rollout.placed,
        # As after a successful update, so that the next run, which changes nothing, remembers the
        # same.
        decision.memory.settled(rollout.held_removals),
        *before.in_use(
            wanted.revision,
            # What no update run has taken is no revision yet.
            {newest: request.content} if newest in {wanted.revision, *later} else {},
            rollout.placed,
            done.values(),
            request.history,
            later,
        ),
        *rules_in_use(
            before, found, rollout.placed, done.values(), _numbers(run.overrides for run in live)
        ),
        secret=before.secret,
        runs=runs.remembered(rollout) if runs else RunMemory(),
    )
    _check_known(record, rollout)
    if not request.reports:
        rollout = written_where_interrupted(rollout, stopped, record, before, request)
    record = attrs.evolve(record, decisions=rollout.placed)
    outcomes = tuple(outcomes_of(checks, request.policy, request.budget, decision.memory, rollout))
    untaken = _untaken(request, record, runs)
    return PlacementOutcome(
        record=record,
        rollout=rollout,
        goal=_goal(record, rollout, wanted, runs),
        failing=found.failing,
        runs=runs,
        decision=decision,
        evictions=outcomes,
        notes=(
            *_notes(request, before, outcomes, rollout),
            *(runs.notes if runs else ()),
            *filter(None, [untaken]),
        ),
        untaken=untaken,
    )


def picked(request: PlacementSubject, before: PlacementRecord) -> frozenset[str]:
    """Return the members that :func:`place` picks.

    Raises:
        FleetError: the scheduling cycle fails.
    """
    decision, _ = _scheduled(request, before)
    problems = _failed(request, decision)
    if problems:
        raise FleetError(problems)
    return frozenset(
        name for name, binding in decision.memory.bindings.items() if binding.state != UNSCHEDULED
    )


def _scheduled(
    request: PlacementSubject, before: PlacementRecord
) -> tuple[Decision[PlacementMemory], Collection[EvictionCheck]]:
    """Return the scheduler's decision once the evictions are carried out, and their checks."""
    memory, checks = _evicted(request, before)
    return request.schedule(memory), checks


def _failed(request: PlacementSubject, decision: Decision[PlacementMemory]) -> list[Problem]:
    return (
        [
            Problem(
                Message("scheduling-fails", "{reason}", reason=_plain(decision.error)),
                subject=request.key,
                hint=_FAILED_HINT,
            )
        ]
        if decision.error
        else []
    )


def _goal(
    record: PlacementRecord, rollout: Rollout, wanted: Wanted, runs: RunsInForce | None
) -> PlacementRecord:
    """Return the record in which held members have what is wanted of them: nothing, where they are
    to be left.

    Members that no update run reaches yet keep what they have, as a later run may bring something
    else.
    """
    held = {*rollout.held, *rollout.held_removals}
    if runs:
        held &= runs.record.concerned if runs.record else set()
    if not held:
        return record
    leaving = held.intersection(rollout.held_removals)
    decisions = {
        cluster: sent for cluster, sent in rollout.placed.items() if cluster not in leaving
    }
    # A member on which an override fails has no version that it could reach.
    for cluster in (held & wanted.ranks.keys()) - leaving - wanted.blocked.keys():
        revision, overrides = wanted.version(cluster)
        decisions[cluster] = Placed(wanted.ranks[cluster], 1, revision, overrides=overrides)
    return attrs.evolve(record, decisions=decisions)


def _evicted(
    request: PlacementSubject, before: PlacementRecord
) -> tuple[PlacementMemory, Collection[EvictionCheck]]:
    """Return what the scheduler remembers once the evictions are carried out, and their checks."""
    # The record is as after a successful update: where one failed, members that it did not reach
    # have nothing.
    standing = {name for name, here in request.done.items() if here.revision is not None}
    delivered = before.memory.delivered(standing)
    if not request.evictions:
        # Even without evictions, to forget those that are no longer in the source.
        return carried_out((), request.policy, request.budget, delivered, ())
    failing = _in_force(
        request, before, sorted(standing), (before.revision, request.content)
    ).failing
    held = held_clusters(before.memory, request.done, before.decisions, request.inventory, failing)
    return carried_out(request.evictions, request.policy, request.budget, delivered, held)


def _wanted(
    request: PlacementSubject, decision: Decision[PlacementMemory], revision: int
) -> Wanted:
    """Return the picked members, which are to run a revision."""
    live = {
        name: binding
        for name, binding in decision.memory.bindings.items()
        if binding.state != UNSCHEDULED
    }
    clusters = request.inventory.clusters
    positions = {name: request.inventory.position(name) for name in live}
    return Wanted(
        ranks={name: binding.rank for name, binding in live.items()},
        revision=revision,
        target=target_of(request.policy),
        labels={name: clusters[at].labels for name, at in positions.items() if at is not None},
        unscheduled=_unscheduled(decision.status, request.key, decision.memory.snapshot),
    )


def _faults(request: PlacementSubject, before: PlacementRecord) -> Iterator[Problem]:
    """Yield why update runs cannot begin; one that has begun needs its strategy no more."""
    for run in request.strategy.runs if isinstance(request.strategy, External) else ():
        if run.name in request.run_faults and run.name not in before.runs.records:
            yield request.run_faults[run.name]


def _moved_status(request: PlacementSubject, before: PlacementRecord) -> Iterator[Problem]:
    """Yield a problem if the namespace in which the status can be read would become another one."""
    namespace = moves_from(request, before)
    if namespace:
        yield Problem(
            Message(
                "other-status-namespace",
                "chooses the namespace {reports_in} instead of {namespace}, which"
                " statusReportingScope NamespaceAccessible does not allow",
                reports_in=request.reports_in,
                namespace=namespace,
            ),
            ("spec", "resourceSelectors"),
            MOVED_STATUS_HINT,
            subject=request.key,
        )


def moves_from(request: PlacementSubject, before: PlacementRecord) -> str:
    """Return the namespace in which the status has been readable if it would be another one now;
    empty if it stays.

    Source: KubeFleet v0.3.1, validateNamespaceSelectorConsistency in
    pkg/controllers/placement/namespace_status_sync.go.
    """
    content = before.contents.get(before.revision, ())
    namespaces = [
        Manifest(data).name
        for data in content
        if (data["apiVersion"], data["kind"]) == ("v1", "Namespace")
    ]
    moves = request.reports_in and namespaces and request.reports_in not in namespaces
    return namespaces[0] if moves else ""


def _under(
    strategy: RollingUpdate | External, runs: RunsInForce | None
) -> RollingUpdate | External:
    """Return a strategy with the update run that is in force."""
    if runs is None or not isinstance(strategy, External):
        return strategy
    return attrs.evolve(strategy, run=runs.run, held=runs.held)


def _runs(
    request: PlacementSubject,
    before: PlacementRecord,
    decision: Decision[PlacementMemory],
    wanted: Wanted,
    stopped: frozenset[str],
) -> RunsInForce | None:
    """Return the update runs; None if the placement rolls out by itself."""
    if not isinstance(request.strategy, External):
        return None
    here = {
        name: done.version
        for name, done in request.done.items()
        if done.revision is not None and not done.lost
    }
    return runs_in_force(
        request.strategy.runs,
        before.runs,
        ScheduledPlacement(
            placement=request.key,
            wanted=wanted,
            leaving=frozenset(here.keys() - wanted.ranks.keys()),
            snapshot=decision.memory.snapshot,
            standing=here,
            stopped=stopped,
        ),
        newest=wanted.revision,
        # A hub has a snapshot of what is selected before any run begins.
        kept={
            *before.digests,
            wanted.revision,
        },
        gates=request.gates,
    )


def _in_revision(wanted: Wanted, runs: RunsInForce | None, before: PlacementRecord) -> Wanted:
    """Return what is wanted in the revision that the run in force has taken; without a run nothing
    new is wanted.
    """
    if runs is None:
        return wanted
    return attrs.evolve(wanted, revision=runs.record.revision if runs.record else before.revision)


def _overridden(
    request: PlacementSubject, before: PlacementRecord, runs: RunsInForce | None, wanted: Wanted
) -> tuple[Wanted, InForce]:
    """Return what is wanted with the override rules that are in force on the picked members.

    An update run keeps to those that it took when it began, and without a run all members keep what
    they have.
    """
    taken: Mapping[str, int] = {}
    if runs:
        standing = {
            name: here.overrides
            for name, here in request.done.items()
            if here.overrides is not None
        }
        kept = {name: standing.get(name, _NONE) for name in wanted.ranks}
        taken = runs.record.overrides if runs.record else kept
    newest = before.next_revision(request.content)
    # A content that the state hides is empty here: `_check_known` refuses to send it.
    content = (
        request.content if wanted.revision == newest else before.contents.get(wanted.revision, ())
    )
    found = _in_force(
        request,
        before,
        [name for name in wanted.ranks if name not in taken],
        (wanted.revision, content),
    )
    # Records of runs have a number for no rules, since an engine would drop a null.
    numbers = {name: number for name, number in taken.items() if number != _NONE}
    found = attrs.evolve(found, numbers={**numbers, **found.numbers})
    waits = {name: gate for name, gate in request.waits.items() if name in wanted.ranks}
    return attrs.evolve(wanted, overrides=found.numbers, blocked=found.reasons, waits=waits), found


def _taken(
    request: PlacementSubject,
    before: PlacementRecord,
    runs: RunsInForce,
    wanted: Wanted,
    found: InForce,
) -> tuple[RunsInForce, InForce]:
    """Return the runs with the overrides that those which begin take, in force or not, and the
    rules with theirs.
    """
    newest, rules = before.next_revision(request.content), found.rules
    # By name, so that new rules get the same numbers in every run.
    for name in sorted(runs.begun & runs.live.keys()):
        mine = found
        # The rules that were found are those of the run in force; another run has its own revision.
        if runs.run is None or name != runs.run.name:
            revision = runs.records[name].revision
            content = request.content if revision == newest else before.contents.get(revision, ())
            digests = {
                **before.override_digests,
                **{number: digest(kept) for number, kept in rules.items()},
            }
            # With the rules so far, so that equal rules get equal numbers.
            known = attrs.evolve(before, overrides=rules, override_digests=digests)
            mine = _in_force(request, known, list(wanted.ranks), (revision, content))
            rules = mine.rules
        taken = {
            rank: mine.numbers.get(rank, _NONE) for rank in wanted.ranks if rank not in mine.failing
        }
        runs = runs.with_overrides(name, taken)
    return runs, attrs.evolve(found, rules=rules)


def _numbers(taken: Iterable[Mapping[str, int]]) -> set[int]:
    return {number for numbers in taken for number in numbers.values() if number != _NONE}


def _in_force(
    request: PlacementSubject,
    before: PlacementRecord,
    names: Collection[str],
    content: tuple[int, Objects],
) -> InForce:
    """Return the override rules that are in force for a revision on members."""
    clusters, positions = (
        request.inventory.clusters,
        ((name, request.inventory.position(name)) for name in names),
    )
    # A member that has left the fleet has no known labels, so no rule selects it.
    asked = {name: (clusters[at], *content) for name, at in positions if at is not None}
    overrides = PlacementOverrides(
        request.key, request.overrides, request.shapes, opens=request.opens
    )
    return in_force(overrides, before, asked, request.done)


def _untaken(request: PlacementSubject, record: PlacementRecord, runs: RunsInForce | None) -> str:
    """Return a note if what is selected is not what the last update run took; empty if it is."""
    last = max(record.digests, default=-1)
    if runs is None or last < 0 or record.holds(last, request.content):
        return ""
    takes = (
        f"update run {runs.latest} does not take it, a new one does"
        if runs.run
        else "a new update run takes it"
    )
    return f"what is selected has changed since revision {last}: {takes}"


def _notes(
    request: PlacementSubject,
    before: PlacementRecord,
    outcomes: Collection[tuple[EvictionCheck, str]],
    rollout: Rollout,
) -> Iterator[str]:
    """Yield what is said of evictions that are carried out or forgotten, and of a budget that does
    not count.
    """
    if request.reports:
        yield _COMPARED
    awaited = sorted(name for name, here in request.done.items() if here.awaited)
    if awaited:
        yield f"the hub goes on applying what {few(awaited)} was sent, and is not ready there"
    yield from (words for check, words in outcomes if check.handled.result == EXECUTED)
    for name in sorted(
        before.memory.evictions.keys() - {eviction.name for eviction in request.evictions}
    ):
        yield f"eviction {name} is taken out: its name may be used again"
    if request.budget and (
        not_executed := guards_only_evictions(
            request.budget, rollout, [check for check, _ in outcomes]
        )
    ):
        yield not_executed


def _check_known(record: PlacementRecord, rollout: Rollout) -> None:
    """Refuse to send a revision that the state hides.

    Raises:
        FleetError: it does.
    """
    moving = (Change.ADD, Change.UPDATE)
    for entry in rollout.entries.values():
        if entry.change in moving and entry.placed and not record.knows(entry.placed):
            what = Message(
                "revision-rolled-out-state",
                "revision {revision} is to be rolled out, and {memory} does not show its content",
                memory=MEMORY,
                revision=entry.placed.revision,
            )
            raise FleetError([Problem(what, hint=LACKS_HINT)])


def _plain(error: str) -> str:
    """Return the error without the prefix that KubeFleet adds.

    Source: kubefleet-dev/kubefleet v0.3.1, pkg/scheduler/framework/status.go.
    """
    return error.partition("returned an error InternalError, ")[2] or error


def _unscheduled(status: Status, key: str, snapshot: int) -> str:
    fulfilled = status.condition and status.condition.status == "True"
    # KubeFleet names a policy snapshot after its placement and its index.
    return "" if fulfilled else f"{key.rpartition('/')[2]}-{snapshot}"
