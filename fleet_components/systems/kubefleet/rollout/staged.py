"""Layout of staged updates: stages become waves, and a closed gate holds everything after it.

Which run is in force, and whether it may go on, is decided before: see
:mod:`fleet_components.rollout.run_record`.

Source of the rules: KubeFleet, ``pkg/controllers/updaterun/execution.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from math import ceil

import attrs

from fleet_components.model.text import few
from fleet_components.rollout.rollout import Gate, Gates, Opens, StageProgress
from fleet_components.rollout.situation import Clusters, Layout, Situation
from fleet_components.systems.kubefleet.model.release import Rule
from fleet_components.systems.kubefleet.rollout.stages import InvalidRunError, arrange, in_parts
from fleet_components.systems.kubefleet.rollout.strategy import External, RolloutStage, UpdateRun


def unapproved(request: str, gates: Gates) -> Gate | None:
    """Return the gate that a required approval closes; None if none is required or it was given."""
    if not request or request in gates.approvals:
        return None
    if request in gates.spent:
        return Gate(
            f"approval {request} was given for an earlier run of that name: give this one another"
            " name"
        )
    return Gate(f"approval {request} is missing", Opens.APPROVAL, request)


def both(approval: Gate | None, wait: Gate | None) -> Gate | None:
    """Return the gate that opens once both are open."""
    if approval and wait:
        return attrs.evolve(approval, why=f"{approval.why}; {wait.why}", due=wait.due)
    return approval or wait


@attrs.frozen
class Waiting:
    """Wait after a stage, counted from the time when all of its clusters were done.

    Attributes:
        situation: the current situation of the rollout.
        gates: the time of the update, and the longest wait that an update waits out itself.
        run: the update run.
        clusters: the clusters of the stage.
        later: the clusters of all later stages.
        began: the time before which the stage cannot have begun; None if it is unknown.
    """

    situation: Situation
    gates: Gates
    run: UpdateRun
    clusters: Clusters
    later: Clusters
    began: datetime | None = None

    @property
    def moves(self) -> bool:
        """True if the stage is not done yet."""
        return not set(self.situation.moving).isdisjoint(self.clusters)

    def due(self, wait: timedelta) -> datetime | None:
        """Return when the wait ends; None if the time when the stage was done is unknown.

        A stage without clusters is done as soon as it begins.
        """
        if not self.clusters:
            times = [self.began or self.gates.as_of]
        else:
            # A stage that still moves is not done before now.
            times = (
                [self.gates.as_of]
                if self.moves
                else [self._done(cluster) for cluster in self.clusters]
            )
        known = [time for time in times if time]
        # A single unknown time may be the latest, so the end is unknown too.
        return max(known) + wait if len(known) == len(times) else None

    def _done(self, cluster: str) -> datetime | None:
        """Return when a cluster was done: one that ran the revision before, not until its stage had
        begun.
        """
        since = self.situation.done[cluster].since
        if cluster not in self.run.had:
            return since
        return max(since, self.began) if since and self.began else self.began

    def left(self, wait: timedelta) -> timedelta:
        """Return the remaining part of the wait."""
        due = self.due(wait)
        if due and self.gates.as_of:
            # From 0 to the whole wait, even if `as_of` is earlier than a time that was recorded.
            return max(min(due - self.gates.as_of, wait), timedelta())
        wanted = self.situation.wanted.revision
        reached = [cluster for cluster in self.later if self.situation.revision(cluster) == wanted]
        if not self.moves and set(reached).difference(self.run.had):
            return timedelta()  # a later stage has begun, so the wait was over
        return wait

    def held(self, stage: str, wait: timedelta) -> Gate | None:
        """Return the gate that the remaining wait closes; None if the update waits itself."""
        if self.left(wait) <= self.gates.max_wait:
            return None
        due = self.due(wait)
        until = f"until {due.isoformat()}" if due else "from a time that is not recorded"
        judge = "" if self.gates.as_of else "; only as_of can tell that it is over"
        return Gate(
            f"stage {stage} is followed by a wait of {_span(wait)}, {until}{judge}",
            Opens.TIME,
            due=due,
        )


def _span(time: timedelta) -> str:
    """Format a duration as Kubernetes does: ``24h0m0s``, ``15m0s``, ``1.5s``."""
    minutes, seconds = divmod(time.total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{seconds:g}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


def roll_staged(situation: Situation, strategy: External, gates: Gates) -> Layout:
    """Lay out a staged update; without an update run nothing moves."""
    run = strategy.run
    if run is None:
        return _hold_all(situation, strategy.held)
    try:
        stages = arrange(run, situation.wanted)
    except InvalidRunError as invalid:
        held = _hold_all(situation, f"update run {run.name} does not begin: {invalid}")
        return attrs.evolve(held, failure=str(invalid))
    return _walk(
        situation, run, stages, gates, skips=strategy.release.has(Rule.EMPTY_STAGES_SKIPPED)
    )


def _hold_all(situation: Situation, why: str) -> Layout:
    return Layout(held=dict.fromkeys((*situation.moving, *situation.leaving), why))


def _walk(
    situation: Situation, run: UpdateRun, stages: Sequence[Clusters], gates: Gates, *, skips: bool
) -> Layout:
    """Assign waves and gates, stage by stage.

    Waves are numbered over all clusters, moving or not, so that the numbers stay the same from
    update to update.
    """
    stopped = Gate(f"update run {run.name} has state {run.state}; Run lets it go on")
    # A run in another state begins behind a closed gate.
    walk = _Walk(situation, run, gates, None if run.state == "Run" else stopped, skips)
    for stage, clusters, later in zip(run.stages, stages, _later(stages), strict=True):
        walk.through(stage, clusters, later)
    return walk.layout()


def _later(stages: Sequence[Clusters]) -> Iterator[Clusters]:
    """Yield for each stage the clusters of all that follow it."""
    return (tuple(chain(*stages[index + 1 :])) for index in range(len(stages)))


@attrs.define
class _Walk:
    """Way through the stages of a run, up to the first closed gate and beyond it.

    Attributes:
        situation: the current situation of the rollout.
        run: the update run.
        gates: approvals and time.
        closed: the first closed gate; None as long as every one is open.
        skips: True if a stage without clusters is skipped together with its tasks.
        spots: wave of each cluster, with the gate that keeps it back.
        waits: seconds to wait after a wave.
        accepted: the approvals that have opened a gate.
        stages: the stages so far.
    """

    situation: Situation
    run: UpdateRun
    gates: Gates
    closed: Gate | None
    skips: bool
    spots: dict[str, tuple[int, Gate | None]] = attrs.field(factory=dict)
    waits: dict[int, int] = attrs.field(factory=dict)
    accepted: list[str] = attrs.field(factory=list)
    stages: list[StageProgress] = attrs.field(factory=list)
    _number: int = 0
    _began: datetime | None = None

    def through(self, stage: RolloutStage, clusters: Clusters, later: Clusters) -> None:
        """Go through one stage."""
        if not clusters and self.skips:
            self.stages.append(StageProgress(stage.name))
            return
        self._ask(self.run.approval("before", stage))
        before, parts = self.closed, in_parts(stage, clusters)
        for part in parts:
            self._number += 1
            self.spots |= dict.fromkeys(part, (self._number, self.closed))
            wanted = self.situation.wanted
            # These clusters do not become ready in this update, and a run does not go past them.
            waits_for = {*wanted.blocked, *wanted.waits, *self.situation.awaited}
            stuck = [cluster for cluster in part if cluster in waits_for]
            if stuck:
                self._close(
                    Gate(f"update run {self.run.name} waits for {few(stuck)} in stage {stage.name}")
                )
        # Taken before the approval: the wait runs at the same time.
        closed = self.closed
        self._ask(self.run.approval("after", stage))
        if not closed:
            self._wait(stage, clusters, later)
        self.stages.append(self._progress(stage, parts, before))

    def _close(self, gate: Gate | None) -> None:
        self.closed = self.closed or gate

    def _ask(self, approval: str) -> None:
        if not self.closed and approval:
            self.closed = unapproved(approval, self.gates)
            self.accepted += [] if self.closed else [approval]

    def _wait(self, stage: RolloutStage, clusters: Clusters, later: Clusters) -> None:
        """Wait after a stage: from its end even if an approval came later, since KubeFleet runs
        both tasks at once.
        """
        # At most one task waits: `arrange` refuses two of the same type.
        wait = next((task.wait for task in stage.after if task.wait), timedelta())
        # The stage began neither before the previous one was over nor before the run did.
        began = max(filter(None, (self._began, self.run.since)), default=None)
        waiting = Waiting(self.situation, self.gates, self.run, clusters, later, began)
        self._began = waiting.due(wait)
        self.closed = both(self.closed, waiting.held(stage.name, wait))
        seconds = ceil(waiting.left(wait).total_seconds())
        if clusters:
            self.waits[self._number] = seconds
        elif seconds:
            # A stage without clusters has no wave of its own, unless there is none to wait after.
            self._number = max(self._number, 1)
            self.waits[self._number] = self.waits.get(self._number, 0) + seconds

    def _progress(
        self, stage: RolloutStage, parts: Sequence[Sequence[str]], before: Gate | None
    ) -> StageProgress:
        moving = {cluster for cluster in self.situation.moving if self._moves(cluster)}
        clusters = [cluster for part in parts for cluster in part]
        # A gate that was closed before the stage is reported there only.
        after = "" if before or not self.closed else str(self.closed.why)
        return StageProgress(
            stage.name,
            tuple(map(tuple, parts)),
            tuple(c for c in clusters if c in self.situation.keeps),
            tuple(c for c in clusters if c in moving),
            str(before.why) if before else "",
            after,
        )

    def _moves(self, cluster: str) -> bool:
        """Return whether a cluster changes now: a stopped run still finishes what it has begun."""
        begun = self.situation.in_flight if self.run.state == "Stop" else frozenset()
        return cluster in self.spots and (self.spots[cluster][1] is None or cluster in begun)

    def layout(self) -> Layout:
        """Return the layout of the clusters that have to change; those to be left are left after
        all stages.
        """
        situation = self.situation
        waves = {
            cluster: self.spots[cluster][0] for cluster in situation.moving if self._moves(cluster)
        }
        holding = {
            cluster: self.spots[cluster][1] for cluster in situation.moving if cluster not in waves
        }
        if self.closed:
            holding |= dict.fromkeys(situation.leaving, self.closed)
        gates = {cluster: gate for cluster, gate in holding.items() if gate}
        held = {cluster: str(gate.why) for cluster, gate in gates.items()}
        return Layout(
            waves,
            held,
            gates,
            () if self.closed else situation.leaving,
            self.waits,
            stages=tuple(self.stages),
            accepted=tuple(self.accepted),
            finished=self.closed is None,
        )
