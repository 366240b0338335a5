"""Layout of staged updates: stages become waves, and a closed gate holds everything after it.

KubeFleet's update run does nothing more once it has ended, and it fails if the picked clusters change. Here the run is
declarative: clusters picked later go through the same stages, and a withdrawn approval holds what has not been done
yet.

Source of the rules: KubeFleet v0.3.1, ``pkg/controllers/updaterun/execution.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from math import ceil

import attrs

from fleet_components.model.text import few
from fleet_components.rollout.rollout import Gate, Gates, Opens
from fleet_components.rollout.situation import Clusters, Layout, Situation
from fleet_components.rollout.stages import InvalidRunError, arrange, in_parts
from fleet_components.rollout.strategy import External, UpdateRun


def unapproved(request: str, gates: Gates) -> Gate | None:
    """Return the gate that a required approval closes; None if none is required or it was given."""
    if not request or request in gates.approvals:
        return None
    return Gate(f"approval {request} is missing", Opens.APPROVAL, request)


@attrs.frozen
class Waiting:
    """Wait after a stage, counted from the time when all of its clusters were done.

    Attributes:
        situation: the current situation of the rollout.
        gates: the time of the update, and the longest wait that an update waits out itself.
        clusters: the clusters of the stage.
        later: the clusters of all later stages.
    """

    situation: Situation
    gates: Gates
    clusters: Clusters
    later: Clusters

    @property
    def moves(self) -> bool:
        """True if the stage is not done yet."""
        return not set(self.situation.moving).isdisjoint(self.clusters)

    def due(self, wait: timedelta) -> datetime | None:
        """Return when the wait ends; None if the time when the stage was done is unknown."""
        done = self.situation.done
        times = [self.gates.as_of] if self.moves else [done[cluster].since for cluster in self.clusters]
        known = [time for time in times if time]
        return max(known) + wait if len(known) == len(times) else None

    def left(self, wait: timedelta) -> timedelta:
        """Return the remaining part of the wait."""
        due = self.due(wait)
        if due and self.gates.as_of:
            return max(due - self.gates.as_of, timedelta())
        wanted = self.situation.wanted.revision
        if not self.moves and any(self.situation.revision(cluster) == wanted for cluster in self.later):
            return timedelta()  # a later stage has begun, so the wait was over
        return wait

    def held(self, stage: str, wait: timedelta) -> Gate | None:
        """Return the gate that the remaining wait closes; None if the update waits itself."""
        if self.left(wait) <= self.gates.max_wait:
            return None
        due = self.due(wait)
        until = f"until {due.isoformat()}" if due else "from a time that is not recorded"
        judge = "" if self.gates.as_of else "; only as_of can tell that it is over"
        return Gate(f"stage {stage} is followed by a wait of {_span(wait)}, {until}{judge}", Opens.TIME, due=due)


def _span(time: timedelta) -> str:
    """Format a duration as Kubernetes does: ``24h0m0s``, ``15m0s``, ``1.5s``."""
    minutes, seconds = divmod(time.total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{seconds:g}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


_NO_RUN = "the strategy type is External, and no update run rolls it out"


def roll_staged(situation: Situation, strategy: External, gates: Gates) -> Layout:
    """Lay out a staged update; without an update run nothing moves."""
    run = strategy.run
    if run is None:
        return _hold_all(situation, _NO_RUN)
    try:
        stages = arrange(run, situation.wanted)
    except InvalidRunError as invalid:
        held = _hold_all(situation, f"update run {run.name} does not begin: {invalid}")
        return attrs.evolve(held, failure=str(invalid))
    return _walk(situation, run, stages, gates)


def _hold_all(situation: Situation, why: str) -> Layout:
    return Layout(held=dict.fromkeys((*situation.moving, *situation.leaving), why))


def _walk(situation: Situation, run: UpdateRun, stages: Sequence[Clusters], gates: Gates) -> Layout:
    """Assign waves and gates, stage by stage.

    Waves are numbered over all clusters, moving or not, so that the numbers stay the same from update to update.
    """
    stopped = Gate(f"update run {run.name} has state {run.state}; Run lets it go on")
    closed = None if run.state == "Run" else stopped
    spots: dict[str, tuple[int, Gate | None]] = {}
    waits: dict[int, int] = {}
    number = 0
    for index, clusters in enumerate(stages):
        if not clusters:
            continue  # KubeFleet skips an empty stage together with its tasks
        stage = run.stages[index]
        closed = closed or unapproved(run.approval("before", stage), gates)
        for part in in_parts(stage, clusters):
            number += 1
            spots |= dict.fromkeys(part, (number, closed))
            stuck = [cluster for cluster in part if cluster in situation.wanted.blocked]
            waits_for = Gate(f"update run {run.name} waits for {few(stuck)} in stage {stage.name}")
            closed = closed or (waits_for if stuck else None)
        closed = closed or unapproved(run.approval("after", stage), gates)
        if not closed:
            wait = next((task.wait for task in stage.after if task.wait), timedelta())
            # From the end of the stage even if an approval came later: KubeFleet runs both tasks at once.
            waiting = Waiting(situation, gates, clusters, tuple(chain(*stages[index + 1 :])))
            closed = waiting.held(stage.name, wait)
            waits[number] = ceil(waiting.left(wait).total_seconds())
    return _layout(situation, run, spots, waits, closed)


def _layout(
    situation: Situation,
    run: UpdateRun,
    spots: Mapping[str, tuple[int, Gate | None]],
    waits: Mapping[int, int],
    closed: Gate | None,
) -> Layout:
    """Return the layout of the clusters that have to change.

    A stopped run still finishes what it has begun; clusters to be left are left after all stages.
    """
    begun = situation.in_flight if run.state == "Stop" else frozenset()
    waves: dict[str, int] = {}
    holding: dict[str, Gate] = {}
    for cluster in situation.moving:
        number, gate = spots[cluster]
        if gate and cluster not in begun:
            holding[cluster] = gate
        else:
            waves[cluster] = number
    if closed:
        holding |= dict.fromkeys(situation.leaving, closed)
    held = {cluster: gate.why for cluster, gate in holding.items()}
    return Layout(waves, held, holding, () if closed else situation.leaving, waits)
