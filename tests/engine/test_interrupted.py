"""An update that is stopped while an object waits: what it had written is undone when the source goes back."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.driver import Engine
from tests.engine.stories import Story, carried_out, deployment, namespace, placement, unchanged

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_stopped_while_an_update_waits(story: Engine[Story], sign: int) -> None:
    world, name = story.world, story.world.space
    space = namespace(name)
    world.objects = {"space": space, "web": deployment(name), "one": placement("one", space)}
    assert (first := story.up()).ok, first.text
    source, uids = world.source(), world.uids(("deployment", "web"))
    world.objects["web"] = deployment(name, "web:2", nodeSelector={"no": "node"})
    stop(story, sign, lambda: "nodeSelector" in pod(world, "a"))
    world.go_back(source)
    if sign == signal.SIGKILL:
        assert story.command("cancel", "--yes")[0] == 0
    assert "nodeSelector" in pod(world, "a")
    seen = carried_out(story)
    assert seen.changes[f"Deployment one@a/{name}/web"] == "update"
    assert f"Deployment one@b/{name}/web" not in seen.changes
    assert "nodeSelector" not in pod(world, "a")
    assert pod(world, "a")["containers"][0]["image"] == "web:1"
    assert world.uids(("deployment", "web")) == uids
    # The next change goes its way.
    world.objects["web"] = deployment(name, "web:3")
    carried_out(story)
    assert pod(world, "a")["containers"][0]["image"] == "web:3"


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_stopped_while_a_new_object_waits(story: Engine[Story], sign: int) -> None:
    world, name = story.world, story.world.space
    space = namespace(name)
    world.objects = {"space": space, "one": placement("one", space)}
    assert (first := story.up()).ok, first.text
    world.objects["web"] = deployment(name, "web:2", nodeSelector={"no": "node"})
    stop(story, sign, lambda: bool(world.live("a", "deployment", "web")))
    if sign == signal.SIGKILL:
        assert story.command("cancel", "--yes")[0] == 0
    world.objects["web"] = deployment(name)
    before = world.uids(("deployment", "web"), on="a")
    done = story.up()
    assert done.ok, done.text
    assert world.uids(("deployment", "web"), on="a") == before
    assert "nodeSelector" not in pod(world, "a")
    unchanged(story)


def pod(story: Story, plane: str) -> dict[str, Any]:
    spec: dict[str, Any] = story.live(plane, "deployment", "web")["spec"]["template"]["spec"]
    return spec


def stop(story: Engine[Story], sign: int, reached: Callable[[], bool]) -> None:
    """Update, and send a signal to the command line once it has come so far."""
    process = story.start("up", "--yes", "--skip-preview")
    try:
        wait(reached, process)
        if sign == signal.SIGKILL:
            os.killpg(process.pid, sign)
        else:
            process.send_signal(sign)
    finally:
        process.communicate(timeout=120)


def wait(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    for _ in range(300):
        if reached():
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.1)
    raise AssertionError("the update never came there")
