"""Rollouts that take several updates, driven to their end through the Pulumi CLI."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.delivery.test_staged import ALL, CANARY, released
from tests.engine.driver import Engine

pytestmark = pytest.mark.engine
ROLLOUT = ("rollout", ".", "--stack", "dev", "--yes")


def moving(engine: Engine, members: str = "ab", to: str = "cd") -> None:
    """A placement without surge moves: a removal has to come before an addition."""
    world = engine.world
    world.members = {name: {} for name in sorted({*members, *to})}
    world.policy = {"placementType": "PickFixed", "clusterNames": list(members)}
    world.rolling = {"maxUnavailable": 1, "maxSurge": 0}
    world.config = {"limit": 1}
    assert engine.up().ok
    world.policy = {"placementType": "PickFixed", "clusterNames": list(to)}


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    with process:
        out, err = process.communicate(timeout=300)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def document(engine: Engine, *options: str) -> tuple[int, dict[str, Any]]:
    status, out, err = ended(engine.fleet(*ROLLOUT, "-o", "json", *options))
    assert out, err
    return status, json.loads(out)


def reached(engine: Engine, cluster: str, process: subprocess.Popen[str]) -> None:
    """Wait until a cluster is asked for something."""
    for _ in range(600):
        if any(call["cluster"] == cluster for call in engine.calls()):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError(f"nothing came to {cluster}")


def test_strict_surge_takes_as_many_updates_as_it_says(engine: Engine) -> None:
    moving(engine)
    status, text, _ = ended(engine.fleet(*ROLLOUT))
    assert status == 0
    assert "left: 2 more updates" in text
    told = [line for line in text.splitlines() if line.startswith("update ")]
    assert told == [
        "update 1 of 3: shop: a",
        "update 1 of 3: shop: a is left",
        "update 1 of 3: shop: a has been left",
        "update 1 of 3: done",
        "update 2 of 3: shop: c, b",
        "update 2 of 3: shop, wave 1: c joins",
        "update 2 of 3: shop, wave 1: c has joined",
        "update 2 of 3: shop: b is left",
        "update 2 of 3: shop: b has been left",
        "update 2 of 3: done",
        "update 3 of 3: shop: d",
        "update 3 of 3: shop, wave 1: d joins",
        "update 3 of 3: shop, wave 1: d has joined",
        "update 3 of 3: done",
    ]
    assert text.splitlines()[-1] == "rolled out in 3 updates"
    assert engine.images() == {"c": "web:1", "d": "web:1"}
    assert engine.preview().changes == {}


def test_it_stops_at_an_approval_and_goes_on_after_it(engine: Engine) -> None:
    released(engine, {"type": "Approval"})
    status, out, _ = ended(engine.fleet(*ROLLOUT, "--detailed-exitcode"))
    assert status == 2
    assert out.splitlines()[-3:] == [
        "update 1 of 1+: done",
        "stopped after 1 update: approval go-after-canary is needed, and no update goes past it",
        "to go on: fleet approve go-after-canary, then fleet rollout . --stack dev",
    ]
    assert engine.images() == CANARY
    engine.world.config = {"approvals": "go-after-canary"}
    status, done = document(engine)
    assert (status, done["ending"], len(done["updates"])) == (0, "done", 1)
    assert engine.images() == ALL


def test_it_waits_for_a_time_when_it_is_asked_to(engine: Engine) -> None:
    released(engine, {"type": "TimedWait", "waitTime": "20s"})
    engine.world.config = {"maxWait": 1}
    status, stopped = document(engine)
    assert (status, stopped["ending"]) == (0, "stopped")
    assert engine.images() == CANARY
    status, done = document(engine, "--wait")
    assert (status, done["ending"]) == (0, "done")
    assert engine.images() == ALL
    assert "asOf" not in (engine.project / "Pulumi.dev.yaml").read_text()


@pytest.mark.parametrize("times", [1, 2])
def test_stopped_in_the_middle_and_resumed(engine: Engine, times: int) -> None:
    moving(engine)
    slow = engine.slow("c")
    process = engine.fleet(*ROLLOUT)
    reached(engine, "c", process)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(1)
    if times == 1:
        slow.unlink()
    status, text, _ = ended(process)
    assert status == 1
    lines = text[text.index("interrupted") :].splitlines()
    assert lines[0] == "interrupted in update 2 of 3"
    assert lines[1:3] == ["begun and not finished: c", "not touched: b"]
    assert lines[-1] == "to go on: fleet rollout . --stack dev; it begins where this one stopped"
    if times == 2:
        slow.unlink()
        assert "the stack is still locked: pulumi cancel --stack dev" in lines
        assert engine.command("cancel", "--yes")[0] == 0
    status, done = document(engine)
    assert (status, done["ending"]) == (0, "done")
    assert engine.images() == {"c": "web:1", "d": "web:1"}


def test_an_update_that_fails_says_what_stands_and_the_next_call_goes_on(engine: Engine) -> None:
    moving(engine)
    engine.fail(["c"])
    status, failed = document(engine)
    assert (status, failed["ending"]) == (1, "failed")
    assert [update["succeeded"] for update in failed["updates"]] == [True, False]
    last = failed["updates"][-1]
    assert [item["member"] for item in last["members"]["failed"]] == ["c"]
    assert "c refuses Deployment/shop/web" in " ".join(last["errors"])
    engine.fail([])
    status, done = document(engine)
    assert (status, done["ending"]) == (0, "done")
    assert engine.images() == {"c": "web:1", "d": "web:1"}


def test_what_a_plan_refuses_is_not_begun(engine: Engine) -> None:
    moving(engine)
    engine.world.config = {"limit": 0.1}
    engine.world.rolling = {"maxUnavailable": 2, "maxSurge": 0}
    before = engine.images()
    status, text, err = ended(engine.fleet(*ROLLOUT))
    assert status == 3
    assert "the update is refused, for 1 reason" in text
    assert "refused: " not in err  # both go to pipes, whose reader sees the reason once
    assert text.splitlines()[-1] == "refused: nothing was updated"
    assert engine.images() == before


WRONG: dict[str, tuple[tuple[str, ...], Callable[[Path], dict[str, str]], str]] = {
    "another stack": (
        ("rollout", ".", "--stack", "prod", "--yes"),
        lambda _: {},
        'there is no stack "prod"',
    ),
    "no CLI": (ROLLOUT, lambda folder: {"PATH": str(folder)}, "the Pulumi CLI is not on PATH"),
    "another passphrase": (ROLLOUT, lambda _: {"PULUMI_CONFIG_PASSPHRASE": "wrong"}, "passphrase"),
    "no backend": (ROLLOUT, lambda _: {"PULUMI_BACKEND_URL": "file:///nowhere"}, "error: "),
    "nobody to ask": (ROLLOUT[:-1], lambda _: {}, "--yes begins without asking"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_a_line(engine: Engine, tmp_path: Path, name: str) -> None:
    moving(engine)
    command, environment, words = WRONG[name]
    status, out, err = ended(engine.fleet(*command, **environment(tmp_path)))
    assert status == 1
    assert words in err
    assert "update 1" not in out
