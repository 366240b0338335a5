"""What the engine does to values between two runs must not matter to a decision."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pulumi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.dynamic import MemberProvider, PlacementProvider, RosterProvider
from fleet_components.plan.feed import feed_inventory, feed_subject, write_feed
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.guard import loss_token
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import read_source
from fleet_components.rollout.rollout import Done
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from tests.delivery.world import KubeFleetWorld

NAME = "ClusterResourcePlacement/shop"
SEEDS = st.randoms(use_true_random=False)


def news(
    folder: Path,
    world: KubeFleetWorld,
    olds: dict[str, Any] | None = None,
    done: dict[str, Done] | None = None,
) -> dict[str, Any]:
    """The inputs of the placement, as a program gives them that has ended by now: nothing of it is at hand."""
    world.write(folder)
    records = {NAME: PlacementRecord.from_wire(olds)} if olds else {}
    plan = plan_fleet(
        read_source(folder), Past(records=records, done={NAME: done or {}}), Options()
    )
    feed = feed_subject(plan.subjects[0], feed_inventory(plan.inventory))
    return {"key": NAME, "feed": feed, "contents": {}, "__provider": "p"}


def as_the_engine(value: Any, rng: random.Random) -> Any:
    """Numbers come back as floats, and maps in any order."""
    if isinstance(value, dict):
        items = [(key, as_the_engine(item, rng)) for key, item in value.items()]
        rng.shuffle(items)
        return dict(items)
    if isinstance(value, list | tuple):
        return [as_the_engine(item, rng) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def checked(olds: dict[str, Any], given_now: dict[str, Any]) -> dict[str, Any]:
    result = PlacementProvider().check(olds, given_now)
    assert not result.failures
    return dict(result.inputs)


def half_way() -> KubeFleetWorld:
    """A rollout of a second content, of which some clusters are held back."""
    return KubeFleetWorld(image="web:2", policy={"placementType": "PickN", "numberOfClusters": 3})


@given(SEEDS)
@settings(max_examples=25)
def test_order_and_floats_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("fleet")
    first = checked(
        {}, news(folder, KubeFleetWorld(policy={"placementType": "PickN", "numberOfClusters": 3}))
    )
    done = {cluster: Done(0) for cluster in first["decisions"]}
    given_now = news(folder, half_way(), first, done)
    expected = checked(first, given_now)
    assert expected["revision"] == 1
    assert checked(as_the_engine(first, rng), as_the_engine(given_now, rng)) == expected
    assert checked(as_the_engine(expected, rng), given_now) == expected


def test_unknown_inputs_hold_what_was_decided(tmp_path: Path) -> None:
    before = checked({}, news(tmp_path, KubeFleetWorld()))
    for unknown in (
        {"policy": pulumi.output.Unknown()},
        {"policy": {"clusterNames": [pulumi.output.Unknown()]}},
    ):
        given_now = {**news(tmp_path, KubeFleetWorld(image="web:2", members={"a": {}})), **unknown}
        assert checked(before, given_now) == before


def test_unknown_members_hold_the_roster() -> None:
    before = {"key": "dev", "members": {"a": "member", "b": "member"}, "__provider": "p"}
    given_now = {
        "key": pulumi.output.Unknown(),
        "members": None,
        "feed": {"path": "x"},
        "__provider": "p",
    }
    assert RosterProvider().check(before, given_now).inputs == before


def test_only_the_decision_is_kept(tmp_path: Path) -> None:
    """Neither the members' records nor the objects in plain go into the state."""
    world = KubeFleetWorld(members={"a": {"owner": "SOMEBODY"}})
    kept = checked({}, news(tmp_path, world))
    assert kept.keys() == {
        "key",
        "__provider",
        "format",
        "revision",
        "decisions",
        "memory",
        "contents",
        "digests",
    }
    assert "SOMEBODY" not in str(kept)
    assert "web:1" not in str(kept)


def test_a_feed_that_is_gone_is_an_error_with_what_to_do() -> None:
    feed = write_feed({"refused": ["of this test alone"]})
    Path(feed["path"]).unlink()
    (failure,) = RosterProvider().check({}, {"key": "dev", "members": None, "feed": feed}).failures
    assert f"{feed['path']}: was removed while the program ran (run it again" in failure.reason


def test_what_is_decided_otherwise_than_planned_is_refused(tmp_path: Path) -> None:
    """A state that has changed since the program read it must not be gone on from."""
    few = KubeFleetWorld(policy={"placementType": "PickN", "numberOfClusters": 1})
    planned = news(tmp_path, few)
    other = checked({}, news(tmp_path, KubeFleetWorld(members={"z": {}}, policy=few.policy)))
    (failure,) = (
        PlacementProvider().check({**other, "decisions": {}, "revision": 7}, planned).failures
    )
    assert "was planned from another state" in failure.reason


def test_a_roster_says_why_an_update_is_refused() -> None:
    feed = write_feed({"refused": ["the fleet: would lose everything"]})
    (failure,) = RosterProvider().check({}, {"key": "dev", "feed": feed}).failures
    assert failure.reason == "the fleet: would lose everything"


@pytest.mark.parametrize(
    ("old", "new", "confirm", "refused", "kept"),
    [
        (None, "u1", [], False, "u1"),
        ("u1", "u1", [], False, "u1"),
        ("u1", None, [], False, "u1"),
        ("u1", pulumi.output.Unknown(), [], False, "u1"),
        (None, None, [], False, None),
        ("u1", "u2", [], True, "u2"),
        ("u1", "u2", ["other"], True, "u2"),
    ],
)
def test_a_member_stays_the_cluster_that_it_was(
    old: str | None, new: Any, confirm: list[str], refused: bool, kept: str | None
) -> None:
    result = MemberProvider().check(
        {"member": "a", "uid": old},
        {"member": "a", "uid": new, "confirm": confirm, "__provider": "p"},
    )
    assert bool(result.failures) is refused
    assert result.inputs.get("uid") == kept
    assert "confirm" not in result.inputs
    if refused:
        assert "leads to another cluster" in result.failures[0].reason
        token = result.failures[0].reason.partition("fleet:confirm=")[2][:8]
        again = MemberProvider().check(
            {"member": "a", "uid": old}, {"member": "a", "uid": new, "confirm": [token]}
        )
        assert not again.failures


def test_a_member_whose_name_leads_to_another_cluster_says_to_which() -> None:
    """Until then nothing is recorded, and an update in which it does not answer changes nothing."""
    token = loss_token("a", ["1", "2"])
    first = MemberProvider().check({}, {"member": "a", "uid": "1"}).inputs
    assert "anew" not in first
    other = MemberProvider().check(first, {"member": "a", "uid": "2", "confirm": [token]}).inputs
    assert (other["uid"], other["anew"]) == ("2", "2")
    for uid in ("2", None):
        assert MemberProvider().check(other, {"member": "a", "uid": uid}).inputs == other
