"""What makes a binding be scheduled again, what then moves, and what is remembered."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.memory import EvictionTask, TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.scheduler.schedule import placement_changed
from fleet_components.systems.karmada.scheduler.status import BindingStatus, TemplateDecision
from tests.scheduler.karmada.builders import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    clusters,
    decide,
    deployment,
    fleet,
    member,
    message,
    placement,
    spread,
    static,
)
from tests.scheduler.karmada.events import Changes

ROOM = {"a": 5, "b": 5, "c": 5}
PLACED = decide("ab", deployment(4), placement(DYNAMIC), available=ROOM).memory


def leaving(name: str) -> Cluster:
    return attrs.evolve(member(name), leaving=True)


def test_divided_stays_where_it_is_until_something_triggers_it() -> None:
    where = placement(DYNAMIC)
    tainted = fleet(member("a", taint="gpu:NoSchedule"), "b", "c")
    decision = decide(tainted, deployment(4), where, PLACED, available=ROOM)
    assert decision.status.evaluated
    assert not decision.status.trigger
    assert clusters(decision) == {"a": 2, "b": 2}


def test_duplicated_follows_every_change() -> None:
    where = placement(
        DUPLICATED, clusterAffinity={"labelSelector": {"matchLabels": {"env": "prod"}}}
    )
    first = decide(fleet(member("a", env="prod"), member("b", env="test")), deployment(2), where)
    moved = decide(
        fleet(member("a", env="test"), member("b", env="prod")), deployment(2), where, first.memory
    )
    assert (clusters(first), clusters(moved)) == ({"a": 2}, {"b": 2})


@pytest.mark.parametrize(
    ("change", "trigger"),
    [
        ({"where": placement(AGGREGATED)}, "the placement changed"),
        ({"template": deployment(5)}, "the replicas changed"),
        ({"rebalances": {"r1"}}, "a rebalance was asked for"),
        ({"where": placement(DUPLICATED)}, "the placement changed"),
        ({"members": fleet(leaving("a"), "b", "c")}, "a member that has it leaves the fleet"),
        ({"members": fleet("b", "c")}, "a member that has it leaves the fleet"),
        ({}, ""),
    ],
)
def test_triggers(change: dict[str, Any], trigger: str) -> None:
    members, template = (
        change.pop("members", fleet("a", "b", "c")),
        change.pop("template", deployment(4)),
    )
    where = change.pop("where", placement(DYNAMIC))
    assert (
        decide(members, template, where, PLACED, available=ROOM, **change).status.trigger == trigger
    )


def test_a_rebalance_before_the_first_success_is_part_of_it() -> None:
    decision = decide(
        "ab", deployment(2), placement(DYNAMIC), available=ROOM, rebalances=["r2", "r1"]
    )
    assert decision.memory.rebalances == ("r1", "r2")
    again = decide(
        "ab", deployment(2), placement(DYNAMIC), decision.memory, available=ROOM, rebalances=["r1"]
    )
    assert not again.status.trigger


def test_what_a_leaving_member_held_is_placed_on_the_others() -> None:
    decision = decide(
        fleet(leaving("a"), "b", "c"), deployment(4), placement(DYNAMIC), PLACED, available=ROOM
    )
    assert clusters(decision) == {"b": 3, "c": 1}


def test_without_room_elsewhere_a_leaving_member_keeps_it() -> None:
    decision = decide(
        fleet(leaving("a"), "b"), deployment(4), placement(DYNAMIC), PLACED, available={"b": 1}
    )
    assert clusters(decision) == {"a": 2, "b": 2}
    assert message(decision).endswith("Clusters available replicas 1 are not enough to schedule.")


def test_no_fit_clears_the_targets_and_is_not_tried_again() -> None:
    nowhere = placement(DYNAMIC, clusterAffinity={"clusterNames": ["nowhere"]})
    decision = decide("ab", deployment(4), nowhere, PLACED, available=ROOM)
    assert clusters(decision) == {}
    assert decision.memory.placement == nowhere
    assert decision.status.condition
    assert decision.status.condition.reason == "NoClusterFit"
    assert not decision.status.retry
    assert len(decision.status.events) == 1


def test_an_eviction_moves_replicas_and_a_task_keeps_the_member_away() -> None:
    evicted = PLACED.evict("a", EvictionTask("Gracefully", reason="TaintUntolerated"))
    assert (dict(evicted.clusters), evicted.evictions["a"].replicas) == ({"b": 2}, 2)
    decision = decide("abc", deployment(4), placement(DYNAMIC), evicted, available=ROOM)
    assert clusters(decision) == {"b": 3, "c": 1}
    over = attrs.evolve(decision.memory, evictions={})
    assert clusters(decide("abc", deployment(4), placement(DYNAMIC), over, available=ROOM)) == {
        "b": 3,
        "c": 1,
    }


def test_eviction_of_what_is_not_there_changes_nothing() -> None:
    assert PLACED.evict("c", EvictionTask()) is PLACED
    once = PLACED.evict("a", EvictionTask("Never"))
    back = attrs.evolve(once, clusters={"a": 1, **once.clusters})
    assert back.evict("a", EvictionTask("Directly")).evictions["a"].purge_mode == "Never"


GROUPS = {
    "clusterAffinities": [
        {"affinityName": "near", "clusterNames": ["a"]},
        {"affinityName": "far", "clusterNames": ["b", "c"]},
    ]
}


def test_groups_fall_back_stay_and_return_with_a_rebalance() -> None:
    where = placement(DYNAMIC, **GROUPS)
    first = decide("abc", deployment(4), where, capacity=ROOM)
    more = decide("abc", deployment(8), where, first.memory, capacity=ROOM)
    less = decide("abc", deployment(4), where, more.memory, capacity=ROOM)
    back = decide("abc", deployment(4), where, less.memory, capacity=ROOM, rebalances=["r"])
    steps = [
        (decision.memory.observed_group, clusters(decision))
        for decision in (first, more, less, back)
    ]
    assert steps == [
        ("near", {"a": 4}),
        ("far", {"b": 4, "c": 4}),
        ("far", {"b": 2, "c": 2}),
        ("near", {"a": 4}),
    ]
    assert [str(event) for event in more.status.events] == [
        "Warning ScheduleBindingFailed failed to schedule ResourceBinding(default/web-deployment)"
        " with clusterAffiliates index(0): failed to assign replicas: failed to scale up:"
        " Clusters available replicas 1 are not enough to schedule.",
        "Normal ScheduleBindingSucceed Binding has been scheduled successfully. Result: {b:4, c:4}",
    ]


@pytest.mark.parametrize(
    ("names", "replicas", "reason", "kept"),
    [
        # The first group decides: no fit clears, too little room keeps.
        (["nowhere", "a"], 9, "NoClusterFit", {}),
        (["a", "nowhere"], 9, "Unschedulable", {"a": 4}),
    ],
)
def test_when_all_groups_fail_the_first_failure_counts(
    names: list[str], replicas: int, reason: str, kept: dict[str, int]
) -> None:
    terms = [
        {"affinityName": f"g{place}", "clusterNames": [name]} for place, name in enumerate(names)
    ]
    where = placement(DYNAMIC, clusterAffinities=terms)
    memory = TemplateMemory(
        uid="a", clusters={"a": 4}, observed_group="g0", placement=where, scheduled=True
    )
    decision = decide("a", deployment(replicas), where, memory, capacity=ROOM)
    assert decision.status.condition
    assert (decision.status.condition.reason, clusters(decision)) == (reason, kept)
    assert decision.memory.observed_group == "g0"


@pytest.mark.parametrize(
    ("new", "observed", "changed"),
    [
        (placement(DYNAMIC, **GROUPS), "near", False),
        (placement(DYNAMIC, clusterAffinities=GROUPS["clusterAffinities"][:1]), "near", False),
        (placement(DYNAMIC, clusterAffinities=GROUPS["clusterAffinities"][:1]), "far", True),
        (placement(DYNAMIC, clusterAffinities=GROUPS["clusterAffinities"][:1]), "", True),
        (
            placement(DYNAMIC, clusterAffinities=[{"affinityName": "near", "clusterNames": ["x"]}]),
            "near",
            True,
        ),
        (placement(AGGREGATED, **GROUPS), "near", True),
    ],
)
def test_of_the_groups_only_the_one_in_use_counts(
    new: Placement, observed: str, changed: bool
) -> None:
    assert placement_changed(new, placement(DYNAMIC, **GROUPS), observed) == changed


def step(
    before: Inventory, after: Inventory, where: Placement, memory: TemplateMemory, **options: Any
) -> TemplateDecision:
    """A run that follows events: only the members changed, unless ``binding`` is given."""
    changes = Changes(options.pop("binding", False), before)
    return decide(after, deployment(4), where, memory, changes=changes, available=ROOM, **options)


@pytest.mark.parametrize(
    ("changed", "evaluated"),
    [
        (member("a", env="prod", tier="x"), True),
        (member("a", env="test"), True),
        (member("b", env="test", tier="x"), False),
        (member("b", env="prod"), True),
        (attrs.evolve(member("a", env="prod"), region="eu"), True),
        (attrs.evolve(member("a", env="prod"), taints=(Taint("gpu"),)), True),
        (attrs.evolve(member("a", env="prod"), leaving=True), True),
        (attrs.evolve(member("b", env="test"), leaving=True), False),
        (member("new", env="prod"), True),
        (member("new", env="test"), False),
        # A status does not count.
        (attrs.evolve(member("a", env="prod"), api_enablements=frozenset()), False),
    ],
)
def test_changes_of_members_count_where_they_match_the_affinity(
    changed: Cluster, evaluated: bool
) -> None:
    where = placement(DYNAMIC, clusterAffinity={"labelSelector": {"matchLabels": {"env": "prod"}}})
    before = fleet(member("a", env="prod"), member("b", env="test"))
    after = Inventory([c for c in before.clusters if c.name != changed.name] + [changed])
    memory = attrs.evolve(PLACED, placement=where)
    assert step(before, after, where, memory).status.evaluated == evaluated


def test_only_the_group_in_use_is_watched_until_a_run_fails() -> None:
    where = placement(DYNAMIC, **GROUPS)
    before, after = fleet("a", "b"), fleet("a", member("b", env="new"))
    memory = attrs.evolve(PLACED, placement=where, clusters={"a": 4}, observed_group="near")
    assert not step(
        before, after, where, memory, status=BindingStatus(observed=True)
    ).status.evaluated
    assert step(before, after, where, memory, status=BindingStatus(observed=False)).status.evaluated


def test_suspension_ignores_everything_but_a_pending_retry() -> None:
    inventory = fleet("a", "b")
    more = placement(DYNAMIC, spreadConstraints=[spread("cluster", 9, 9)])
    ignored = step(inventory, inventory, more, PLACED, binding=True, suspended=True)
    assert (ignored.status.evaluated, ignored.memory) == (False, PLACED)
    failed = decide(inventory, deployment(4), more, PLACED, available=ROOM)
    assert failed.status.retry
    retried = step(inventory, inventory, more, failed.memory, suspended=True, status=failed.status)
    assert retried.status.evaluated


def test_a_retry_ends_when_nothing_needs_to_be_done_any_more() -> None:
    failed = decide("ab", deployment(40), placement(DYNAMIC), PLACED, available=ROOM)
    back = decide(
        "ab", deployment(4), placement(DYNAMIC), failed.memory, available=ROOM, status=failed.status
    )
    assert (back.status.retry, back.status.observed, back.status.trigger) == (False, True, "")
    assert back.status.condition == failed.status.condition  # nothing writes a new one


def test_a_cluster_scoped_object_has_its_own_words() -> None:
    template = attrs.evolve(
        deployment(0), kind="ClusterRole", api_version="rbac/v1", name="a:b", namespace=""
    )
    decision = decide(
        "a", template, placement(clusterAffinities=[{"affinityName": "g", "clusterNames": ["b"]}])
    )
    assert "ClusterResourceBinding(a.b-clusterrole) with clusterAffiliates index(0)" in str(
        decision.status.events[0]
    )
    placed = decide("a", template, placement())
    assert (
        placed.status.events[0].message == "Binding has been scheduled successfully. Result {a:0}"
    )


@pytest.mark.parametrize(
    "memory",
    [
        TemplateMemory(),
        PLACED,
        decide(
            "cab", deployment(3), placement(DUPLICATED), available={"a": 1, "b": 2, "c": 3}
        ).memory,
        TemplateMemory(
            uid="u",
            clusters={"b": 0, "a": 0},
            evictions={"c": EvictionTask("Never", 3, suppress_deletion=True)},
            required_by={"default/web-deployment": {"a": 1}},
            rebalances=("r",),
        ),
        decide("ab", deployment(3), placement(static(a=1), **GROUPS)).memory,
    ],
)
def test_memory_survives_the_state(memory: TemplateMemory) -> None:
    wire = memory.to_wire()
    shuffled = {**wire, "clusters": dict(reversed(list((wire.get("clusters") or {}).items())))}  # type: ignore[attr-defined]
    read = TemplateMemory.from_wire(shuffled)
    assert read == memory
    if any(memory.clusters.values()):
        assert list(read.clusters) == list(memory.clusters)


def test_the_order_of_choosing_is_kept_only_where_it_says_something() -> None:
    duplicated = decide(
        "abc", deployment(3), placement(DUPLICATED), available={"a": 1, "b": 2, "c": 3}
    ).memory
    assert duplicated.to_wire()["order"] == {"c": 0, "b": 1, "a": 2}
    assert "order" not in PLACED.to_wire()
    # It decides on who stays when equal ones are too many.
    assert clusters(
        decide("abc", deployment(3), placement(AGGREGATED), duplicated, available=ROOM)
    ) == {"c": 3}
