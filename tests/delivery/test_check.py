"""What the engine does to values between two runs must not matter to a decision."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pulumi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.dynamic import PlacementProvider, RosterProvider
from fleet_components.model.inventory import Inventory
from fleet_components.plan.feed import feed_inventory, feed_request, write_feed
from fleet_components.plan.place import Request
from fleet_components.plan.source import read_source
from fleet_components.rollout.plan import Done
from tests.delivery.world import World

SEEDS = st.randoms(use_true_random=False)


def news(folder: Path, world: World, done: dict[str, Done] | None = None) -> dict[str, Any]:
    """The inputs of the placement, as the program gives them."""
    world.write(folder)
    source = read_source(folder)
    (workload,) = source.workloads()
    inventory = Inventory(source.clusters)
    request = Request(
        key=workload.name,
        policy=workload.placement.spec.policy,
        strategy=workload.strategy,
        inventory=inventory,
        objects=workload.objects,
        done=done or {},
    )
    feed = feed_request(request, feed_inventory(inventory), limit=0.5, confirm=())
    return {"key": "ClusterResourcePlacement/shop", "feed": feed, "contents": {}, "__provider": "p"}


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


def half_way() -> World:
    """A rollout of a second content, of which some clusters are held back."""
    return World(image="web:2", policy={"placementType": "PickN", "numberOfClusters": 3})


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_order_and_floats_change_nothing(tmp_path_factory: pytest.TempPathFactory, rng: random.Random) -> None:
    folder = tmp_path_factory.mktemp("fleet")
    first = checked({}, news(folder, World(policy={"placementType": "PickN", "numberOfClusters": 3})))
    done = {cluster: Done(0) for cluster in first["decisions"]}
    given_now = news(folder, half_way(), done)
    expected = checked(first, given_now)
    assert expected["revision"] == 1
    assert checked(as_the_engine(first, rng), as_the_engine(given_now, rng)) == expected
    assert checked(as_the_engine(expected, rng), given_now) == expected


def test_unknown_inputs_hold_what_was_decided(tmp_path: Path) -> None:
    before = checked({}, news(tmp_path, World()))
    for unknown in ({"policy": pulumi.output.Unknown()}, {"policy": {"clusterNames": [pulumi.output.Unknown()]}}):
        given_now = {**news(tmp_path, World(image="web:2", members={"a": {}})), **unknown}
        assert checked(before, given_now) == before


def test_unknown_members_hold_the_roster() -> None:
    before = {"key": "dev", "members": {"a": "member", "b": "member"}, "__provider": "p"}
    given_now = {"key": pulumi.output.Unknown(), "members": None, "feed": {"path": "x"}, "__provider": "p"}
    assert RosterProvider().check(before, given_now).inputs == before


def test_only_the_decision_is_kept(tmp_path: Path) -> None:
    """Neither the members' records nor the objects in plain go into the state."""
    world = World(members={"a": {"owner": "SOMEBODY"}})
    kept = checked({}, news(tmp_path, world))
    assert kept.keys() == {"key", "__provider", "revision", "decisions", "memory", "contents", "digests"}
    assert "SOMEBODY" not in str(kept)
    assert "web:1" not in str(kept)


def test_a_feed_that_was_changed_meanwhile_is_not_used(tmp_path: Path) -> None:
    feed = write_feed({"members": {}, "limit": 1, "confirm": []})
    Path(feed["path"]).write_text("{}")
    with pytest.raises(ValueError, match="was changed while the program ran"):
        RosterProvider().check({}, {"key": "dev", "members": None, "feed": feed})


def test_feeds_are_for_their_owner_only(tmp_path: Path) -> None:
    feed = Path(news(tmp_path, World())["feed"]["path"])
    assert feed.stat().st_mode & 0o077 == 0
    assert feed.parent.stat().st_mode & 0o077 == 0
