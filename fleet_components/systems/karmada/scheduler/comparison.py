"""Says why a member that a template could go to does not get it: by rank, or by its share of the replicas."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.text import count
from fleet_components.scheduler.cycle import run_filters
from fleet_components.systems.karmada.scheduler.assignment import Division
from fleet_components.systems.karmada.scheduler.candidates import Candidates, rank
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.proposals import Scheduled
from fleet_components.systems.karmada.scheduler.spread import ignores_constraints


def compare(scheduled: Scheduled, divisions: Iterable[Division], cluster: str) -> str:
    """Return what a member that passes every filter lost to; empty where nothing of that decides.

    Args:
        scheduled: the decision.
        divisions: how the replicas were divided.
        cluster: the member.
    """
    if cluster in scheduled.clusters:
        return ""
    for division in divisions:
        if division.weights.get(cluster) and not division.shares.get(cluster):
            replicas, total = count(division.amount, "replica"), sum(division.weights.values())
            return f"gets none of {replicas}: its share is {division.weights[cluster]} of {total} {division.basis}"
    return _outranked(scheduled, cluster)


def _outranked(scheduled: Scheduled, cluster: str) -> str:
    """Compare a member with the last of those that a spread constraint by cluster leaves."""
    state, position = scheduled.state, scheduled.inventory.position(cluster)
    fields = [constraint.spread_by_field for constraint in state.placement.spread_constraints]
    if position is None or fields != ["cluster"] or ignores_constraints(state.placement):
        return ""
    profile = PROFILE.extended(scheduled.plugins)
    passed = run_filters(profile, state, state.inventory.everything & ~state.inventory.leaving).passed
    candidates = rank(profile, state, passed)
    most = state.placement.spread_constraints[0].max_groups
    chosen = [state.inventory.names[at] for at in candidates.order[:most]]
    # Karmada may swap in larger members, and then ranks say nothing.
    if not masks.has(passed, position) or not chosen or set(chosen) != set(scheduled.clusters):
        return ""
    return _Pair(candidates, candidates.order[most - 1], position, chosen[-1]).words


@attrs.frozen
class _Pair:
    candidates: Candidates
    better: int
    position: int
    other: str

    @property
    def words(self) -> str:
        theirs, ours = self.better, self.position
        if self.candidates.tiers[theirs] != self.candidates.tiers[ours]:
            return f"lost to {self.other}, of an affinity that comes first"
        if points := self.candidates.scores[theirs] - self.candidates.scores[ours]:
            return f"lost to {self.other} by {count(points, 'point')}: those that have the object come first"
        room = self.candidates.available
        if room[theirs] != room[ours]:
            return f"lost to {self.other}, which can take {count(room[theirs], 'replica')}, not {room[ours]}"
        return f"lost to {self.other}: equally good, and the first name goes first"
