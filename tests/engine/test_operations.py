"""What users do to a stack besides previews and updates, and what may happen to them on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.engine.driver import Engine, engine_or_skip

pytestmark = pytest.mark.engine
PROGRAMS = Path(__file__).parent / "programs"
MEMBERS = ("**fleet:Member::**", "**::dev/members")
"""Every member is known to be the cluster that it was before anything is written to any."""


def interrupted(engine: Engine, cluster: str, sign: int) -> tuple[int, str]:
    """Update, and send a signal to the command line while a cluster is at work."""
    slow = engine.slow(cluster)
    process = engine.start("up", "--yes", "--skip-preview")
    try:
        _reached(engine, cluster, process)
        if sign == signal.SIGKILL:
            os.killpg(process.pid, sign)
        else:
            process.send_signal(sign)
    finally:
        slow.unlink()
        text, _ = process.communicate(timeout=120)
    return process.returncode, text


def _reached(engine: Engine, cluster: str, process: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if any(
            call["cluster"] == cluster and call["object"] == "shop/web" for call in engine.calls()
        ):
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    raise AssertionError(f"the update never came to {cluster}")


def changed(engine: Engine) -> None:
    assert engine.up().ok
    (engine.standin / "calls.jsonl").unlink()
    engine.world.image = "web:2"


def test_ctrl_c_in_a_wave(engine: Engine) -> None:
    """What was begun ends, the next wave does not begin, and the next run goes on from there."""
    changed(engine)
    code, _ = interrupted(engine, "b", signal.SIGINT)
    assert code != 0
    assert engine.images() == {"a": "web:2", "b": "web:2", "c": "web:1", "d": "web:1"}
    assert engine.runs() == {"a": 1, "b": 0, "c": 0, "d": 0}
    assert engine.up().ok
    assert engine.order() == ["c", "d"]
    assert engine.runs() == dict.fromkeys("abcd", 1)
    assert engine.preview().changes == {}


def test_killed_in_a_wave(engine: Engine) -> None:
    """The lock stays, and the engine says so; once it is released the next run goes on from there."""
    changed(engine)
    interrupted(engine, "b", signal.SIGKILL)
    locked = engine.up()
    assert not locked.ok
    assert "locked" in locked.text
    assert engine.command("cancel", "--yes")[0] == 0
    assert engine.runs() == {"a": 1, "b": 0, "c": 0, "d": 0}
    assert engine.up().ok
    assert engine.order() == ["b", "c", "d"]
    assert engine.images() == dict.fromkeys("abcd", "web:2")
    assert engine.preview().changes == {}


def test_a_preview_that_fails_ends_with_the_reason(engine: Engine) -> None:
    """The engine interrupts the program then, whose traceback would bury it."""
    plugin = engine.folder / "plugin" / "pulumi-resource-pulumi-python"
    plugin.write_text("#!/bin/sh\nexit 1\n")
    plugin.chmod(0o755)
    code, text = engine.command("preview")
    assert code != 0
    assert f"could not read plugin [{plugin}]" in text
    assert "Traceback" not in text, text


def test_two_programs_on_one_stack(engine: Engine) -> None:
    changed(engine)
    slow = engine.slow("b")
    first = engine.start("up", "--yes", "--skip-preview")
    try:
        _reached(engine, "b", first)
        code, text = engine.command("up", "--yes", "--skip-preview")
    finally:
        slow.unlink()
        first.communicate(timeout=120)
    assert code != 0
    assert "locked" in text
    assert first.returncode == 0
    assert engine.images() == dict.fromkeys("abcd", "web:2")


def test_target_moves_one_placement_alone(engine: Engine) -> None:
    """One cluster's target moves; what was decided for the others is still to be done, and is done next."""
    changed(engine)
    seen = engine.target("**fleet:Placement::dev/shop", "**::dev/shop@a", "**::dev/shop@a/**")
    assert seen.ok
    assert engine.images() == {"a": "web:2", "b": "web:1", "c": "web:1", "d": "web:1"}
    assert engine.runs() == {"a": 1, "b": 0, "c": 0, "d": 0}
    assert engine.up().ok
    assert engine.order() == ["b", "c", "d"]
    assert engine.preview().changes == {}


def test_target_of_a_new_stack(engine: Engine) -> None:
    # On a new stack the engine wants the parents to be named as well.
    # The roster is not among them: it waits for every member.
    parents = "**index:Fleet::dev", "**::dev/shop", "**::dev/shop@b"
    seen = engine.target(*parents, *MEMBERS, "**kubernetes::dev/*", "**::dev/shop@b/**")
    assert seen.ok, seen.text
    assert engine.images() == {"b": "web:1"}
    assert engine.up().ok
    assert engine.images() == dict.fromkeys("abcd", "web:1")
    assert engine.preview().changes == {}


