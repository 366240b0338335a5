"""What a placement keeps, takes and gives up while members, policy and number change."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.model.cluster import Agent, Cluster, Taint
from fleet_components.model.decision import Decision, Status
from fleet_components.systems.kubefleet.model.memory import (
    BOUND,
    SCHEDULED,
    UNSCHEDULED,
    Binding,
    PlacementMemory,
)
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from tests.conformance.kubefleet_scheduling import roll_out
from tests.scheduler.kubefleet.builders import (
    by,
    label,
    labelled,
    pick_n,
    policy,
    preferring,
    requiring,
    run,
    spread,
    states,
    valued,
)

ABC = labelled(a={}, b={}, c={})
ABCD = labelled(a={}, b={}, c={}, d={})
PICK_ALL = policy("PickAll")


def fixed(*names: str) -> PlacementPolicy:
    return policy("PickFixed", clusterNames=list(names))


def after(decision: Decision[PlacementMemory], how: str) -> PlacementMemory:
    return roll_out(decision, how).memory


# New placements


@pytest.mark.parametrize(
    ("wanted", "selected"),
    [
        (None, ("a", "b", "c")),
        (PICK_ALL, ("a", "b", "c")),
        (pick_n(2), ("c", "b")),
        (pick_n(0), ()),
        (pick_n(9), ("c", "b", "a")),
        (fixed("b", "zz", "a"), ("b", "a")),
        (fixed(), ()),
    ],
)
def test_a_new_placement(wanted: PlacementPolicy | None, selected: tuple[str, ...]) -> None:
    decision = run(ABC, wanted)
    assert decision.memory.selected == selected
    assert decision.memory.snapshot == 0
    assert set(states(decision).values()) <= {SCHEDULED}


def test_a_missing_policy_is_written_out_for_cluster_scoped_placements_only() -> None:
    assert run(ABC, None).memory.policy == PICK_ALL
    assert run(ABC, None, run(ABC, PICK_ALL).memory).memory.snapshot == 0
    assert run(ABC, None, namespace="app").memory.policy is None
    assert (
        run(ABC, PICK_ALL, run(ABC, None, namespace="app").memory, namespace="app").memory.snapshot
        == 1
    )


def test_an_empty_fleet_satisfies_pick_all_only() -> None:
    found = {
        kind: run([], policy(kind, 1, clusterNames=["a"])).status.condition
        for kind in ("PickAll", "PickN")
    }
    assert [condition and condition.status for condition in found.values()] == ["True", "False"]


def test_pick_all_ignores_preferences() -> None:
    everywhere = attrs.evolve(preferring(1, (100, label(env="prod"))), placement_type="PickAll")
    decision = run(labelled(a={}, b={"env": "prod"}), everywhere)
    assert decision.memory.selected == ("a", "b")
    assert {binding.affinity_score for binding in decision.memory.bindings.values()} == {0}


def test_pick_fixed_ignores_all_but_eligibility() -> None:
    members = [
        Cluster("a", taints=(Taint("k"),), namespaces_collected=True),
        Cluster("b", leaving=True),
    ]
    assert run(members, fixed("a", "b"), namespace="app").memory.selected == ("a",)


# Members that change


@pytest.mark.parametrize("wanted", [PICK_ALL, pick_n(3), fixed("a", "b", "c")])
def test_what_was_picked_stays_whatever_its_member_becomes(wanted: PlacementPolicy) -> None:
    before = run(ABC, wanted).memory
    changed = [
        Cluster("a", taints=(Taint("k"),)),
        Cluster("b", observed=True, agent=None),
        Cluster("c", labels={"env": "other"}),
    ]
    assert run(changed, wanted, before).memory.selected == before.selected


@pytest.mark.parametrize("gone", [[], [Cluster("b", leaving=True)]])
@pytest.mark.parametrize(
    ("wanted", "selected"),
    [(PICK_ALL, ("a", "c", "d")), (pick_n(2), ("c", "d")), (fixed("a", "b"), ("a",))],
)
def test_a_member_that_goes_is_replaced(
    wanted: PlacementPolicy, selected: tuple[str, ...], gone: list[Any]
) -> None:
    before = run(ABC, wanted).memory.settled()
    decision = run([*labelled(a={}, c={}, d={}), *gone], wanted, before)
    assert decision.memory.selected == selected
    assert decision.memory.bindings["b"] == attrs.evolve(
        before.bindings["b"], state=UNSCHEDULED, former_state=BOUND
    )


def test_a_new_member_is_taken_by_pick_all_and_unfulfilled_pick_n_only() -> None:
    for wanted, takes in [
        (PICK_ALL, True),
        (pick_n(5), True),
        (pick_n(3), False),
        (fixed("a"), False),
    ]:
        before = run(ABC, wanted).memory.settled()
        assert ("d" in run(ABCD, wanted, before).memory.selected) is takes


def test_pick_all_takes_a_member_that_comes_to_match() -> None:
    wanted = requiring("PickAll", None, label(env="prod"))
    before = run(labelled(a={"env": "prod"}, b={}), wanted).memory.settled()
    assert run(labelled(a={}, b={"env": "prod"}), wanted, before).memory.selected == ("a", "b")


# The number


def test_scaling_in_takes_what_is_not_rolled_out_first_then_the_lowest_score() -> None:
    members = valued(a="0", b="1", c="2", d="3")
    wide = preferring(3, (10, by("p")))
    before = after(run(members, wide), "bindOnly")
    wider = run(members, preferring(4, (10, by("p"))), before)
    assert states(wider) == {"a": SCHEDULED, "b": BOUND, "c": BOUND, "d": BOUND}
    for number, selected in [(3, {"b", "c", "d"}), (2, {"c", "d"}), (1, {"d"}), (0, set())]:
        kept = run(members, preferring(number, (10, by("p"))), wider.memory)
        assert set(kept.memory.selected) == selected
        assert kept.memory.snapshot == 0


def test_scaling_in_by_less_than_is_not_rolled_out_keeps_the_best_of_it() -> None:
    members = valued(a="0", b="1", c="2")
    before = run(members, preferring(3, (10, by("p")))).memory
    assert run(members, preferring(1, (10, by("p"))), before).memory.selected == ("c",)


def test_scaling_in_among_equals_gives_up_the_earlier_name() -> None:
    before = run(ABCD, pick_n(4)).memory.settled()
    assert set(run(ABCD, pick_n(2), before).memory.selected) == {"c", "d"}


def test_scaling_in_keeps_the_smallest_lead() -> None:
    before = run(valued(a="1", b="0"), preferring(2, (1, by("p")))).memory.settled()
    assert run(valued(a="1", b="0"), preferring(1, (1, by("p"))), before).memory.selected == ("a",)


def test_stored_scores_decide_not_those_of_today() -> None:
    before = run(valued(a="1", b="2"), preferring(2, (10, by("p")))).memory.settled()
    assert run(valued(a="9", b="2"), preferring(1, (10, by("p"))), before).memory.selected == ("b",)


def test_spread_scores_come_before_affinity_when_scaling_in() -> None:
    def bound(spread_score: int, affinity: int) -> Binding:
        return Binding(BOUND, 0, 0, affinity, spread_score)

    memory = PlacementMemory(
        0, pick_n(3), {"a": bound(1, 0), "b": bound(-1, 100), "c": bound(0, 50)}
    )
    assert run(ABC, pick_n(2), memory).memory.selected == ("a", "c")
    assert run(ABC, pick_n(1), memory).memory.selected == ("a",)


def test_the_number_may_change_under_one_snapshot_anything_else_not() -> None:
    first = run(ABC, pick_n(1)).memory
    assert run(ABC, pick_n(2), first).memory.snapshot == 0
    second = run(ABC, preferring(2, (1, label(env="prod"))), first).memory
    assert second.snapshot == 1
    assert run(ABC, pick_n(1), second).memory.snapshot == 2  # going back makes a new one, too


def test_ranks_are_those_of_picking_and_stay() -> None:
    before = run(ABC, pick_n(2)).memory.settled()
    after = run(ABCD, pick_n(4), before).memory
    assert after.selected == ("c", "b", "d", "a")
    assert [after.bindings[name].rank for name in after.selected] == [0, 1, 2, 3]


# The policy


def test_a_new_policy_judges_old_picks_anew() -> None:
    before = run(ABC, pick_n(2)).memory.settled()
    members = [
        Cluster("a"),
        Cluster("b", taints=(Taint("k"),)),
        Cluster("c", agent=Agent(joined=False)),
    ]
    after = run(members, preferring(2, (1, {})), before)
    assert after.memory.selected == ("a",)
    assert states(after) == {"a": SCHEDULED, "b": UNSCHEDULED, "c": UNSCHEDULED}


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (PICK_ALL, requiring("PickAll", None, {})),
        (pick_n(3), preferring(3, (7, {}))),
        (fixed("a", "b", "c"), fixed("c", "b", "a")),
    ],
)
def test_what_is_picked_again_keeps_its_state(
    before: PlacementPolicy, wanted: PlacementPolicy
) -> None:
    first = attrs.evolve(run(ABC, before).memory)
    half = attrs.evolve(
        first, bindings={**first.bindings, "b": attrs.evolve(first.bindings["b"], state=BOUND)}
    )
    after = run(ABC, wanted, half)
    assert states(after) == {"a": SCHEDULED, "b": BOUND, "c": SCHEDULED}
    assert {binding.snapshot for binding in after.memory.bindings.values()} == {1}
    assert after.memory.selected == first.selected
    expected = 7 if wanted.placement_type == "PickN" else first.bindings["a"].affinity_score
    assert after.memory.bindings["a"].affinity_score == expected


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (PICK_ALL, requiring("PickAll", None, label(env="prod"))),
        (pick_n(3), requiring("PickN", 3, label(env="prod"))),
        (pick_n(3), requiring("PickN", 0, label(env="prod"))),
        (fixed("a", "b", "c"), fixed("zz")),
    ],
)
def test_what_is_not_picked_again_is_given_up(
    before: PlacementPolicy, wanted: PlacementPolicy
) -> None:
    after = run(ABC, wanted, run(ABC, before).memory.settled())
    assert states(after) == dict.fromkeys("abc", UNSCHEDULED)


def test_too_many_of_the_old_policy_are_given_up_together_with_the_surplus() -> None:
    memory = PlacementMemory(
        1,
        pick_n(1),
        {
            "a": Binding(BOUND, 1, 0, 0, 0),
            "b": Binding(BOUND, 0, 1, 0, 0),
            "c": Binding(SCHEDULED, 1, 2, 0, 0),
        },
    )
    assert states(run(ABC, pick_n(2), memory)) == {"a": BOUND, "b": UNSCHEDULED, "c": SCHEDULED}
    assert states(run(ABC, pick_n(1), memory)) == {"a": BOUND, "b": UNSCHEDULED, "c": UNSCHEDULED}


def test_a_name_taken_from_the_list_is_given_up() -> None:
    before = run(ABC, fixed("a", "b")).memory.settled()
    assert states(run(ABC, fixed("b", "c"), before)) == {
        "a": UNSCHEDULED,
        "b": BOUND,
        "c": SCHEDULED,
    }


def test_an_ineligible_name_keeps_what_it_has_until_the_policy_changes() -> None:
    before = run(ABC, fixed("a", "b")).memory.settled()
    silent = [Cluster("a", agent=Agent(joined=False)), Cluster("b"), Cluster("c")]
    kept = run(silent, fixed("a", "b"), before)
    assert states(kept) == {"a": BOUND, "b": BOUND}
    assert kept.status.condition is not None
    assert kept.status.condition.status == "False"
    assert states(run(silent, fixed("a", "b", "c"), before)) == {
        "a": UNSCHEDULED,
        "b": BOUND,
        "c": SCHEDULED,
    }


def test_an_empty_list_leaves_all_as_it_is() -> None:
    before = run(ABC, fixed("a")).memory.settled()
    after = run(ABC, fixed(), before)
    assert after.memory.selected == ("a",)
    assert after.memory.bindings["a"].snapshot == 0
    assert after.status == Status()


# Unscheduled bindings


@pytest.mark.parametrize(
    ("rollout", "state"), [("none", SCHEDULED), ("bindOnly", BOUND), ("full", SCHEDULED)]
)
def test_a_member_that_is_picked_again_takes_up_where_it_was(rollout: str, state: str) -> None:
    members = ABC[:2]
    first = after(run(members, pick_n(2)), rollout)
    given_up = after(run(members, pick_n(1), first), rollout)
    assert ("a" in given_up.bindings) is (rollout != "full")
    again = run(members, pick_n(2), given_up).memory
    assert again.bindings["a"].state == state
    assert again.bindings["a"].former_state == ""
    assert again.bindings["a"].rank == 1


def test_a_removal_that_the_rollout_holds_can_be_taken_back() -> None:
    decision = run(ABC, pick_n(1), run(ABC, pick_n(2)).memory.settled())
    held = decision.memory.settled(held=["b"])
    assert held.bindings["b"].state == UNSCHEDULED
    assert run(ABC, pick_n(2), held).memory.bindings["b"].state == BOUND
    assert "b" not in decision.memory.settled().bindings


def test_pick_fixed_takes_an_unscheduled_member_back() -> None:
    first = run(ABC, fixed("a", "b")).memory.settled()
    given_up = run(ABC, fixed("a"), first).memory
    assert states(run(ABC, fixed("a", "b"), given_up)) == {"a": BOUND, "b": BOUND}


def test_several_cycles_of_one_run_take_one_member_each() -> None:
    members = labelled(a={"zone": "1"}, b={"zone": "2"}, c={"zone": "3"})
    before = run(members, pick_n(3)).memory.settled()
    again = run(members, pick_n(3, topologySpreadConstraints=[spread("zone")]), before)
    # The first cycle gives up the others; later ones take them up again, still bound.
    assert states(again) == {"a": BOUND, "b": BOUND, "c": BOUND}
    assert {name: b.topology_spread_score for name, b in again.memory.bindings.items()} == {
        "a": 1,
        "b": 0,
        "c": -1,
    }
