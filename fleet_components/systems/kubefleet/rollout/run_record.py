"""Memory of an update run, from its beginning to its end and beyond.

A run takes a revision, stages and clusters when it begins and keeps to them: what changes meanwhile
is no part of it, or ends it. Once it is over it moves nothing more.

Source of the rules and of the texts: KubeFleet v0.3.1, ``validation.go`` and ``initialization.go``
in ``pkg/controllers/updaterun``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from itertools import chain

import attrs

from fleet_components.model.codec import MOST_INT32, choice_of, ranged
from fleet_components.model.digits import integer
from fleet_components.rollout.rollout import Version, Wanted
from fleet_components.systems.kubefleet.rollout.stages import ABORTED, InvalidRunError, arrange
from fleet_components.systems.kubefleet.rollout.strategy import RolloutStage, UpdateRun

SUCCEEDED, FAILED = "Succeeded", "Failed"
_UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "
_CLIENT = "failed to process the request due to a client error: "
_TAKEN = (
    _CLIENT
    + "the binding of the updating cluster `{}` in the stage `{}` is not up-to-date with the"
    " desired status, please see if there is a concurrent updateRun referencing the same"
    " placement and updating the same cluster"
)


@attrs.frozen(kw_only=True)
class RunRecord:
    """Record of an update run that has begun, or that could not begin.

    Attributes:
        spec: what makes it this run and no other of its name: strategy and snapshot index.
        revision: the revision that it rolls out; -1 if it could not begin.
        stages: the stages of the strategy as they were then.
        clusters: the clusters of each stage.
        leaving: clusters that are left at its end.
        snapshot: index of the policy snapshot.
        count: how many clusters were asked for; -1 for as many as fit.
        had: clusters that ran the revision before.
        since: ``as_of`` of the first update in which it ran, of those that had a time.
        overrides: number of the override rules of each cluster, -1 for none; without those on which
            one failed.
        approvals: the approvals that have opened a gate; none can be withdrawn.
        outcome: ``Succeeded`` or ``Failed`` once it is over, else empty.
        message: why it has failed.
        updated: the clusters that ran its revision when it failed.
        updating: the clusters that it was updating then.
        taken: whether another run has taken those that it was updating, which fails them and their
            stage.
    """

    spec: str
    revision: int = attrs.field(default=-1, metadata=ranged(-1))
    stages: tuple[RolloutStage, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    leaving: tuple[str, ...] = ()
    snapshot: int = attrs.field(default=-1, metadata=ranged(-1))
    count: int = attrs.field(default=-1, metadata=ranged(-1))
    had: tuple[str, ...] = ()
    since: datetime | None = None
    # Without null: an engine drops it, so that the next update would find another record.
    overrides: Mapping[str, int] = attrs.field(factory=dict)
    approvals: tuple[str, ...] = ()
    outcome: str = attrs.field(default="", metadata=choice_of("", SUCCEEDED, FAILED))
    message: str = ""
    updated: tuple[str, ...] = ()
    updating: tuple[str, ...] = ()
    taken: bool = False

    @property
    def over(self) -> bool:
        """True if it moves nothing more."""
        return bool(self.outcome)

    @property
    def concerned(self) -> frozenset[str]:
        """All clusters that it updates or leaves."""
        return frozenset((*chain(*self.clusters), *self.leaving))

    def renamed(self, cluster: Callable[[str], str]) -> RunRecord:
        """Return it with the members under other names."""
        return attrs.evolve(
            self,
            clusters=tuple(tuple(map(cluster, part)) for part in self.clusters),
            leaving=tuple(map(cluster, self.leaving)),
            had=tuple(map(cluster, self.had)),
            updated=tuple(map(cluster, self.updated)),
            updating=tuple(map(cluster, self.updating)),
            overrides={cluster(name): number for name, number in self.overrides.items()},
        )

    def asked(self, name: str) -> tuple[str, ...]:
        """Return the approvals that it asks for, given its name; none if it could not begin."""
        namespace, _, strategy = self.spec.partition("/")
        run = UpdateRun(name, strategy, self.stages, namespace=namespace)
        return run.approvals if self.revision >= 0 else ()

    def failed(self, message: str) -> RunRecord:
        """Return it as failed."""
        return attrs.evolve(self, outcome=FAILED, message=message)

    def losses(self) -> dict[str, str]:
        """Return in KubeFleet's words why each cluster fails that it was updating when another run
        took it.
        """
        places = (
            (stage.name, name)
            for stage, part in zip(self.stages, self.clusters, strict=True)
            for name in part
        )
        return {name: _TAKEN.format(name, stage) for stage, name in places if name in self.updating}


@attrs.frozen(kw_only=True)
class ScheduledPlacement:
    """A placement as its policy has been scheduled: what an update run begins on.

    Attributes:
        placement: the placement, as ``name`` or ``namespace/name``.
        wanted: the picked clusters.
        leaving: clusters that are no longer picked and still have something.
        snapshot: index of the policy snapshot.
        standing: the revision that runs on each cluster, and the number of its override rules.
        stopped: the clusters at which the last update stopped.
    """

    placement: str
    wanted: Wanted
    leaving: frozenset[str] = frozenset()
    snapshot: int = 0
    standing: Mapping[str, Version] = attrs.field(factory=dict)
    stopped: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """Number of clusters that the policy asks for; -1 for as many as fit."""
        return -1 if self.wanted.target is None else self.wanted.target

    def runs(self, cluster: str) -> int | None:
        """Return the revision that runs on a cluster; None if none does."""
        return self.standing.get(cluster, (None, None))[0]


def begin(
    run: UpdateRun, scheduled: ScheduledPlacement, newest: int, kept: Collection[int]
) -> RunRecord:
    """Return the record of a run that begins; as failed for good if it cannot.

    Args:
        run: the run.
        scheduled: what it begins on.
        newest: the revision of what is selected now.
        kept: the revisions whose content is kept.
    """
    try:
        clusters = arrange(run, scheduled.wanted)
        if not scheduled.wanted.ranks and not scheduled.leaving:
            namespace, _, name = scheduled.placement.rpartition("/")
            what = "no scheduled or to-be-deleted bindings found for the latest policy snapshot"
            raise InvalidRunError(
                f"{what} {namespace}/{name}-{scheduled.snapshot}", user_error=False
            )
        revision = _revision(run, scheduled.placement, newest, kept)
    except InvalidRunError as invalid:
        return RunRecord(spec=run.spec, stages=run.stages).failed(str(invalid))
    return RunRecord(
        spec=run.spec,
        revision=revision,
        stages=run.stages,
        clusters=tuple(clusters),
        leaving=tuple(sorted(scheduled.leaving)),
        snapshot=scheduled.snapshot,
        count=scheduled.count,
        had=tuple(
            name for name in sorted(scheduled.wanted.ranks) if scheduled.runs(name) == revision
        ),
    )


def outdated(record: RunRecord, run: UpdateRun, scheduled: ScheduledPlacement) -> str:
    """Return why a run cannot go on, in KubeFleet's words; empty if it can."""
    try:
        return _outdated(record, run, scheduled)
    except InvalidRunError as invalid:
        return str(invalid)


