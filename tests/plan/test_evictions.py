"""What holds for evictions in every interleaving of updates, failures, evictions and changes of members."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.cluster import DRAINED, Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.rollout.rollout import Change, Done
from fleet_components.systems.kubefleet.model.eviction import EXECUTED, DisruptionBudget, Eviction
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_N,
    PlacementPolicy,
    RollingUpdate,
)
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.rollout.strategy import scaled

pytestmark = pytest.mark.long

NAMES = "abcdef"
MOST = 12
some = st.sets(st.sampled_from(NAMES))
amounts: st.SearchStrategy[int | str] = st.sampled_from([0, 1, 2, 3, "0%", "30%", "50%", "100%"])
surges: st.SearchStrategy[int | str] = st.sampled_from([1, 2, "50%", "100%"])
policies = st.one_of(
    st.integers(1, 4).map(lambda number: PlacementPolicy(PICK_N, number_of_clusters=number)),
    st.just(PlacementPolicy(PICK_ALL)),
)


@attrs.define
class Fleet:
    """A placement on a fleet, over successive updates.

    Attributes:
        policy: its policy.
        rolling: its rolling update.
        budget: its disruption budget.
        record: what is remembered.
        done: what really runs.
        broken: clusters that the last update broke.
        members: the members that there are.
        tainted: those of them that have a taint.
        evictions: the evictions in the source.
        content: the content, by its number.
    """

    policy: PlacementPolicy
    rolling: RollingUpdate
    budget: DisruptionBudget | None
    record: PlacementRecord = PlacementRecord()
    done: dict[str, Done] = attrs.field(factory=dict)
    broken: set[str] = attrs.field(factory=set)
    members: set[str] = attrs.field(factory=lambda: set(NAMES))
    tainted: set[str] = attrs.field(factory=set)
    evictions: list[Eviction] = attrs.field(factory=list)
    content: int = 0

    @property
    def serving(self) -> set[str]:
        """Clusters that serve."""
        return {name for name, here in self.done.items() if here.revision is not None} - self.broken

    def subject(self) -> PlacementSubject:
        """The placement as it is asked for now."""
        clusters = [
            Cluster(n, taints=(DRAINED,) if n in self.tainted else ()) for n in sorted(self.members)
        ]
        data = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "x", "namespace": "y"},
            "data": {"n": f"{self.content}"},
        }
        return PlacementSubject(
            "shop",
            self.policy,
            self.rolling,
            Inventory(clusters),
            (data,),
            done=dict(self.done),
            evictions=tuple(self.evictions),
            budget=self.budget,
        )

    def update(self, failing: set[str]) -> tuple[PlacementOutcome, bool]:
        """Update; on failing clusters nothing arrives, and the update ends there."""
        outcome = self.subject().decide(self.record)
        self.record = outcome.record
        for wave in outcome.rollout.waves:
            moved = [name for name in wave.clusters if name not in failing]
            for name in moved:
                placed = outcome.rollout.entries[name].placed
                assert placed
                self.done[name] = Done(placed.revision)
            self.broken -= set(moved)
            if failed := failing.intersection(wave.clusters):
                self.broken |= failed
                return outcome, False
        for name in outcome.rollout.removals:
            self.done.pop(name, None)
        self.broken = set()
        return outcome, True


@attrs.frozen
class Step:
    """What changes before an update."""

    content: bool
    evict: frozenset[str]
    taint: frozenset[str]
    members: frozenset[str]
    forget: bool
    failing: frozenset[str]


steps = st.builds(
    Step,
    st.booleans(),
    some.map(frozenset),
    some.map(frozenset),
    st.sets(st.sampled_from(NAMES), min_size=3).map(frozenset),
    st.booleans(),
    st.one_of(st.just(frozenset()), some.map(frozenset)),
)
budgets = st.one_of(
    st.none(),
    st.just(DisruptionBudget()),
    amounts.map(lambda amount: DisruptionBudget(max_unavailable=amount)),
    amounts.map(lambda amount: DisruptionBudget(min_available=amount)),
)
fleets = st.builds(
    Fleet, policies, st.builds(RollingUpdate, st.sampled_from([0, 1, 2, "50%"]), surges), budgets
)


@settings(max_examples=250, deadline=None)
@given(fleets, st.lists(steps, max_size=6))
def test_no_budget_is_exceeded_and_nothing_goes_before_its_replacement_stands(
    world: Fleet, story: list[Step]
) -> None:
    world.update(set())
    for number, step in enumerate(story):
        world.content += step.content
        world.tainted, world.members = set(step.taint), set(step.members)
        world.evictions = [] if step.forget else world.evictions
        world.evictions += [
            Eviction(f"e{number}-{name}", "shop", name) for name in sorted(step.evict)
        ]
        handled = dict(world.record.memory.evictions)
        # With those that leave later, for lack of room: on a hub their bindings are Unscheduled and available.
        bound = {
            name for name, binding in world.record.memory.bindings.items() if not binding.evicted
        }
        staying = world.serving & world.members & bound
        known = set(world.done) | set(world.record.memory.bindings)
        before, done = set(world.serving), dict(world.done)
        outcome, ok = world.update(set(step.failing))
        memory = outcome.record.memory
        assert memory.evictions.keys() == {eviction.name for eviction in world.evictions}
        assert {
            name: eviction for name, eviction in memory.evictions.items() if name in handled
        } == {name: item for name, item in handled.items() if name in memory.evictions}
        fresh = {
            eviction.cluster
            for name, eviction in memory.evictions.items()
            if name not in handled and eviction.result == EXECUTED
        }
        _check_budget(world, fresh & staying, len(staying), len(known))
        if not ok:
            assert done.keys() <= world.done.keys()
        else:
            live = {
                name
                for name, entry in outcome.rollout.entries.items()
                if entry.change is not Change.REMOVE
            }
            picked = live & set(memory.selected)
            assert len(world.serving) >= min(len(picked), len(before & world.members))
    _settle(world)


def _check_budget(world: Fleet, evicted: set[str], available: int, total: int) -> None:
    """Check the clusters that evictions have taken, and that served and were to stay."""
    if not evicted or world.budget is None:
        return
    budget, number = world.budget, world.policy.number_of_clusters
    if budget.max_unavailable is not None:
        assert number is not None
        most = scaled(budget.max_unavailable, number, round_up=True)
        assert total - available + len(evicted) <= most
    else:
        assert budget.min_available is not None
        assert available - len(evicted) >= scaled(budget.min_available, number or 0, round_up=True)


def _settle(world: Fleet) -> None:
    """Update until nothing changes: every rollout ends, and then each decision is the same."""
    last: Any = None
    for _ in range(MOST):
        outcome, ok = world.update(set())
        assert ok
        if outcome.record == last and not outcome.rollout.removals:
            assert {entry.change for entry in outcome.rollout.entries.values()} <= {
                Change.KEEP,
                Change.HELD,
            }
            assert outcome.evictions == ()
            return
        last = outcome.record
    raise AssertionError("the rollout never comes to an end")
