"""Topology spread: counts, skew, domains that nobody can reach, one member a cycle."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.systems.kubefleet.model.placement import PICK_ALL, TopologySpreadConstraint
from tests.scheduler.kubefleet.builders import (
    label,
    labelled,
    pick_n,
    policy,
    preferring,
    reasons,
    run,
    scores,
    spread,
)

VIOLATED = (
    'ClusterUnschedulable, violated doNotSchedule topology spread constraint "{}" (max skew {})'
)


def zones(**zone_of: str) -> list[Cluster]:
    """Members by name in their zones."""
    return labelled(**{name: {"zone": zone} for name, zone in zone_of.items()})


def spread_scores(
    members: list[Cluster], number: int, *constraints: dict[str, Any]
) -> list[tuple[str, int | None]]:
    """The picks in their order with the spread score that each had then."""
    decision = run(members, pick_n(number, topologySpreadConstraints=list(constraints)))
    return [(name, scores(decision)[name][1]) for name in decision.memory.selected]


def test_picks_alternate_between_domains() -> None:
    members = zones(a="1", b="1", c="1", d="2", e="2", f="3")
    # The first raises the skew; then the emptiest wins where it is the only one; with all alike it rises again.
    assert spread_scores(members, 6, spread("zone")) == [
        ("f", -1),
        ("e", 0),
        ("c", 1),
        ("d", -1),
        ("b", 0),
    ]


@pytest.mark.parametrize(("skew", "picked"), [(1, 3), (2, 4), (3, 5), (9, 5)])
def test_max_skew_limits_a_full_domain(skew: int, picked: int) -> None:
    members = zones(a="1", b="1", c="1", d="1", e="2")
    decision = run(members, pick_n(5, topologySpreadConstraints=[spread("zone", skew)]))
    assert len(decision.memory.selected) == picked
    assert set(reasons(decision).values()) == (
        {VIOLATED.format("zone", skew)} if picked < 5 else set()
    )
    assert decision.status.condition is not None
    assert decision.status.condition.reason == (
        "SchedulingPolicyFulfilled" if picked == 5 else "SchedulingPolicyUnfulfilled"
    )


def test_the_default_is_one_and_do_not_schedule() -> None:
    members = zones(a="1", b="1", c="2")
    members[2] = Cluster("c", labels={"zone": "2"}, leaving=True)
    decision = run(members, pick_n(2, topologySpreadConstraints=[{"topologyKey": "zone"}]))
    assert decision.memory.selected == ("b",)
    assert TopologySpreadConstraint("zone") == TopologySpreadConstraint("zone", 1, "DoNotSchedule")


@pytest.mark.parametrize(
    "unreachable",
    [
        Cluster("z", labels={"zone": "2"}, taints=(Taint("k"),)),
        Cluster("z", labels={"zone": "2"}, leaving=True),
        Cluster("z", labels={"zone": "2"}, observed=True, agent=None),
        Cluster("z", labels={"zone": ""}, leaving=True),
    ],
)
def test_a_domain_that_nobody_can_reach_counts(unreachable: Cluster) -> None:
    decision = run(
        [*zones(a="1", b="1"), unreachable], pick_n(2, topologySpreadConstraints=[spread("zone")])
    )
    assert decision.memory.selected == ("b",)


def test_members_without_the_label_are_outside() -> None:
    members = [*zones(a="1", b="1", y="2"), Cluster("n"), Cluster("o")]
    assert spread_scores(members, 9, spread("zone")) == [
        ("o", 0),
        ("n", 0),
        ("y", -1),
        ("b", 1),
        ("a", -1),
    ]


def test_one_domain_is_never_out_of_balance() -> None:
    assert len(spread_scores(zones(a="1", b="1", c="1"), 3, spread("zone"))) == 3


def test_spread_outranks_affinity() -> None:
    members = labelled(
        a={"zone": "1", "env": "prod"}, b={"zone": "1", "env": "prod"}, c={"zone": "2"}
    )
    constraint = [spread("zone", 5, "ScheduleAnyway")]
    decision = run(
        members, preferring(2, (100, label(env="prod")), topologySpreadConstraints=constraint)
    )
    assert decision.memory.selected == ("b", "c")
    assert scores(decision) == {"b": (100, -1), "c": (0, 1)}


def test_schedule_anyway_pays_for_a_violation() -> None:
    members = zones(a="1", b="1", c="1", z="2")
    assert spread_scores(members, 4, spread("zone", 1, "ScheduleAnyway")) == [
        ("z", -1),
        ("c", 1),
        ("b", -1),
        ("a", -1000),
    ]


def test_constraints_add_up_and_the_first_violated_one_is_named() -> None:
    members = labelled(
        a={"zone": "1", "rack": "1"},
        b={"zone": "1", "rack": "2"},
        c={"zone": "2", "rack": "1"},
        d={"rack": "3"},
    )
    members += [Cluster("x", labels={"zone": "3", "rack": "4"}, leaving=True)]
    decision = run(
        members, pick_n(9, topologySpreadConstraints=[spread("rack"), spread("zone", 2)])
    )
    assert decision.memory.selected == ("d", "c", "b")
    assert scores(decision) == {"b": (0, 0), "c": (0, -1), "d": (0, -1)}
    assert reasons(decision)["a"] == VIOLATED.format("rack", 1)


def test_constraints_may_cancel_each_other_out() -> None:
    members = labelled(
        a={"zone": "2", "rack": "1"},
        b={"zone": "1", "rack": "2"},
        n={},
        z={"zone": "1", "rack": "1"},
    )
    soft = [spread("zone", 9, "ScheduleAnyway"), spread("rack", 9, "ScheduleAnyway")]
    decision = run(members[:2] + members[3:], pick_n(2, topologySpreadConstraints=soft))
    assert decision.memory.selected == ("z", "b")
    wider = run(members, pick_n(4, topologySpreadConstraints=soft), decision.memory.settled())
    assert set(wider.memory.selected) == {"a", "b", "n", "z"}
    assert [(n, scores(wider)[n][1]) for n in wider.memory.selected] == [
        ("z", -2),
        ("b", 0),
        ("n", 0),
        ("a", 0),
    ]


def test_hard_constraints_are_looked_at_before_soft_ones() -> None:
    members = labelled(a={"zone": "1"}, b={"zone": "1"}, c={"zone": "2"}, d={"zone": "2"})
    soft_first = [spread("zone", 1, "ScheduleAnyway"), spread("zone")]
    assert spread_scores(members, 4, *soft_first) == [("d", -2), ("b", 2), ("c", -2), ("a", 2)]


def test_too_much_skew_refuses_even_what_does_not_change_it() -> None:
    before = run(
        zones(a="1", b="1", c="1"), pick_n(3, topologySpreadConstraints=[spread("zone")])
    ).memory.settled()
    members = [*zones(a="1", b="1", c="1"), *zones(d="2", e="3")]
    decision = run(members, pick_n(5, topologySpreadConstraints=[spread("zone")]), before)
    assert set(decision.memory.selected) == {"a", "b", "c"}
    assert reasons(decision) == dict.fromkeys("de", VIOLATED.format("zone", 1))


def test_only_picks_under_the_current_policy_are_counted() -> None:
    members = zones(a="1", b="1", d="2")
    before = run(members[:2], pick_n(2)).memory.settled()
    after = run(members, pick_n(3, topologySpreadConstraints=[spread("zone")]), before)
    # Were a and b counted, only d could be picked; b is taken again first, as if nothing had been picked.
    assert scores(after) == {"a": (0, -1), "b": (0, -1), "d": (0, 1)}


def test_a_new_policy_with_spread_gives_up_all_but_the_first_pick() -> None:
    members = zones(a="1", b="2", c="1", d="2")
    before = run(members[:2], pick_n(2)).memory.settled()
    after = run(members, pick_n(2, topologySpreadConstraints=[spread("zone")]), before).memory
    assert {name: binding.state for name, binding in after.bindings.items()} == {
        "a": "Unscheduled",
        "b": "Bound",
        "c": "Scheduled",
    }


def test_a_pick_all_with_constraints_is_filtered_by_them() -> None:
    """A webhook refuses it for cluster-scoped placements; the scheduler does not ignore it."""
    everywhere = policy(PICK_ALL, topologySpreadConstraints=[spread("zone")])
    before = run(zones(a="1", b="1", c="2"), everywhere)
    assert before.memory.selected == ("a", "b", "c")
    after = run(zones(a="1", b="1", c="2", d="1", e="2"), everywhere, before.memory.settled())
    assert after.memory.selected == ("a", "b", "c", "e")
    assert reasons(after) == {"d": VIOLATED.format("zone", 1)}
