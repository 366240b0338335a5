"""Update runs of one placement over successive updates: which one is in force, and what became of
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.rollout.rollout import Gates, Rollout, StageProgress
from fleet_components.systems.kubefleet.model.eviction import BUDGET, EVICTION
from fleet_components.systems.kubefleet.rollout.run_record import (
    FAILED,
    SUCCEEDED,
    RunRecord,
    ScheduledPlacement,
    begin,
    come_so_far,
    outdated,
    preempted,
)
from fleet_components.systems.kubefleet.rollout.strategy import NO_RUN, UpdateRun


@attrs.frozen(kw_only=True)
class RunMemory:
    """Memory of the update runs of a placement.

    Attributes:
        records: the runs of the source, by name.
        latest: name of the run that was in force last; empty if none was.
        spent: given approvals that runs which are gone have used: they open nothing for others of
            the same name.
    """

    records: Mapping[str, RunRecord] = attrs.field(factory=dict)
    latest: str = ""
    spent: tuple[str, ...] = ()

    def renamed(self, cluster: Callable[[str], str]) -> RunMemory:
        """Return it with the members under other names."""
        return attrs.evolve(
            self, records={name: record.renamed(cluster) for name, record in self.records.items()}
        )


@attrs.frozen(kw_only=True)
class RunsInForce:
    """Update runs of a placement in this update.

    Attributes:
        records: the runs of the source, by name, as they are before the rollout.
        run: the run in force, with the stages that it began with; None if nothing is rolled out.
        latest: name of the run that is or was in force.
        spent: given approvals that open nothing.
        begun: names of the runs that begin in this update.
        ended: names of the runs that fail in it.
    """

    records: Mapping[str, RunRecord]
    run: UpdateRun | None
    latest: str = ""
    spent: frozenset[str] = frozenset()
    begun: frozenset[str] = frozenset()
    ended: tuple[str, ...] = ()

    @property
    def record(self) -> RunRecord | None:
        """Record of the run in force."""
        return self.records[self.run.name] if self.run else None

    @property
    def last(self) -> RunRecord | None:
        """Record of the run that is or was in force."""
        return self.records.get(self.latest)

    def stages(self, rollout: Rollout) -> tuple[StageProgress, ...]:
        """Return the stages of that run; those of one that is over are as it has left them."""
        if self.run or self.last is None:
            return rollout.stages
        updated = (
            self.last.concerned if self.last.outcome == SUCCEEDED else frozenset(self.last.updated)
        )
        return tuple(
            StageProgress(
                stage.name,
                (clusters,) if clusters else (),
                tuple(n for n in clusters if n in updated),
            )
            # Not strict: a run that could not begin has stages, and no clusters.
            for stage, clusters in zip(self.last.stages, self.last.clusters, strict=False)
        )

    @property
    def failure(self) -> str:
        """Failure of the run that was to roll the placement out, in KubeFleet's words; empty for
        none.
        """
        last = None if self.run else self.last
        if last is None or last.outcome != FAILED:
            return ""
        return f"{_ended(self.latest, last)}: {last.message}; write another run"

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines of the older runs that fail in this update; :attr:`failure` has that of the last
        one, in later updates as well.
        """
        older = [name for name in self.ended if name != self.latest]
        return tuple(f"update run {name} fails: {self.records[name].message}" for name in older)

    @property
    def held(self) -> str:
        """Reason that holds everything without a run in force."""
        return f"{_ended(self.latest, self.last)}; write another run" if self.last else NO_RUN

    @property
    def live(self) -> Mapping[str, RunRecord]:
        """Records of the runs that may still move something, in force or not."""
        return {name: record for name, record in self.records.items() if not record.over}

    def with_overrides(self, name: str, numbers: Mapping[str, int]) -> RunsInForce:
        """Return it with the overrides that a run takes when it begins; later ones are no part of
        it.
        """
        return attrs.evolve(
            self,
            records={**self.records, name: attrs.evolve(self.records[name], overrides=numbers)},
        )

    def gates(self, given: Gates) -> Gates:
        """Return the approvals that count for the run in force: those given for it, and those that
        it has accepted.
        """
        accepted = self.record.approvals if self.record else ()
        return attrs.evolve(
            given, approvals=(given.approvals - self.spent).union(accepted), spent=self.spent
        )

    def remembered(self, rollout: Rollout) -> RunMemory:
        """Return what is remembered once the rollout has succeeded."""
        records = dict(self.records)
        if self.run and self.record:
            approvals = tuple(sorted({*self.record.approvals, *rollout.accepted}))
            outcome = SUCCEEDED if rollout.finished else ""
            records[self.run.name] = attrs.evolve(self.record, approvals=approvals, outcome=outcome)
        return RunMemory(records=records, latest=self.latest, spent=tuple(sorted(self.spent)))