def come_so_far(record: RunRecord, scheduled: ScheduledPlacement) -> RunRecord:
    """Return a run that ends with the clusters that it has updated, and those that it was
    updating.
    """
    clusters = set(chain(*record.clusters))
    updating = clusters & scheduled.stopped
    updated = {
        name
        for name in clusters - updating
        if scheduled.standing.get(name) == _version(record, name)
    }
    return attrs.evolve(record, updated=tuple(sorted(updated)), updating=tuple(sorted(updating)))


def _version(record: RunRecord, cluster: str) -> Version:
    number = record.overrides.get(cluster, -1)
    return record.revision, None if number < 0 else number


def preempted(record: RunRecord, by: str) -> RunRecord:
    """Return a run whose clusters another one takes as failed, in KubeFleet's words.

    On a hub it fails only if one of its clusters is under way; else it goes on once the other run
    is over, and brings back what is older.

    Args:
        record: the run, with the clusters that it was updating.
        by: name of the other run.
    """
    reasons = [ABORTED + why for why in record.losses().values()]
    if not reasons:
        return record.failed(
            f"{ABORTED}{_CLIENT}update run {by} of the same placement counts from now on"
        )
    # As NewAggregate of k8s.io/apimachinery joins them.
    message = reasons[0] if len(reasons) == 1 else f"[{', '.join(reasons)}]"
    return attrs.evolve(record.failed(message), taken=True)


def _revision(run: UpdateRun, placement: str, newest: int, kept: Collection[int]) -> int:
    if not run.index:
        return newest
    # Go reads ASCII digits only; int() takes others too, and underscores.
    if not (run.index.isascii() and run.index.isdecimal()) or integer(run.index) > MOST_INT32:
        raise InvalidRunError(
            f"invalid resource snapshot index `{run.index}` provided, expected an integer >= 0"
        )
    index = integer(run.index)
    # A hub looks for the text as it is written, in a label: it finds nothing for 007.
    if index not in kept or str(index) != run.index:
        namespace, _, name = placement.rpartition("/")
        raise InvalidRunError(
            f"no resourceSnapshots with index `{index}` found for placement `{namespace}/{name}`"
        )
    return index


def _outdated(record: RunRecord, run: UpdateRun, scheduled: ScheduledPlacement) -> str:
    if scheduled.wanted.unscheduled:
        # Raises the error of a policy that is not scheduled.
        arrange(run, scheduled.wanted)
    if scheduled.snapshot != record.snapshot:
        what = "the policy snapshot index used in the updateRun is outdated"
        return f"{ABORTED}{what}, latest: {scheduled.snapshot}, recorded: {record.snapshot}"
    if scheduled.count != record.count:
        what = "the cluster count initialized in the updateRun is outdated"
        return f"{ABORTED}{what}, latest: {scheduled.count}, recorded: {record.count}"
    # The stages are those from when it began: another strategy changes nothing for it.
    stages = arrange(attrs.evolve(run, stages=record.stages), scheduled.wanted)
    for index, (new, existing) in enumerate(zip(stages, record.clusters, strict=True)):
        if len(new) != len(existing):
            what = f"the number of clusters in index `{index}` stage has changed"
            return f"{ABORTED}{what}, new: {len(new)}, existing: {len(existing)}"
        for place, (text, other) in enumerate(zip(new, existing, strict=True)):
            if text != other:
                what = (
                    f"the `{place}` cluster in the `{index}` stage has changed, new: {text},"
                    f" existing: {other}"
                )
                return f"{ABORTED}{what}"
    # Only the first is reported, as in KubeFleet.
    for cluster in sorted(scheduled.leaving.difference(record.leaving)):
        return (
            f"{ABORTED}{_UNEXPECTED}the cluster `{cluster}` to be deleted is not in the delete"
            " stage"
        )
    return ""
