"""Layout of rolling updates: each pass of the real controller becomes one wave.

A wave is what the controller would do in one pass if everything before it had become ready. There
are two differences, because clusters are left at the end of an update and not in between: a cluster
to be left serves until then, and a broken cluster keeps its place, so that the surge is never
exceeded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby, islice

import attrs

from fleet_components.model.message import NEXT_UPDATE, Phrase
from fleet_components.model.text import count
from fleet_components.rollout.situation import Clusters, Layout, Situation
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.strategy import RolloutBudget


@attrs.define
class _Progress:
    """Counts that the budget is checked against, updated as wave after wave becomes ready.

    Attributes:
        budget: the budget.
        ready: clusters that serve.
        holding: clusters that have the placement.
        broken: clusters to be repaired.
        awaited: clusters that an agent may make ready, or may not.
    """

    budget: RolloutBudget
    ready: int
    holding: int
    broken: int
    awaited: int

    def updatable(self) -> int:
        """Return how many serving clusters the next wave may update, in addition to the broken
        ones.
        """
        # Both: clusters that are to be left still serve and could make up for broken ones, so that
        # more of the picked clusters than maxUnavailable would be down at once.
        return max(
            0,
            min(
                self.budget.unavailable - self.broken - self.awaited,
                self.budget.disruptable(self.ready),
            ),
        )

    def addable(self) -> int:
        return self.budget.addable(self.holding)

    def advance(self, repaired: int, added: int) -> None:
        """Update the counts after a wave has become ready."""
        self.ready += repaired + added
        self.holding += added
        self.broken -= repaired


def roll(situation: Situation, strategy: RollingUpdate, *, untrackable: bool) -> Layout:
    """Lay out a rolling update.

    Args:
        situation: the current situation of the rollout.
        strategy: the budgets.
        untrackable: whether the content has objects whose readiness cannot be determined; each wave
            is then followed by ``unavailablePeriodSeconds``.
    """
    target = situation.wanted.target
    budget = RolloutBudget.of(strategy, len(situation.wanted.ranks) if target is None else target)
    progress = _start(situation, budget)
    waves = _waves(situation, progress)
    fresh = {cluster: number for number, wave in enumerate(waves, start=1) for cluster in wave}
    numbers = _as_before(situation, budget, fresh) or fresh
    held_adds = [c for c in situation.adds if c not in numbers]
    removals = _removals(situation, progress, len(held_adds))
    # KubeFleet uses the period for nothing else: content that it can track is ready once it is
    # Available (``isBindingReady`` in pkg/controllers/rollout/controller.go, v0.3.1).
    wait = strategy.unavailable_period_seconds if untrackable else 0
    return Layout(
        numbers,
        _held(situation, progress, numbers, removals),
        removals=removals,
        waits=dict.fromkeys(numbers.values(), wait),
    )


def _start(situation: Situation, budget: RolloutBudget) -> _Progress:
    # Only updates repair: a broken cluster that is not picked is left, one without content is
    # added.
    broken = len(situation.broken.intersection(situation.updates))
    return _Progress(budget, situation.ready, situation.holding, broken, len(situation.awaited))


def _waves(situation: Situation, progress: _Progress) -> list[Clusters]:
    """Return the waves: broken clusters first, then updates and additions within the budget, by
    name.
    """
    broken = situation.broken
    # Outside of the budget: KubeFleet updates failed clusters at once, since they cannot become
    # less available (``determineBindingsToUpdate`` in pkg/controllers/rollout/controller.go,
    # v0.3.1).
    repairs = [c for c in situation.updates if c in broken]
    updates = iter([c for c in situation.updates if c not in broken])
    # An addition that broke may have left objects behind; it goes first, so that the surge is never
    # exceeded.
    adds = iter(sorted(situation.adds, key=lambda c: (c not in broken, c)))
    waves: list[Clusters] = []
    while True:
        updated = list(islice(updates, progress.updatable()))
        added = list(islice(adds, progress.addable()))
        if not (repairs or updated or added):
            return waves
        waves.append((*repairs, *updated, *added))
        progress.advance(len(repairs), len(added))
        repairs = []


def _as_before(
    situation: Situation, budget: RolloutBudget, moving: Collection[str]
) -> Mapping[str, int] | None:
    """Return the waves of the last update if it had the same goal and they still fit the budget,
    else None.

    An interrupted update then continues with the same wave numbers.
    """
    previous, wanted = situation.previous, situation.wanted
    if any(c not in previous or previous[c].version != wanted.version(c) for c in moving):
        return None
    progress = _start(situation, budget)
    ordered = sorted(moving, key=lambda c: previous[c].wave)
    for _, wave in groupby(ordered, key=lambda c: previous[c].wave):
        if not _fits(situation, progress, set(wave)):
            return None
    return {c: previous[c].wave for c in ordered}


def _fits(situation: Situation, progress: _Progress, wave: set[str]) -> bool:
    """Return whether the wave's updates fit the budget and no broken cluster is left out; advance
    the progress.

    Additions need no check: there is room for all of them together.
    """
    added = len(wave.intersection(situation.adds))
    repaired = len(wave.intersection(situation.broken, situation.updates))
    # Before the counts advance: the repairs of a wave do not make room in the same wave.
    fits = len(wave) - added - repaired <= progress.updatable()
    progress.advance(repaired, added)
    return fits and not progress.broken


def _removals(situation: Situation, progress: _Progress, held_adds: int) -> Clusters:
    """Return the clusters to leave: broken ones without limit, others within the budget.

    A cluster stays as long as its replacement is held for lack of room. Without any surge the old
    one has to be left first.
    """
    broken = tuple(c for c in situation.leaving if c in situation.broken)
    serving = [c for c in situation.leaving if c not in situation.broken]
    # Without surge no replacement can come first, so none is waited for.
    kept_back = held_adds if progress.budget.surge else 0
    allowed = min(progress.budget.disruptable(progress.ready), max(0, len(serving) - kept_back))
    return (*broken, *serving[:allowed])


def _held(
    situation: Situation, progress: _Progress, moving: Collection[str], removals: Clusters
) -> dict[str, Phrase | str]:
    """Return the clusters that should change but do not, each with the reason."""
    available = progress.ready - len(set(removals) - situation.broken)
    reasons = (
        (situation.updates, moving, _why_not_updated(progress)),
        (situation.adds, moving, _why_not_added(progress, goes_on=bool(removals))),
        (situation.leaving, removals, _why_not_left(progress.budget, available)),
    )
    return {c: why for clusters, change, why in reasons for c in clusters if c not in change}


def _why_not_updated(progress: _Progress) -> str:
    if not progress.budget.unavailable:
        return (
            "maxUnavailable is 0, so that no running cluster is ever updated; 1 or more lets it"
            " go on"
        )
    return _too_few(progress.budget, progress.ready)


def _why_not_added(progress: _Progress, *, goes_on: bool) -> Phrase | str:
    budget = progress.budget
    most = budget.target + budget.surge
    room = (
        f"maxSurge allows {count(most, 'cluster')} at a time, and"
        f" {count(progress.holding, 'has', 'have')} it"
    )
    if goes_on:
        return Phrase("{room}; {update} goes on", room=room, update=NEXT_UPDATE)
    if not (budget.surge or budget.unavailable):
        return f"{room}; with maxUnavailable 0 as well, nothing can ever move"
    return room


def _why_not_left(budget: RolloutBudget, available: int) -> str:
    if budget.disruptable(available):
        return "it stays until there is room for its replacement"
    return _too_few(budget, available)


def _too_few(budget: RolloutBudget, available: int) -> str:
    clusters = count(budget.target, "cluster")
    return f"{budget.needed} of {clusters} must stay available, and {count(available, 'is', 'are')}"