def runs_in_force(
    runs: Collection[UpdateRun],
    before: RunMemory,
    scheduled: ScheduledPlacement,
    *,
    newest: int,
    kept: Collection[int],
    gates: Gates,
) -> RunsInForce:
    """Return which run is in force now: the newest that is not over. An older one that was in force
    fails.

    Args:
        runs: the update runs of the source.
        before: what is remembered of them.
        scheduled: the placement as its policy has been scheduled.
        newest: the revision of what is selected now.
        kept: the revisions whose content is kept.
        gates: the given approvals, and the time of this update.
    """
    known = {run.name: before.records[run.name] for run in runs if _is_known(run, before)}
    # Only the run that was in force can have been interrupted: all others move nothing.
    records = {
        n: _resumed(run_record, scheduled) if n == before.latest else run_record
        for n, run_record in known.items()
    }
    # A run with another spec than the one that is remembered is a new run of the same name.
    begun = {run.name: begin(run, scheduled, newest, kept) for run in runs if run.name not in known}
    # Sorted, so that the state is the same in every run.
    records = dict(sorted({**records, **begun}.items()))
    live = [run for run in runs if not records[run.name].over]
    # A run that only initializes moves nothing, and takes no clusters from others.
    going = [run for run in live if run.state != "Initialize"]
    # The one that comes last takes the clusters over from all others.
    going.sort(key=lambda run: (run.name != before.latest, run.name in begun, run.name))
    current = going[-1] if going else _waiting(live, before, records, begun)
    for run in going[:-1]:
        records[run.name] = preempted(come_so_far(records[run.name], scheduled), going[-1].name)
    if (
        # A run that begins now has taken what it would be compared with.
        current
        and current.name not in begun
        and (why := outdated(records[current.name], current, scheduled))
    ):
        records[current.name], current = (
            come_so_far(records[current.name], scheduled).failed(why),
            None,
        )
    if current and current.state == "Run":
        records[current.name] = _timed(records[current.name], gates)
    # Whether used or not: an approval belongs to the run that existed when it was given.
    gone = ((name, record) for name, record in before.records.items() if name not in known)
    spent = {*before.spent, *(approval for name, record in gone for approval in record.asked(name))}
    return RunsInForce(
        records=records,
        run=_begun(current, records[current.name]) if current else None,
        latest=_latest(current, before, records, begun),
        # Others need no memory: nobody gives them any more.
        spent=frozenset(spent & gates.approvals),
        begun=frozenset(begun),
        ended=tuple(
            n
            for n, run_record in records.items()
            if run_record.outcome == FAILED and not (n in known and known[n].over)
        ),
    )


def _is_known(run: UpdateRun, before: RunMemory) -> bool:
    return run.name in before.records and before.records[run.name].spec == run.spec


def _timed(record: RunRecord, gates: Gates) -> RunRecord:
    """Return a run that goes on with the time from which on it does, as soon as one is known."""
    return record if record.since else attrs.evolve(record, since=gates.as_of)


