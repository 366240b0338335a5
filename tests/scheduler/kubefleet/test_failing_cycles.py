"""What makes a whole scheduling cycle fail, and what then stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.model.inventory import Inventory
from fleet_components.systems.kubefleet.model.memory import BOUND, Binding, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.scheduler.explain import explain
from tests.scheduler.kubefleet.builders import (
    Members,
    by,
    label,
    labelled,
    member,
    pick_n,
    preferring,
    requiring,
    run,
    valued,
    where,
)

FRAME = (
    "unexpected behavior which cannot be handled by the controller: "
    "plugin ClusterAffinity returned an error InternalError, "
)
FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NO_QUANTITY = f"value v1.30 of property p from cluster b is not a valid quantity: {FORM}"
IN_FILTER = ", failed to match the cluster against a required affinity term"
IN_SCORE = ", failed to prepare plugin state"
GARBAGE = valued(a="1", b="v1.30", c="2")
USAGE = "resources.kubernetes-fleet.io/"


@pytest.mark.parametrize(
    ("members", "policy", "error"),
    [
        (GARBAGE, requiring("PickAll", None, where("p", "Ge", "1")), NO_QUANTITY + IN_FILTER),
        (GARBAGE, preferring(1, (1, by("p"))), NO_QUANTITY + IN_SCORE),
        (GARBAGE, preferring(1, (0, by("p"))), NO_QUANTITY + IN_SCORE),
        (
            [member("m")],
            requiring("PickAll", None, where(f"{USAGE}allocatable-ephemeral-storage", "Ge", "1")),
            "failed to retrieve resource property value for allocatable-ephemeral-storage from cluster m: "
            f"invalid resource property name: allocatable-ephemeral-storage{IN_FILTER}",
        ),
        (
            [member("m")],
            preferring(1, (1, by(f"{USAGE}free-cpu"))),
            "failed to retrieve resource property value for free-cpu from cluster m: "
            f"invalid capacity type free in resource property name free-cpu{IN_SCORE}",
        ),
        (
            [member("m")],
            preferring(1, (1, by(f"{USAGE}total-"))),
            "failed to retrieve resource property value for total- from cluster m: "
            f"invalid resource property name: total-{IN_SCORE}",
        ),
        # No webhook looks at a ResourcePlacement, so these reach the scheduler.
        (
            valued(m="1"),
            requiring("PickAll", None, where("p", "Ge", "x")),
            f"value specified in property selector x is not a valid resource quantity: {FORM}{IN_FILTER}",
        ),
        (
            valued(m="1"),
            requiring("PickAll", None, where("p", "Ge", "1", "2")),
            f"more than one value in the property selector expression{IN_FILTER}",
        ),
        (
            [member("m")],
            requiring(
                "PickAll",
                None,
                {"labelSelector": {"matchExpressions": [{"key": "k", "operator": "Is"}]}},
            ),
            f'failed to parse label selector: "Is" is not a valid label selector operator{IN_FILTER}',
        ),
        (
            [member("m")],
            preferring(
                1, (1, {"labelSelector": {"matchExpressions": [{"key": "k", "operator": "In"}]}})
            ),
            "failed to calculate score for cluster m: failed to parse label selector: values: Invalid value: null: "
            "for 'in', 'notin' operators, values set can't be empty",
        ),
    ],
)
def test_the_cycle_fails_as_a_whole(members: Members, policy: PlacementPolicy, error: str) -> None:
    decision = run(members, policy)
    assert decision.error == FRAME + error
    assert decision.memory.bindings == {}
    condition = decision.status.placement_condition("ClusterResourcePlacement")
    assert (condition.status, condition.reason) == ("Unknown", "SchedulePending")


@pytest.mark.parametrize(
    "terms",
    [
        [{**label(env="prod"), **where("p", "Ge", "1")}],  # the label selector stops it first
        [{}, where("p", "Ge", "1")],  # an earlier term matches
        [where("q", "Ge", "1")],  # another property
        [where("q", "Ge", "x")],  # nobody has the property that is compared with nonsense
    ],
)
def test_what_no_member_reaches_does_no_harm(terms: list[Any]) -> None:
    assert run(GARBAGE, requiring("PickAll", None, *terms)).error == ""


def test_a_selector_that_nobody_can_be_asked_about_does_no_harm() -> None:
    wrong = {"labelSelector": {"matchExpressions": [{"key": "k", "operator": "Is"}]}}
    assert run([], requiring("PickAll", None, wrong)).error == ""
    assert run([member("m", leaving=True)], preferring(1, (1, wrong))).error == ""
    assert run([member("m")], preferring(1, (0, wrong))).error == ""
    assert run([member("m")], requiring("PickAll", None, {}, wrong)).error == ""


def test_an_earlier_expression_stops_the_evaluation_of_a_later_one() -> None:
    terms = where("q", "Ge", "1")["propertySelector"]["matchExpressions"]
    terms += where("p", "Ge", "1")["propertySelector"]["matchExpressions"]
    either = {"propertySelector": {"matchExpressions": terms}}
    assert run(GARBAGE, requiring("PickAll", None, either)).error == ""
    terms.reverse()
    assert run(GARBAGE, requiring("PickAll", None, either)).error.startswith(FRAME)


def test_a_failed_cycle_leaves_bindings_and_status() -> None:
    members = valued(a="1", b="2")
    before = run(members, preferring(1, (10, by("p"))))
    after = run(GARBAGE, preferring(2, (10, by("p"))), before.memory, status=before.status)
    assert after.error
    assert after.memory.bindings == before.memory.bindings
    assert after.status.decisions == before.status.decisions
    assert after.status.placement_condition("ClusterResourcePlacement").reason == "SchedulePending"


def test_members_that_are_gone_are_given_up_before_the_cycle_fails() -> None:
    before = run(valued(a="1", z="2"), preferring(2, (10, by("p"))))
    after = run(GARBAGE, preferring(2, (10, by("p"))), before.memory)
    assert after.error
    assert after.memory.selected == ("a",)


def test_a_satisfied_placement_runs_no_cycle_that_could_fail() -> None:
    before = run(valued(a="1"), preferring(1, (10, by("p"))))
    assert run(GARBAGE, preferring(1, (10, by("p"))), before.memory).error == ""


def test_values_beyond_all_floats_cannot_be_ranked() -> None:
    assert "cannot interpolate" in run(valued(a="1", b="9e400"), preferring(1, (10, by("p")))).error
    assert (
        run(valued(a="1", b="9e400"), requiring("PickAll", None, where("p", "Gt", "1e399"))).error
        == ""
    )


@pytest.mark.parametrize(
    "policy",
    [
        requiring("PickN", 2, where("p", "Ge", "1")),
        requiring("PickN", 2, {**label(env="prod"), **where("p", "Ge", "nonsense")}),
        preferring(2, (10, by("p"))),
        preferring(2, (10, by("p")), topologySpreadConstraints=[{"topologyKey": "zone"}]),
    ],
)
def test_explain_does_not_fail(policy: PlacementPolicy) -> None:
    before = run(labelled(a={"env": "prod"}, b={}), pick_n(1))
    decision = run(GARBAGE, policy, before.memory)
    explained = explain(Inventory(GARBAGE), policy, decision)
    assert [entry.cluster for entry in explained] == ["a", "b", "c"]
    assert bool(decision.error) is any(
        "failed to" in entry.summary + str(entry.verdicts) for entry in explained
    )


def test_explain_says_what_fails() -> None:
    wanted = requiring("PickN", 9, where("q", "Ge", "0"), where("p", "Ge", "2"))
    held = PlacementMemory(0, wanted, {name: Binding(BOUND, 0, 0, 0, 0) for name in "abc"})
    decision = run(GARBAGE, wanted, held)
    a, b, c = explain(Inventory(GARBAGE), wanted, decision)
    # What is wrong with b says nothing about a and c.
    assert (a.verdicts[0].passed, c.verdicts[0].passed) == (False, True)
    assert (b.verdicts[0].plugin, b.verdicts[0].passed) == ("ClusterAffinity", False)
    assert NO_QUANTITY in b.verdicts[0].words
    assert [verdict.plugin for verdict in b.verdicts] == [verdict.plugin for verdict in a.verdicts]


def test_explain_says_which_score_fails() -> None:
    wanted = preferring(9, (1, by("p")))
    held = PlacementMemory(0, wanted, {"c": Binding(BOUND, 0, 0, 0, 0)})
    a, _, c = explain(Inventory(GARBAGE), wanted, run(GARBAGE, wanted, held))
    assert (a.selected, a.summary.partition(":")[0], a.verdicts) == (
        False,
        "nothing could be decided",
        (),
    )
    assert (c.verdicts[-1].plugin, c.verdicts[-1].passed, c.verdicts[-1].score) == (
        "ClusterAffinity",
        None,
        None,
    )
    assert NO_QUANTITY in c.verdicts[-1].words


def test_nothing_meets_nonsense() -> None:
    wanted = requiring("PickAll", None, {**label(env="prod"), **where("p", "Ge", "x", "y")})
    members = valued(a="1")
    entry = explain(Inventory(members), wanted, run(members, wanted))[0]
    assert (entry.verdicts[0].passed, entry.verdicts[0].remedy) == (False, "")
