"""The members that passed the filters, best first, with the columns that selection and division work on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.mask import Mask
from fleet_components.scheduler.karmada.affinity import matching
from fleet_components.scheduler.karmada.cluster_locality import HERE
from fleet_components.scheduler.karmada.estimator import allocatable
from fleet_components.scheduler.karmada.profile import LOCALITY
from fleet_components.scheduler.karmada.state import CycleState

_MORE_THAN_AVAILABLE = 2**33


@attrs.frozen
class Candidates:
    """Members that can be chosen. A member is known by its position; the columns are by position.

    Attributes:
        order: the candidates: overflow tier, then score, then available replicas, then name.
        allocatable: how many more replicas each can take.
        available: the same, and what it has already.
        scores: 100 for each that has the object already, else 0.
        tiers: the place of the affinity that selects it: 0 for the own one, else an overflow affinity.
    """

    order: list[int]
    allocatable: Sequence[int]
    available: Sequence[int]
    scores: Sequence[int]
    tiers: Sequence[int]

    def ranked(self, positions: Iterable[int]) -> list[int]:
        """Some candidates, best first."""
        tiers, scores, available = self.tiers, self.scores, self.available
        # One number says it all: tier up, score down, available replicas down. Positions are in the order of names.
        keys = {p: (tiers[p] * (HERE + 1) - scores[p]) * _MORE_THAN_AVAILABLE - available[p] for p in positions}
        return sorted(sorted(keys), key=keys.__getitem__)


def rank(state: CycleState, passed: Mask) -> Candidates:
    """Put the members that passed the filters in order."""
    can_take = allocatable(state)
    scores = [0] * len(state.inventory)
    for position, score in LOCALITY.scores(state, passed).items():
        scores[position] = score
    candidates = Candidates([], can_take, list(map(add, can_take, state.assigned)), scores, _tiers(state))
    return attrs.evolve(candidates, order=candidates.ranked(masks.positions(passed)))


def _tiers(state: CycleState) -> list[int]:
    column, open_ = [0] * len(state.inventory), state.inventory.everything
    for tier, affinity in enumerate(state.affinities):
        members = open_ & matching(state.inventory, affinity)
        open_ &= ~members
        for position in masks.positions(members) if tier else ():
            column[position] = tier
    return column