def test_target_of_objects_alone(engine: Engine) -> None:
    """Neither decision nor binding know of it; the next update goes on without sending the object again."""
    changed(engine)
    assert engine.target("**::dev/shop@a/**").changes == {"Deployment shop@a/shop/web": "update"}
    assert engine.runs() == dict.fromkeys("abcd", 0)
    assert engine.up().ok
    assert engine.order() == ["b", "c", "d"]
    assert engine.runs() == dict.fromkeys("abcd", 1)
    assert engine.preview().changes == {}


def test_target_of_a_decision_alone(engine: Engine) -> None:
    changed(engine)
    assert engine.target("**fleet:Placement::dev/shop").changes == {"Placement shop": "update"}
    assert engine.images() == dict.fromkeys("abcd", "web:1")
    assert engine.up().ok
    assert engine.order() == ["a", "b", "c", "d"]
    assert engine.preview().changes == {}


def test_target_deletes_nothing_of_a_member_that_goes(engine: Engine) -> None:
    changed(engine)
    del engine.world.members["d"]
    assert engine.target("**fleet:Placement::dev/shop", "**::dev/shop@a", "**::dev/shop@a/**").ok
    assert engine.images() == {"a": "web:2", "b": "web:1", "c": "web:1", "d": "web:1"}
    assert engine.up().ok
    assert engine.images() == dict.fromkeys("abc", "web:2")
    assert engine.preview().changes == {}


def test_refresh_leaves_the_decisions_alone(engine: Engine) -> None:
    engine.up()
    engine.world.image = "web:2"
    engine.up(fails="b")
    before = engine.record()
    refreshed = engine.refresh()
    assert refreshed.ok, refreshed.text
    assert engine.record() == before
    assert engine.runs() == {"a": 1, "b": 0, "c": 0, "d": 0}
    assert engine.up().ok
    assert engine.order() == ["b", "c", "d"]
    assert engine.preview().changes == {}


def test_refresh_within_an_update(engine: Engine) -> None:
    changed(engine)
    done = engine.up_refreshed()
    assert done.ok, done.text
    assert engine.images() == dict.fromkeys("abcd", "web:2")
    assert engine.preview().changes == {}


@pytest.mark.parametrize(
    "command", [["--skip-preview"], [], ["--skip-preview", "--exclude-protected"]]
)
def test_destroy_is_stopped(engine: Engine, command: list[str]) -> None:
    """Nothing is deleted before the roster, which is protected."""
    assert engine.up().ok
    code, text = engine.command("destroy", "--yes", *command)
    if "--exclude-protected" not in command:
        assert code != 0
        assert "cannot be deleted" in text
        assert "protected" in text
    assert engine.images() == dict.fromkeys("abcd", "web:1")
    assert engine.runs() == dict.fromkeys("abcd", 0)
    assert engine.up().ok
    assert not [call for call in engine.calls() if call["object"] == "shop/web"]


def test_destroy_of_one_member_is_stopped(engine: Engine) -> None:
    assert engine.up().ok
    for further in ([], ["--target-dependents"]):
        code, _ = engine.command(
            "destroy", "--yes", "--skip-preview", "--target", "**::dev/shop@b/**", *further
        )
        assert code != 0
        assert engine.images() == dict.fromkeys("abcd", "web:1")


def test_destroy_that_is_meant(engine: Engine) -> None:
    assert engine.up().ok
    freed = engine.unprotect()
    assert freed.ok, freed.text
    gone = engine.destroy()
    assert gone.ok, gone.text
    assert engine.images() == {}
    assert not engine.state().resources


def test_a_program_without_its_fleet_is_stopped(engine: Engine) -> None:
    assert engine.up().ok
    (engine.project / "__main__.py").write_text("")
    for outcome in (engine.preview(), engine.up()):
        assert not outcome.ok
        assert "cannot be deleted" in outcome.text
    assert engine.images() == dict.fromkeys("abcd", "web:1")


@pytest.mark.parametrize("providers", ["false", "true"])
def test_clusters_that_the_same_program_creates(tmp_path: Path, providers: str) -> None:
    """Their kubeconfigs, or providers, are unknown in the first preview, which shows every object all the same."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", PROGRAMS / "clusters_first.py")
    engine.world.members = {}
    engine.world.config["own:providers"] = providers
    objects = {
        f"{kind} shop@{c}/{name}"
        for c in "xy"
        for kind, name in (("Namespace", "shop"), ("Deployment", "shop/web"))
    }
    shown = engine.preview()
    assert shown.ok, shown.text
    assert objects <= shown.changes.keys()
    assert engine.up().ok
    assert engine.images() == {"x": "web:1", "y": "web:1"}
    assert engine.preview().changes == {}


def test_the_state_holds_no_traces_of_a_fleet(engine: Engine) -> None:
    """They would be the larger part of it, and lead through this package; where a resource is made is still told."""
    assert engine.up().ok
    resources = [
        load
        for load in json.loads(engine.export())["resources"]
        if "fleet:index:Fleet" in load["urn"]
    ]
    assert resources
    assert [resource["urn"] for resource in resources if resource.get("stackTrace")] == []
    assert [resource["urn"] for resource in resources if not resource.get("sourcePosition")] == []
