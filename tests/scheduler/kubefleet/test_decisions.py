"""The ``clusterDecisions`` list and the ``Scheduled`` condition: texts, order, limits."""

from __future__ import annotations

import attrs
import pytest

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.decision import Decision, Status
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.scheduler.pick import scheduled_condition
from tests.conformance.kubefleet_scheduling import roll_out
from tests.scheduler.kubefleet.builders import (
    by,
    entries,
    label,
    labelled,
    pick_n,
    policy,
    preferring,
    reasons,
    requiring,
    run,
    spread,
    valued,
)

ABC = labelled(a={}, b={}, c={})
PICK_ALL = policy("PickAll")
FULFILLED = "found all cluster needed as specified by the scheduling policy, found {} cluster(s)"
UNFULFILLED = "could not find all clusters needed as specified by the scheduling policy, found {} cluster(s) instead"


def many(number: int, tainted: int = 0) -> list[Cluster]:
    """Members ``m000``, ``m001``, ...; the first ones tainted."""
    return [Cluster(f"m{i:03}", taints=(Taint("k"),) if i < tainted else ()) for i in range(number)]


def fixed(*names: str) -> PlacementPolicy:
    return policy("PickFixed", clusterNames=list(names))


def test_texts_and_scores() -> None:
    members = [*valued(a="0", b="1", d="2"), Cluster("c", taints=(Taint("k", "v"),))]
    decision = run(
        members, preferring(2, (-3, by("p")), topologySpreadConstraints=[spread("zone")])
    )
    assert [entry.to_wire() for entry in decision.status.decisions] == [
        {
            "clusterName": "b",
            "selected": True,
            "clusterScore": {"affinityScore": -2, "priorityScore": 0},
            "reason": 'Successfully scheduled resources for placement in "b" '
            "(affinity score: -2, topology spread score: 0): picked by scheduling policy",
        },
        {
            "clusterName": "a",
            "selected": True,
            "clusterScore": {"affinityScore": 0, "priorityScore": 0},
            "reason": 'Successfully scheduled resources for placement in "a" '
            "(affinity score: 0, topology spread score: 0): picked by scheduling policy",
        },
        {
            "clusterName": "d",
            "selected": False,
            "clusterScore": {"affinityScore": -3, "priorityScore": 0},
            "reason": 'Cluster "d" does not score high enough (affinity score: -3, topology spread score: 0)',
        },
        {
            "clusterName": "c",
            "selected": False,
            "clusterScore": None,
            "reason": "ClusterUnschedulable, taint &{Key:k Value:v Effect:NoSchedule} cannot be tolerated",
        },
    ]


def test_fixed_names_are_listed_as_valid_then_ineligible_then_unknown() -> None:
    members = [*ABC, Cluster("d", leaving=True), Cluster("e", leaving=True)]
    decision = run(members, fixed("x", "e", "c", "d", "w", "a"))
    assert [
        (entry.cluster_name, entry.selected, entry.reason) for entry in decision.status.decisions
    ] == [
        (
            "c",
            True,
            'Successfully scheduled resources for placement in "c": picked by scheduling policy',
        ),
        (
            "a",
            True,
            'Successfully scheduled resources for placement in "a": picked by scheduling policy',
        ),
        (
            "e",
            False,
            'Cluster "e" is not eligible for resource placement yet: cluster has left the fleet',
        ),
        (
            "d",
            False,
            'Cluster "d" is not eligible for resource placement yet: cluster has left the fleet',
        ),
        ("x", False, 'Specified cluster "x" is not found'),
        ("w", False, 'Specified cluster "w" is not found'),
    ]
    assert all(entry.to_wire()["clusterScore"] is None for entry in decision.status.decisions)


