"""Layout of staged updates: stages become waves, and a closed gate holds everything after it.

KubeFleet's update run does nothing more once it has ended, and it fails if the picked clusters change. Here the run is
declarative: clusters picked later go through the same stages, and a withdrawn approval holds what has not been done
yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import chain
from math import ceil

import attrs

from fleet_components.rollout.gate import Waiting, unapproved
from fleet_components.rollout.layout import Layout
from fleet_components.rollout.plan import Gates
from fleet_components.rollout.situation import Clusters, Situation
from fleet_components.rollout.stages import InvalidRunError, arrange, in_parts
from fleet_components.rollout.strategy import External, UpdateRun

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
    closed = "" if run.state == "Run" else f"update run {run.name} has state {run.state}; Run lets it go on"
    spots: dict[str, tuple[int, str]] = {}
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
        closed = closed or unapproved(run.approval("after", stage), gates)
        if not closed:
            wait = next((task.wait for task in stage.after if task.wait), timedelta())
            waiting = Waiting(situation, gates, clusters, tuple(chain(*stages[index + 1 :])))
            closed = waiting.held(stage.name, wait)
            waits[number] = ceil(waiting.left(wait).total_seconds())
    return _layout(situation, run, spots, waits, closed)


def _layout(
    situation: Situation,
    run: UpdateRun,
    spots: Mapping[str, tuple[int, str]],
    waits: Mapping[int, int],
    closed: str,
) -> Layout:
    """Return the layout of the clusters that have to change.

    A stopped run still finishes what it has begun; clusters to be left are left after all stages.
    """
    begun = situation.in_flight if run.state == "Stop" else frozenset()
    waves, held = {}, {}
    for cluster in situation.moving:
        number, gate = spots[cluster]
        if gate and cluster not in begun:
            held[cluster] = gate
        else:
            waves[cluster] = number
    if closed:
        held |= dict.fromkeys(situation.leaving, closed)
    return Layout(waves, held, () if closed else situation.leaving, waits)
