"""What a plan knows of members that are lost, back, silent, or another cluster than before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.known_member import KnownMember
from fleet_components.plan.lost import memory_tokens, warn_of_silent
from fleet_components.plan.options import Options
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.ownership import arrivals
from fleet_components.plan.past import Past
from fleet_components.plan.source import read_source
from fleet_components.plan.standing import Standing
from fleet_components.rollout.rollout import Done
from tests.delivery.world import KubeFleetWorld

SHOP = "ClusterResourcePlacement/shop"
WEB = ObjectKey("apps", "Deployment", "shop", "web")
GONE = "v1|ConfigMap|shop|gone"


def planned(folder: Path, past: Past, *members: str, **options: Any) -> FleetPlan:
    world = KubeFleetWorld(members={name: {} for name in members})
    world.write(folder / "fleet")
    return plan_fleet(
        read_source(folder / "fleet"), past, Options(stack="o/p/s", fleet="dev", **options)
    )


def known(**members: KnownMember) -> Past:
    return Past(members={"a": KnownMember(), **members})


LOST_B = known(b=KnownMember(state=LOST, forgotten=(GONE,), identity="x"))


@pytest.mark.parametrize("marked", [True, False])
def test_what_a_lost_member_has_is_remembered_until_it_is_dropped(
    tmp_path: Path, marked: bool
) -> None:
    lost = frozenset({"b"} if marked else ())
    plan = planned(tmp_path, LOST_B, "a", lost=lost)
    assert plan.members == {"a": "member", "b": LOST}
    assert plan.remembered("b") == {"lost": True, "forgotten": [GONE]}
    token = frozenset(memory_tokens(plan).values())
    assert planned(tmp_path, LOST_B, "a", lost=lost, confirm=token).members == {"a": "member"}
    declared = planned(tmp_path, LOST_B, "a", "b", lost=frozenset("b"), confirm=token)
    assert (declared.members["b"], declared.remembered("b")["forgotten"]) == (LOST, [])
    assert declared.changes


def test_nothing_is_dropped_while_the_state_still_has_objects(tmp_path: Path) -> None:
    past = attrs.evolve(LOST_B, standing=(Standing(SHOP, "b", WEB, "apps/v1"),))
    token = LOST_B.members["b"].memory_token("b")
    assert planned(tmp_path, past, "a", confirm=frozenset({token})).members["b"] == LOST


def test_a_lost_member_that_is_back(tmp_path: Path) -> None:
    plan = planned(tmp_path, LOST_B, "a", "b")
    assert plan.returned == ("b",)
    assert [(str(item.key), item.fate) for item in plan.swept("b")] == [
        ("ConfigMap shop/gone", "swept")
    ]
    # What the state still has is deleted by the engine, and named once.
    gone = ObjectKey("", "ConfigMap", "shop", "gone")
    half = attrs.evolve(LOST_B, standing=(Standing(SHOP, "b", gone, "v1"),))
    found = [
        departure.fate
        for departure in planned(tmp_path, half, "a", "b").departures
        if departure.key == gone
    ]
    assert found == ["deleted"]


def test_a_lost_member_that_is_back_under_another_name(tmp_path: Path) -> None:
    plan = planned(tmp_path, LOST_B, "a", "c", identities={"c": "x"})
    assert plan.members == {"a": "member", "c": "member"}
    assert [str(item.key) for item in plan.swept("c")] == ["ConfigMap shop/gone"]


def test_members_that_do_not_answer(tmp_path: Path) -> None:
    done = {SHOP: {"a": Done(0)}}
    plan = planned(tmp_path, attrs.evolve(known(b=KnownMember()), done=done), "a", "b", "c")
    assert [str(attrs.evolve(item, hint="")) for item in warn_of_silent(plan, ["b", "c"])] == [
        "members b, c: do not answer: the update breaks there, in wave 1 of shop"
    ]
    quiet = attrs.evolve(plan, subjects=())
    assert [str(item) for item in warn_of_silent(quiet, ["b"])] == [
        "member b: does not answer: nothing is sent there in this update"
    ]


def test_objects_that_were_sent_to_another_cluster(tmp_path: Path) -> None:
    """They are to be brought again, and their member counts as broken until they are."""
    there, here = (Standing(SHOP, "b", WEB, "apps/v1", on=on) for on in ("", "2"))
    past = attrs.evolve(known(b=KnownMember(uid="2", anew="2")), done={SHOP: {"b": Done(0)}})
    for standing, broken in ((there, True), (here, False)):
        found = attrs.evolve(past, standing=(standing,)).with_unsettled_broken()
        assert found.done[SHOP]["b"].broken is broken
        assert bool(found.unsettled()) is broken
        keys = {arrival.key for arrival in arrivals(planned(tmp_path, found, "a", "b"), "b")}
        assert (WEB in keys) is broken