@pytest.mark.parametrize(
    ("wanted", "fulfilled", "found"),
    [
        (PICK_ALL, True, 3),
        (requiring("PickAll", None, label(env="prod")), True, 0),
        (pick_n(2), True, 2),
        (pick_n(3), True, 3),
        (pick_n(4), False, 3),
        (pick_n(0), True, 0),
        (fixed("a", "b"), True, 2),
        (fixed("a", "zz"), False, 1),
    ],
)
def test_condition(wanted: PlacementPolicy, fulfilled: bool, found: int) -> None:
    condition = run(ABC, wanted).status.placement_condition("ResourcePlacement")
    assert (condition.type, condition.status) == (
        "ResourcePlacementScheduled",
        "True" if fulfilled else "False",
    )
    assert condition.reason == f"SchedulingPolicy{'Fulfilled' if fulfilled else 'Unfulfilled'}"
    assert condition.message == (FULFILLED if fulfilled else UNFULFILLED).format(found)


# Order


@pytest.mark.parametrize(
    ("wanted", "order"),
    [
        (PICK_ALL, ["a", "b", "c"]),
        (pick_n(3), ["c", "b", "a"]),
        (pick_n(2), ["c", "b", "-a"]),
        (fixed("b", "a"), ["b", "a"]),
    ],
)
def test_new_picks_come_as_they_were_picked(wanted: PlacementPolicy, order: list[str]) -> None:
    assert entries(run(ABC, wanted)) == order


def test_new_ones_come_before_obsolete_before_revived_before_scheduled_before_bound() -> None:
    # c is obsolete, b unscheduled, a scheduled and d bound under the current policy, e is new.
    first = run(labelled(c={}), pick_n(1)).memory
    members = labelled(b={}, d={})
    second = run(members, preferring(2, (1, {})), first).memory
    bindings = {**second.bindings, **first.bindings}
    states = {"b": "Unscheduled", "c": "Scheduled", "d": "Bound"}
    bindings = {
        name: attrs.evolve(binding, state=states[name], former_state="Bound" if name == "b" else "")
        for name, binding in bindings.items()
    }
    bindings["a"] = attrs.evolve(bindings["d"], state="Scheduled")
    memory = attrs.evolve(second, bindings=bindings)
    after = run(labelled(a={}, b={}, c={}, d={}, e={}), preferring(5, (1, {})), memory)
    assert entries(after) == ["e", "c", "b", "a", "d"]


def test_when_nothing_is_missing_bound_ones_come_first_and_nobody_is_explained() -> None:
    members = labelled(a={}, b={}, c={}, d={})
    first = run(members, pick_n(1)).memory.settled()
    second = run(members, pick_n(3), first)
    assert entries(second) == ["c", "b", "d", "-a"]
    assert entries(run(members, pick_n(3), second.memory)) == ["d", "b", "c"]


def test_after_scaling_in_the_trimmed_class_is_in_the_order_of_scores() -> None:
    members = valued(a="2", b="1", c="0")
    first = run(members, preferring(3, (10, by("p"))))
    assert entries(run(members, preferring(2, (10, by("p"))), first.memory)) == ["b", "a"]
    bound = first.memory.settled()
    assert entries(run(members, preferring(2, (10, by("p"))), bound)) == ["b", "a"]
    # A class that goes as a whole leaves the other one in the order of names.
    wider = run([*members, *valued(d="9")], preferring(4, (10, by("p"))), bound)
    assert entries(run([*members, *valued(d="9")], preferring(3, (10, by("p"))), wider.memory)) == [
        "a",
        "b",
        "c",
    ]


def test_without_a_surplus_scheduled_ones_stay_in_the_order_of_names() -> None:
    memory = run(valued(a="2", b="1", c="0"), preferring(3, (10, by("p")))).memory
    stale = attrs.evolve(memory.bindings["c"], snapshot=-1)
    memory = attrs.evolve(memory, bindings={**memory.bindings, "c": stale})
    assert entries(run(valued(a="2", b="1", c="0"), preferring(2, (10, by("p"))), memory)) == [
        "a",
        "b",
    ]


def test_the_rest_is_explained_best_first_then_by_name() -> None:
    members = [*valued(x="1", y="3", z="2"), *(Cluster(n, taints=(Taint("k"),)) for n in "cab")]
    assert entries(run(members, preferring(1, (10, by("p"))))) == [
        "y",
        "-z",
        "-x",
        "-a",
        "-b",
        "-c",
    ]


