"""What depends on a fleet, or takes what it has delivered, waits for it; and what that does not cover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.delivery.driver import Outcome
from tests.delivery.test_staged import staged
from tests.engine.driver import Engine, engine_or_skip

pytestmark = pytest.mark.engine
PROGRAM = Path(__file__).parent / "programs" / "optioned.py"
WAITING = ("after-all", "after-one", "ordered", "ordered-too")
"""Beside the fleet: two that take what it has delivered, two that depend on it."""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Members a to d, in waves of one; nothing is delivered yet."""
    engine_or_skip()
    return Engine(tmp_path / "stack", PROGRAM)


def release(engine: Engine, image: str) -> None:
    engine.world.image = engine.world.config["own:image"] = image


def order(engine: Engine) -> list[str]:
    """What was done in the last update, in order: the member whose Deployment it was, or the name of what waits."""
    done = []
    for call in engine.calls():
        _, _, name = call["object"].rpartition("/")
        if call["cluster"] == "beside":
            done.append(name)
        elif name == "web":
            done.append(f"{call['cluster']}{' is left' if call['call'] == 'delete' else ''}")
    return done


def delivered(engine: Engine, name: str = "after-all") -> Any:
    """What one of them was given."""
    file = next((engine.standin / "clusters" / "beside").glob(f"*_{name}.json"))
    return json.loads(json.loads(file.read_text())["data"]["delivered"])


def went(outcome: Outcome) -> None:
    assert outcome.ok, outcome.text


def test_they_come_after_all_waves(engine: Engine) -> None:
    """On a new stack and in an update; a preview knows already what will have been delivered."""
    first = engine.preview()
    assert {f"ConfigMap {name}" for name in WAITING} <= first.changes.keys()
    went(engine.up())
    assert set(order(engine)[:4]) == set("abcd")
    assert delivered(engine) == {"shop": dict.fromkeys("abcd", 0)}
    assert delivered(engine, "after-one") == dict.fromkeys("abcd", 0)
    release(engine, "web:2")
    assert {f"ConfigMap {name}" for name in WAITING} <= engine.preview().changes.keys()
    went(engine.up())
    assert order(engine)[:4] == ["a", "b", "c", "d"]
    assert set(order(engine)[4:]) == set(WAITING)
    assert delivered(engine) == {"shop": dict.fromkeys("abcd", 1)}
    assert engine.stack.outputs()["delivered"].value == {"shop": dict.fromkeys("abcd", 1)}
    assert engine.preview().changes == {}


def test_they_are_not_touched_when_a_wave_fails(engine: Engine) -> None:
    went(engine.up())
    release(engine, "web:2")
    assert not engine.up(fails="b").ok
    assert order(engine) == ["a", "b"]
    assert delivered(engine) == {"shop": dict.fromkeys("abcd", 0)}
    went(engine.up())
    assert order(engine)[:3] == ["b", "c", "d"]
    assert set(order(engine)[3:]) == set(WAITING)


def test_a_member_that_is_held_is_not_waited_for(engine: Engine) -> None:
    """It has the revision that it keeps."""
    went(engine.up())
    staged(engine, {"type": "Approval"})
    release(engine, "web:2")
    went(engine.up())
    assert set(order(engine)) == {"a", "b", *WAITING}
    assert delivered(engine, "after-one") == {"a": 1, "b": 1, "c": 0, "d": 0}
    engine.world.config["approvals"] = "go-after-canary"
    went(engine.up())
    assert set(order(engine)) == {"c", "d", "after-all", "after-one"}
    assert delivered(engine, "after-one") == dict.fromkeys("abcd", 1)


def test_a_wait_between_stages_is_waited_for(engine: Engine) -> None:
    went(engine.up())
    staged(engine, {"type": "TimedWait", "waitTime": "2s"})
    release(engine, "web:2")
    done = engine.up()
    went(done)
    assert "waiting 2 s before the next wave" in done.text
    assert set(order(engine)[:2]) == {"a", "b"}
    assert set(order(engine)[2:4]) == {"c", "d"}
    assert set(order(engine)[4:]) == set(WAITING)


def test_what_goes_is_not_waited_for(engine: Engine) -> None:
    """The engine deletes at the end of an update."""
    went(engine.up())
    del engine.world.members["d"]
    release(engine, "web:2")
    went(engine.up())
    assert order(engine)[:3] == ["a", "b", "c"]
    assert set(order(engine)[3:7]) == set(WAITING)
    assert order(engine)[7:] == ["d is left"]
    assert delivered(engine) == {"shop": dict.fromkeys("abc", 1)}


def test_a_target_waits_for_nothing_that_is_none(engine: Engine) -> None:
    """What takes the place of the fleet is what stood before."""
    went(engine.up())
    (engine.standin / "calls.jsonl").unlink()
    release(engine, "web:2")
    went(engine.target("**ConfigMap::ordered", "**ConfigMap::after-all"))
    assert order(engine) == ["ordered"]
    assert delivered(engine) == {"shop": dict.fromkeys("abcd", 0)}
    went(engine.up())
    assert delivered(engine) == {"shop": dict.fromkeys("abcd", 1)}


def test_a_fleet_without_members_and_a_placement_that_nobody_has(engine: Engine) -> None:
    engine.world.policy = {"placementType": "PickN", "numberOfClusters": 0}
    engine.world.members = {}
    went(engine.up())
    assert set(order(engine)) == set(WAITING)
    assert delivered(engine) == {"shop": {}}
