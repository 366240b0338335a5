"""What holds for every fleet, policy and history."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TypeVar

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.cluster import Cluster
from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.scheduler.framework import Verdict
from fleet_components.systems.kubefleet.model.memory import UNSCHEDULED, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PICK_ALL, PICK_N, PlacementPolicy
from fleet_components.systems.kubefleet.scheduler import schedule
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import TopologySpread
from fleet_components.systems.kubefleet.scheduler.explain import explain
from tests.conformance.kubefleet_scheduling import roll_out
from tests.scheduler.kubefleet.hub import next_cycle
from tests.scheduler.kubefleet.oracle import Oracle
from tests.strategies import (
    AS_OF,
    NAMES,
    Step,
    fleets,
    histories,
    labels,
    pick_n,
    policies,
    renumbered,
)

pytestmark = pytest.mark.long

V = TypeVar("V")
many = settings(max_examples=50)


def decide(history: list[Step]) -> Decision[PlacementMemory]:
    decision = Decision(PlacementMemory(), Status())
    for step in history:
        before = roll_out(decision, step.rollout)
        decision = next_cycle(Inventory(step.clusters, AS_OF), step.policy, before)
    return decision


@many
@given(histories())
def test_settled_memory_is_a_fixpoint(history: list[Step]) -> None:
    settled = decide(history).memory.settled()
    again = schedule(Inventory(history[-1].clusters, AS_OF), history[-1].policy, settled)
    assert again.memory == settled
    assert again.memory.selected == settled.selected
    assert again.memory.settled() == settled


@many
@given(histories(), st.integers())
def test_order_of_members_and_maps_does_not_matter(history: list[Step], seed: int) -> None:
    random = Random(seed)
    memory, mixed = PlacementMemory(), PlacementMemory()
    for step in history:
        clusters = [shuffled_maps(cluster, random) for cluster in step.clusters]
        random.shuffle(clusters)
        item = schedule(Inventory(step.clusters, AS_OF), step.policy, memory)
        other = schedule(Inventory(clusters, AS_OF), step.policy, mixed)
        assert item == other
        assert list(item.memory.bindings) == list(other.memory.bindings)
        memory = roll_out(item, step.rollout).memory
        mixed = attrs.evolve(memory, bindings=shuffled(memory.bindings, random))


@many
@given(fleets(), st.lists(st.tuples(policies, st.sampled_from(["", "app", "other"])), max_size=4))
def test_placements_share_an_inventory(
    members: list[Cluster], placements: list[tuple[PlacementPolicy, str]]
) -> None:
    shared = Inventory(members, AS_OF)
    for policy, namespace in placements:
        alone = schedule(Inventory(members, AS_OF), policy, namespace=namespace)
        assert schedule(shared, policy, namespace=namespace) == alone


def shuffled_maps(cluster: Cluster, random: Random) -> Cluster:
    return attrs.evolve(
        cluster,
        labels=shuffled(cluster.labels, random),
        properties=shuffled(cluster.properties, random),
        namespaces=None if cluster.namespaces is None else shuffled(cluster.namespaces, random),
    )


def shuffled(mapping: Mapping[str, V], random: Random) -> dict[str, V]:
    items = list(mapping.items())
    random.shuffle(items)
    return dict(items)


@many
@given(fleets(), pick_n(), st.sampled_from(["", "app"]))
def test_pick_n_takes_as_many_as_it_can(
    members: list[Cluster], policy: PlacementPolicy, namespace: str
) -> None:
    oracle = Oracle(namespace, as_of=AS_OF)
    fitting = sum(not oracle.reason(member, policy) for member in members)
    wanted = policy.number_of_clusters or 0
    picked = schedule(Inventory(members, AS_OF), policy, namespace=namespace).memory.selected
    assert len(picked) <= min(wanted, fitting)
    assert policy.topology_spread_constraints or len(picked) == min(wanted, fitting)


@many
@given(histories(), st.integers(0, 3))
def test_scaling_out_keeps_all(history: list[Step], more: int) -> None:
    policy, before = history[-1].policy, decide(history).memory
    wider = renumbered(policy, (policy.number_of_clusters or 0) + more)
    after = schedule(Inventory(history[-1].clusters, AS_OF), wider, before).memory
    assert set(before.selected) <= set(after.selected)
    assert after.snapshot == before.snapshot


@many
@given(histories(), st.lists(labels, min_size=len(NAMES), max_size=len(NAMES)))
def test_relabelling_keeps_all(history: list[Step], relabelled: list[dict[str, str]]) -> None:
    before = decide(history).memory
    members = history[-1].clusters
    changed = [
        attrs.evolve(member, labels=new) for member, new in zip(members, relabelled, strict=False)
    ]
    after = schedule(Inventory(changed, AS_OF), history[-1].policy, before).memory
    assert set(before.selected) <= set(after.selected)


@many
@given(histories(), st.sets(st.sampled_from(NAMES)), st.booleans(), policies)
def test_members_that_go_are_not_selected(
    history: list[Step], going: set[str], slowly: bool, policy: PlacementPolicy
) -> None:
    step, before = history[-1], decide(history).memory
    if policy.placement_type != step.policy.placement_type:
        policy = step.policy
    staying = [member for member in step.clusters if member.name not in going]
    leaving = [
        attrs.evolve(member, leaving=True)
        for member in step.clusters
        if member.name in going and slowly
    ]
    after = schedule(Inventory([*staying, *leaving], AS_OF), policy, before).memory
    assert not going & set(after.selected)


@many
@given(histories())
def test_unscheduled_bindings_say_what_they_were(history: list[Step]) -> None:
    for binding in decide(history).memory.bindings.values():
        assert (binding.former_state in ("Scheduled", "Bound")) is (binding.state == UNSCHEDULED)


@many
@given(histories())
def test_explanations_agree_with_the_decision(history: list[Step]) -> None:
    step, decision = history[-1], decide(history)
    inventory = Inventory(step.clusters, AS_OF)
    explained = explain(inventory, step.policy, decision)
    names = [member.cluster for member in explained]
    assert names[: len(inventory)] == list(inventory.names)
    assert sorted(names[len(inventory) :]) == sorted(
        set(decision.memory.bindings) - set(inventory.names)
    )
    assert {member.cluster for member in explained if member.selected} == set(
        decision.memory.selected
    )
    entries = {entry.cluster_name: entry for entry in decision.status.decisions}
    for member in explained[: len(inventory)]:
        failing = [verdict for verdict in member.verdicts if verdict.passed is False]
        assert all(verdict.words for verdict in failing)
        if member.selected:
            assert all(words.words in member.summary for words in failing[:1])
            continue
        assert bool(failing) is not pickable(inventory, step.policy, decision, member.cluster)
        if failing:
            assert member.summary == failing[0].words
            entry = entries.get(member.cluster)
            # The status is of the last cycle, before its pick changed the counts of a spread constraint.
            scored = failing[
                0
            ].plugin == TopologySpread.name and "does not score high enough" in str(entry)
            assert entry is None or entry.selected or scored or failing[0].words in entry.reason
        else:
            assert_scores(member.verdicts, step.policy)


def pickable(
    inventory: Inventory, policy: PlacementPolicy, decision: Decision[PlacementMemory], name: str
) -> bool:
    """Whether one more pick could take the member now: asked of the plain scheduler."""
    oracle = Oracle(as_of=AS_OF, members={member.name: member for member in inventory.clusters})
    member = oracle.members[name]
    if policy.placement_type == PICK_ALL:
        return not oracle.reason(member, policy)
    if policy.placement_type == PICK_N:
        present = [n for n in decision.memory.selected if n in oracle.members]
        return not oracle.reason(member, policy) and not oracle.violated(member, policy, present)
    return name in policy.cluster_names and not oracle.reason(member, PlacementPolicy())


def assert_scores(verdicts: tuple[Verdict, ...], policy: PlacementPolicy) -> None:
    scored = [verdict.plugin for verdict in verdicts if verdict.score is not None]
    spread = ["TopologySpreadConstraints"] if policy.topology_spread_constraints else []
    assert scored == (["ClusterAffinity", *spread] if policy.placement_type == PICK_N else [])