# Limits


def test_twenty_others_are_explained() -> None:
    assert len(reasons(run(many(30), pick_n(2)))) == 20
    outscored_first = run(many(30, tainted=15), pick_n(3))
    assert entries(outscored_first)[3:] == [f"-m{i:03}" for i in (*range(26, 14, -1), *range(8))]
    assert len(reasons(run(many(30, tainted=15), pick_n(15)))) == 15
    assert len(reasons(run(many(30, tainted=25), PICK_ALL))) == 20


def test_members_that_are_selected_use_up_a_place_among_the_filtered() -> None:
    before = run(many(3), PICK_ALL).memory.settled()
    after = run(many(30, tainted=30), PICK_ALL, before)
    assert entries(after) == ["m000", "m001", "m002", *(f"-m{i:03}" for i in range(3, 20))]


@pytest.mark.parametrize(
    ("selected", "explained"), [(999, 1), (1000, 0), (1005, 0), (985, 15), (970, 20)]
)
def test_the_list_ends_at_a_thousand(selected: int, explained: int) -> None:
    members = [Cluster(f"m{i:04}") for i in range(1030)]
    listed = entries(run(members, pick_n(selected)))
    assert len(listed) == min(1000, selected) + explained
    assert sum(name.startswith("-") for name in listed) == explained
    tainted = [
        *members[:selected],
        *(attrs.evolve(m, taints=(Taint("k"),)) for m in members[selected:]),
    ]
    assert len(entries(run(tainted, PICK_ALL))) == min(1000, selected) + explained


# The status that stands


def again(
    decision: Decision[PlacementMemory], wanted: PlacementPolicy
) -> Decision[PlacementMemory]:
    rolled = roll_out(decision, "bindOnly")
    return run(ABC, wanted, rolled.memory, status=rolled.status)


def test_an_equal_status_keeps_its_order() -> None:
    first = run(ABC, pick_n(3))
    assert entries(run(ABC, pick_n(3), first.memory)) == ["a", "b", "c"]
    assert entries(again(first, pick_n(3))) == ["c", "b", "a"]


def test_a_status_that_lost_an_entry_is_written_anew() -> None:
    assert entries(again(run(ABC, pick_n(2)), pick_n(2))) == ["b", "c"]


def test_a_new_number_alone_writes_the_status_anew() -> None:
    first = run(ABC, pick_n(3))
    short = again(first, pick_n(4))
    assert entries(short) == ["a", "b", "c"]
    assert short.status.condition is not None
    assert short.status.condition.message == UNFULFILLED.format(3)
    # Going back changes the policy's generation, not the decisions.
    assert entries(again(attrs.evolve(first, status=short.status), pick_n(3))) == ["a", "b", "c"]


def test_a_condition_that_changes_writes_the_status_anew() -> None:
    first = run(ABC, pick_n(3))
    right = scheduled_condition(True, 3)
    for change, order in [
        ({"status": "False"}, "abc"),
        ({"reason": "Other"}, "abc"),
        ({"message": "Other"}, "cba"),
    ]:
        status = attrs.evolve(first.status, condition=attrs.evolve(right, **change))
        assert entries(again(attrs.evolve(first, status=status), pick_n(3))) == list(order)


def test_nothing_was_ever_written() -> None:
    condition = Status().placement_condition("ClusterResourcePlacement")
    assert attrs.astuple(condition) == (
        "ClusterResourcePlacementScheduled",
        "Unknown",
        "SchedulePending",
        "Scheduling has not completed",
    )


def test_an_empty_list_leaves_the_old_status_pending() -> None:
    before = run(ABC, fixed("a"))
    pending = run(ABC, fixed(), before.memory, status=before.status).status
    assert pending.placement_condition("").reason == "SchedulePending"
    same = run(ABC, fixed("a"), before.memory, status=before.status)
    assert same.status.placement_condition("").reason == "SchedulingPolicyFulfilled"
