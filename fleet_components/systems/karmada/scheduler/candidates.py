"""Members that passed the filters, best first, with the columns that selection and division work
on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add
from typing import ClassVar

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.mask import Mask
from fleet_components.scheduler.cycle import run_scores
from fleet_components.scheduler.framework import Profile, SchedulingError
from fleet_components.systems.karmada.scheduler.estimator import allocatable
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching

# Exceeds the sum of two int32 numbers: the estimator's answer and the replicas that the member has.
_MORE_THAN_AVAILABLE = 2**33


@attrs.frozen
class Candidates:
    """Members that can be chosen, identified by position. The columns are indexed by position.

    Attributes:
        order: the candidates, ordered by overflow tier, score, available replicas, name.
        allocatable: how many more replicas each member can take.
        available: the same plus the replicas that the member has already.
        scores: the scores of the plug-ins.
        tiers: index of the affinity that selects the member: 0 for the primary one, above 0 for
            overflow affinities.
    """

    order: list[int]
    allocatable: Sequence[int]
    available: Sequence[int]
    scores: Sequence[int]
    tiers: Sequence[int]

    def ranked(self, positions: Iterable[int]) -> list[int]:
        """Return the given candidates, best first."""
        tiers, scores, available = self.tiers, self.scores, self.available
        span = max(scores, default=0) - min(scores, default=0) + 1
        # One integer instead of a tuple as key, for speed: tier ascending, score descending,
        # available replicas descending. Positions are in the order of names, so the inner sort
        # breaks ties by name.
        keys = {
            p: (tiers[p] * span - scores[p]) * _MORE_THAN_AVAILABLE - available[p]
            for p in positions
        }
        return sorted(sorted(keys), key=keys.__getitem__)


def rank(profile: Profile, state: KarmadaState, passed: Mask) -> Candidates:
    """Return the members that passed the filters as ordered candidates."""
    can_take = allocatable(state)
    scores = [0] * len(state.inventory)
    # The profile has one part of the score.
    (by_score,) = run_scores(profile, state, passed)
    for score, members in by_score.items():
        for position in masks.positions(members) if score else ():
            scores[position] = score
    candidates = Candidates(
        [], can_take, list(map(add, can_take, state.assigned)), scores, _tiers(state)
    )
    return attrs.evolve(candidates, order=candidates.ranked(masks.positions(passed)))


def _tiers(state: KarmadaState) -> list[int]:
    column, open_ = [0] * len(state.inventory), state.inventory.everything
    for tier, affinity in enumerate(state.affinities):
        members = open_ & matching(state.inventory, affinity)
        open_ &= ~members
        for position in masks.positions(members) if tier else ():
            column[position] = tier
    return column


# Failures of the scheduling algorithm, which differ in what happens to the targets and in when it
# is retried.


class CycleFailure(SchedulingError):
    """Failure of a run; the targets stay, and the scheduler retries."""

    reason: ClassVar[str] = "SchedulerError"


class Unschedulable(CycleFailure):
    """Failure because the members cannot take the replicas; the targets stay, and the scheduler
    retries.
    """

    reason = "Unschedulable"


class NoClusterFit(CycleFailure):
    """Failure because no member passes the filters; the targets are cleared, and only a change
    leads to a retry.
    """

    reason = "NoClusterFit"
