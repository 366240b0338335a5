"""What holds for every fleet, placement and history."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.scheduler.cycle import run_filters
from fleet_components.systems.karmada.model.memory import EvictionTask, TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler import schedule
from fleet_components.systems.karmada.scheduler.division import shortest_prefix
from fleet_components.systems.karmada.scheduler.explain import explain
from fleet_components.systems.karmada.scheduler.go_sort import descending
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.state import KarmadaState
from fleet_components.systems.karmada.scheduler.status import TemplateDecision
from tests.scheduler.karmada.builders import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    placement,
    spread,
    static,
)

pytestmark = pytest.mark.long

NAMES = [f"m{number:02}" for number in range(16)]
quick = settings(max_examples=80)

members = st.lists(
    st.builds(
        Cluster,
        name=st.sampled_from(NAMES),
        labels=st.dictionaries(st.just("env"), st.sampled_from(["prod", "test"])),
        region=st.sampled_from(["east", "west", "north", ""]),
        taints=st.sampled_from([(), (), (), (Taint("gpu"),)]),
        leaving=st.sampled_from([False] * 9 + [True]),
    ),
    min_size=1,
    max_size=16,
    unique_by=lambda cluster: cluster.name,
)
affinities = st.sampled_from(
    [
        {},
        {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}},
        {"clusterAffinity": {"exclude": NAMES[:3]}},
        {
            "clusterAffinities": [
                {"affinityName": "one", "clusterNames": NAMES[:4]},
                {"affinityName": "two", "clusterNames": NAMES[4:]},
            ]
        },
    ]
)
constraints = st.sampled_from(
    [
        [],
        [],
        [spread("cluster", 1, 3)],
        [spread("region", 1, 2), spread("cluster", 1, 5)],
        [spread("cluster", 2, 9)],
    ]
)
schedulings = st.sampled_from(
    [None, DUPLICATED, DYNAMIC, AGGREGATED, static(m00=1, m01=2, m05=3), static()]
)
placements = st.builds(
    lambda scheduling, affinity, spreading: placement(
        scheduling, **affinity, spreadConstraints=spreading
    ),
    schedulings,
    affinities,
    constraints,
)
rooms = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 12))
estimates = st.builds(
    lambda kind, room: Estimates(**{kind: room}), st.sampled_from(["available", "capacity"]), rooms
)
templates = st.builds(
    lambda replicas, requests: Template(
        "apps/v1", "Deployment", "web", "default", replicas, requests
    ),
    st.integers(0, 20),
    st.sampled_from([None, {}]),
)


@attrs.frozen
class Situation:
    """A template that was placed once, and what it meets now."""

    fleet: list[Cluster]
    template: Template
    where: Placement
    room: Estimates
    memory: TemplateMemory
    rebalances: frozenset[str]

    def schedule(self, **changed: Any) -> TemplateDecision:
        now = attrs.evolve(self, **changed)
        return schedule(
            Inventory(now.fleet),
            now.template,
            now.where,
            now.memory,
            estimates=now.room,
            rebalances=now.rebalances,
        )


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    uid = draw(st.sampled_from(["a", "b", ""]))
    before = Situation(
        draw(members),
        draw(templates),
        draw(placements),
        draw(estimates),
        TemplateMemory(uid=uid),
        frozenset(),
    )
    memory = before.schedule().memory
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
        memory = memory.evict(name, EvictionTask())
    return Situation(
        draw(st.one_of(st.just(before.fleet), members)),
        draw(st.one_of(st.just(before.template), templates)),
        draw(st.one_of(st.just(before.where), placements)),
        draw(estimates),
        memory,
        draw(st.sampled_from([frozenset(), frozenset({"again"})])),
    )


def succeeded(decision: TemplateDecision) -> bool:
    condition = decision.status.condition
    return bool(decision.status.trigger) and condition is not None and condition.status == "True"


@quick
@given(situations())
def test_every_replica_is_placed_or_none_moves(situation: Situation) -> None:
    decision, wanted = situation.schedule(), situation.template.replicas
    held = list(decision.memory.clusters.values())
    if succeeded(decision) and situation.template.workload:
        if situation.where.divided:
            assert sum(held) == wanted
            assert 0 not in held
        else:
            assert set(held) <= {wanted}
    if decision.status.retry:
        assert decision.memory == situation.memory


@quick
@given(situations())
def test_memory_is_a_fixpoint(situation: Situation) -> None:
    once = situation.schedule()
    twice = situation.schedule(memory=once.memory)
    assert twice.memory == once.memory
    assert list(twice.memory.clusters) == list(once.memory.clusters)
    assert TemplateMemory.from_wire(once.memory.to_wire()) == once.memory


@quick
@given(situations(), st.randoms(use_true_random=False))
def test_the_order_of_members_does_not_matter(situation: Situation, random: Any) -> None:
    shuffled = list(situation.fleet)
    random.shuffle(shuffled)
    decision, again = situation.schedule(), situation.schedule(fleet=shuffled)
    assert (again.memory, again.status.events) == (decision.memory, decision.status.events)


@quick
@given(situations())
def test_only_members_that_pass_the_filters_get_something_new(situation: Situation) -> None:
    decision = situation.schedule()
    assume(succeeded(decision))
    terms = {term.affinity_name: term for term in situation.where.cluster_affinities}
    state = KarmadaState(
        Inventory(situation.fleet),
        situation.template,
        situation.where,
        situation.memory,
        group=terms.get(decision.memory.observed_group),
    )
    passed = run_filters(PROFILE, state, state.inventory.everything).passed
    assert not state.inventory.mask_of_names(decision.memory.clusters) & ~passed


@quick
@given(
    st.dictionaries(st.sampled_from(NAMES), st.integers(1, 12), min_size=1),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([DYNAMIC, AGGREGATED]),
)
def test_scaling_is_one_way(room: dict[str, int], first: int, then: int, scheduling: Any) -> None:
    assume(sum(room.values()) >= max(first, then))
    inventory, where = Inventory(map(Cluster, room)), placement(scheduling)
    template = Template("apps/v1", "Deployment", "web", "default", first)
    old = schedule(inventory, template, where, estimates=Estimates(capacity=room)).memory
    scaled = attrs.evolve(template, replicas=then)
    new = schedule(inventory, scaled, where, old, estimates=Estimates(capacity=room)).memory
    if then >= first:
        assert all(new.clusters[name] >= held for name, held in old.clusters.items())
    else:
        assert all(held <= old.clusters[name] for name, held in new.clusters.items())
    assert all(held <= room[name] for name, held in new.clusters.items())


@quick
@given(situations())
def test_explanations_agree_with_the_decision(situation: Situation) -> None:
    decision = situation.schedule()
    explained = explain(
        Inventory(situation.fleet),
        situation.template,
        situation.where,
        decision,
        estimates=situation.room,
    )
    assert {m.cluster for m in explained.members if m.selected} == decision.memory.clusters.keys()
    assert {m.cluster for m in explained.members} >= {cluster.name for cluster in situation.fleet}


@quick
@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 12), min_size=1), st.integers(1, 40))
def test_first_divisions_respect_room(room: dict[str, int], replicas: int) -> None:
    assume(sum(room.values()) >= replicas)
    template = Template("apps/v1", "Deployment", "web", "default", replicas)
    largest = sorted(room.values(), reverse=True)
    fewest = next(count for count in range(1, 17) if sum(largest[:count]) >= replicas)
    for scheduling in (DYNAMIC, AGGREGATED):
        decision = schedule(
            Inventory(map(Cluster, room)),
            template,
            placement(scheduling),
            estimates=Estimates(available=room),
        )
        assert all(held <= room[name] for name, held in decision.memory.clusters.items())
    assert len(decision.memory.clusters) <= fewest


@quick
@given(st.lists(st.integers(0, 4), max_size=200))
def test_go_sort_sorts(weights: list[int]) -> None:
    order = descending(weights)
    assert sorted(order) == list(range(len(weights)))
    assert [weights[place] for place in order] == sorted(weights, reverse=True)


@quick
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 60))
def test_a_prefix_is_that_of_the_whole_sort(weights: list[int], amount: int) -> None:
    named = {f"m{place:02}": weight for place, weight in enumerate(weights)}
    prefix = shortest_prefix(named, set(), amount)
    assert prefix.keys() == {f"m{place:02}" for place in descending(weights)[: len(prefix)]}
    assert sum(prefix.values()) >= amount or len(prefix) == len(weights)
