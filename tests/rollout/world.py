"""A world to roll out into: what runs on each cluster, and how far an update comes before it breaks."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fleet_components.rollout.rollout import Change, Done, Gates, Placed, Rollout, Wanted, Wave
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.planner import plan_rollout
from fleet_components.systems.kubefleet.rollout.strategy import External, RolloutBudget


def picked(names: Collection[str], revision: int, target: int | None = None) -> Wanted:
    return Wanted({name: rank for rank, name in enumerate(sorted(names))}, revision, target)


class SimulatedClusters:
    """Clusters that do what plans say, one wave after the other, and that watch over the budget."""

    def __init__(self, running: Mapping[str, int] | None = None) -> None:
        running = dict(sorted((running or {}).items()))
        self.done = {name: Done(revision) for name, revision in running.items()}
        self.previous = {name: Placed(rank, 1, running[name]) for rank, name in enumerate(running)}
        self.broken: set[str] = set()

    @property
    def running(self) -> dict[str, int | None]:
        return {name: here.revision for name, here in self.done.items()}

    def plan(
        self,
        wanted: Wanted,
        strategy: RollingUpdate | External,
        gates: Gates | None = None,
        untrackable: bool = False,
    ) -> Rollout:
        return plan_rollout(
            self.done, wanted, strategy, self.previous, gates=gates, untrackable=untrackable
        )

    def update(
        self,
        wanted: Wanted,
        strategy: RollingUpdate | External,
        gates: Gates | None = None,
        failing: Collection[str] = (),
    ) -> Rollout:
        """Rollout and carry out; stops in the first wave with a failing cluster, before anything is removed."""
        planned = self.plan(wanted, strategy, gates)
        self.previous = planned.placed
        for name in self.broken - self.previous.keys():
            self.done[name] = Done(self.done[name].revision, broken=True)
        for wave in planned.waves:
            if isinstance(strategy, RollingUpdate):
                self._watch_wave(planned, wave, wanted, strategy)
            if not self._carry_out(planned, wave, failing, gates):
                return planned
        if isinstance(strategy, RollingUpdate):
            self._watch_removals(planned, wanted, strategy)
        for name in planned.removals:
            self.done.pop(name, None)
        self.broken.intersection_update(self.done)
        return planned

    def _carry_out(
        self, planned: Rollout, wave: Wave, failing: Collection[str], gates: Gates | None
    ) -> bool:
        for name in wave.clusters:
            placed = planned.entries[name].placed
            if placed and name not in failing:
                self.done[name] = Done(placed.revision, since=gates.as_of if gates else None)
                self.broken.discard(name)
        if not set(wave.clusters) & set(failing):
            return True
        self.broken |= {n for n in wave.clusters if n in failing and n in self.done}
        return False

    def _watch_wave(
        self, planned: Rollout, wave: Wave, wanted: Wanted, strategy: RollingUpdate
    ) -> None:
        budget = RolloutBudget.of(
            strategy, len(wanted.ranks) if wanted.target is None else wanted.target
        )
        broken = self.broken & set(wanted.ranks)
        updated = {n for n in wave.clusters if planned.entries[n].change is Change.UPDATE} - broken
        added = {n for n in wave.clusters if planned.entries[n].change is Change.ADD}
        serving = set(self.done) - self.broken - updated
        if updated:
            assert len(updated) + len(broken) <= budget.unavailable
            assert len(serving) >= budget.needed
        if added:
            assert len(self.done) + len(added) <= budget.target + budget.surge

    def _watch_removals(self, planned: Rollout, wanted: Wanted, strategy: RollingUpdate) -> None:
        budget = RolloutBudget.of(
            strategy, len(wanted.ranks) if wanted.target is None else wanted.target
        )
        serving = set(self.done) - self.broken
        if serving.intersection(planned.removals):
            assert len(serving.difference(planned.removals)) >= budget.needed