def _begun(run: UpdateRun, record: RunRecord) -> UpdateRun:
    return attrs.evolve(run, stages=record.stages, had=record.had, since=record.since)


def _resumed(record: RunRecord, scheduled: ScheduledPlacement) -> RunRecord:
    """Return a run that an update was to finish, and did not: it is not over then."""
    undone = record.concerned & scheduled.stopped or scheduled.leaving.intersection(record.leaving)
    if record.outcome == SUCCEEDED and undone:
        return attrs.evolve(record, outcome="")
    return record


def _waiting(
    runs: Collection[UpdateRun],
    before: RunMemory,
    records: Mapping[str, RunRecord],
    begun: Collection[str],
) -> UpdateRun | None:
    """Return the run that is shown while none goes on: the last one stays it, also once it is
    over.
    """
    fresh = [run for run in runs if run.name in begun]
    known = [run for run in runs if run.name == before.latest or before.latest not in records]
    return max(fresh or known, key=lambda run: run.name, default=None)


def _latest(
    current: UpdateRun | None,
    before: RunMemory,
    records: Mapping[str, RunRecord],
    begun: Collection[str],
) -> str:
    if current:
        return current.name
    if begun:
        return max(begun)  # it could not begin
    return before.latest if before.latest in records else ""


def _ended(name: str, record: RunRecord) -> str:
    if record.outcome != FAILED:
        return f"update run {name} is over, and moves nothing more"
    return f"update run {name} {'does not begin' if record.revision < 0 else 'has failed'}"


# Find the update runs that roll placements out.


STRATEGY_OF = {
    "ClusterStagedUpdateRun": "ClusterStagedUpdateStrategy",
    "StagedUpdateRun": "StagedUpdateStrategy",
}
"""Kind of the strategy that each kind of run follows."""
PLACEMENT_OF = {
    "ClusterStagedUpdateRun": "ClusterResourcePlacement",
    "StagedUpdateRun": "ResourcePlacement",
}
"""Kind of the placement that each kind of run rolls out."""
APPROVALS = ("ClusterApprovalRequest", "ApprovalRequest")
"""Kinds of the requests for an approval."""


def is_approved(manifest: Manifest) -> bool:
    """Return whether an object is an approval request of an update run that somebody has
    approved.
    """
    if manifest.kind not in APPROVALS or manifest.group != "placement.kubernetes-fleet.io":
        return False
    status = manifest.data.get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    return any(
        isinstance(condition, Mapping)
        and (condition.get("type"), condition.get("status")) == ("Approved", "True")
        for condition in (conditions if isinstance(conditions, list) else ())
    )


def runs_of(policies: Iterable[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    """Return the runs by namespace and name of the placement, each list by name."""
    found: dict[tuple[str, str], list[Manifest]] = {}
    for run in sorted(
        (policy for policy in policies if policy.kind in STRATEGY_OF), key=lambda run: run.name
    ):
        found.setdefault(
            (run.namespace, str(run.data["spec"].get("placementName", ""))), []
        ).append(run)
    return found


def placement_of(policy: Manifest) -> tuple[str, str, str] | None:
    """Return kind, namespace and name of the placement that a policy of KubeFleet is about; None
    for all, or none.
    """
    spec = policy.data.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    if policy.kind in STRATEGY_OF:
        return PLACEMENT_OF[policy.kind], policy.namespace, str(spec.get("placementName", ""))
    if policy.kind == EVICTION:
        return "ClusterResourcePlacement", "", str(spec.get("placementName", ""))
    if policy.kind == BUDGET:
        return "ClusterResourcePlacement", "", policy.name
    named = spec.get("placement")
    if policy.kind in ("ClusterResourceOverride", "ResourceOverride") and isinstance(
        named, Mapping
    ):
        inside = named.get("scope") == "Namespaced"
        kind = "ResourcePlacement" if inside else "ClusterResourcePlacement"
        return kind, policy.namespace if inside else "", str(named.get("name", ""))
    return None
