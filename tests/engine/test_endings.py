"""The end of an update that fails, on real API servers: where it broke, said once, and the next run goes on there."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.control_planes import Planes, control_planes
from tests.delivery.test_staged import staged
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Story, config_map, deployment, namespace, placement, unchanged

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
UP = ("up", "--yes", "--skip-preview")
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}


@pytest.fixture(scope="module")
def planes() -> Iterator[Planes]:
    """Three, of which all but b have a node with a disk."""
    provider_or_skip()
    with control_planes("abc") as started:
        for name in "ac":
            started[name].kubectl("label", "node", "--all", "disk=ssd")
        yield started


@pytest.fixture
def fleet(
    planes: Planes, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Engine[Story]:
    """A Deployment on all three, which are updated one by one."""
    space = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))[:50].strip("-")
    world = Story(space, planes)
    for name in planes:
        world.join(name)
    rolling = placement("one", namespace(space))
    rolling["spec"]["strategy"] = ROLLING
    world.objects = {"space": namespace(space), "web": deployment(space), "one": rolling}
    engine = Engine(tmp_path_factory.mktemp("stack"), world=world, standin=False)
    assert (first := engine.up()).ok, first.text
    return engine


def images(fleet: Engine[Story]) -> dict[str, Any]:
    found = {name: fleet.world.live(name, "deployment", "web") for name in fleet.world.planes}
    return {
        name: live["spec"]["template"]["spec"]["containers"][0]["image"]
        for name, live in found.items()
    }


def broken(fleet: Engine[Story], *options: str) -> str:
    """Update, which fails; returns what is printed at the end, in which the last words stand once."""
    folder = temporary(fleet)
    code, text = fleet.command(*UP, *options)
    assert code != 0
    assert ours_in(folder) == []
    assert "Traceback" not in text, text
    _, _, end = text.partition("Diagnostics:")
    assert end.count(" broke on ") == 1, text
    return end


def temporary(engine: Engine[Any]) -> Path:
    """The folder for the temporary files of the next updates, and of nothing else."""
    folder = engine.folder / "temporary"
    folder.mkdir(exist_ok=True)
    engine.environment |= {"TMPDIR": str(folder), "XDG_RUNTIME_DIR": ""}
    return folder


def ours_in(folder: Path) -> list[Path]:
    """What the Kubernetes provider leaves there is not ours: a kubeconfig for each of its processes."""
    return [path for path in folder.iterdir() if not path.name.startswith("kubeconfig")]


def last_words(space: str) -> str:
    return (
        f"warning: one: wave 2 broke on b (Deployment {space}/web); wave 3 is not touched (c); "
        "the next pulumi up begins with b"
    )


def test_a_workload_that_can_never_run(fleet: Engine[Story]) -> None:
    """The wait ends when it is said to, the error names object, member and reason, and the next run goes on."""
    world, space = fleet.world, fleet.world.space
    world.objects["web"] = deployment(space, "web:2", nodeSelector={"disk": "ssd"})
    world.objects["web"]["spec"]["progressDeadlineSeconds"] = 1
    world.config["readyTimeout"] = "5"
    text = broken(fleet)
    assert f"Deployment (dev/one@b/{space}/web)" in text
    assert "timed out waiting to be Ready" in text
    assert "[ProgressDeadlineExceeded]" in text
    assert last_words(space) in text
    assert images(fleet) == {"a": "web:2", "b": "web:2", "c": "web:1"}
    assert fleet.runs() == {"a": 1, "b": 0, "c": 0}
    world.objects["web"] = deployment(space, "web:3")
    code, done = fleet.command(*UP)
    assert code == 0, done
    assert done.index("dev/one@b  waiting up to 5 s") < done.index("dev/one@a  waiting up to 5 s")
    assert set(images(fleet).values()) == {"web:3"}
    del world.config["readyTimeout"]
    unchanged(fleet)


def test_what_the_object_itself_says_of_its_timeout_counts(fleet: Engine[Story]) -> None:
    world, space = fleet.world, fleet.world.space
    world.objects["web"] = deployment(space, "web:2", waits=3, nodeSelector={"disk": "ssd"})
    world.config["readyTimeout"] = "3000"
    code, text = fleet.command(*UP)
    assert code != 0
    assert (
        f"waiting up to 3000 s for each object to become ready (Deployment {space}/web 3 s)" in text
    )
    assert last_words(space) in text
    # Not waited for at all.
    world.objects["web"]["metadata"]["annotations"] = {"pulumi.com/skipAwait": "true"}
    code, text = fleet.command(*UP)
    assert code == 0, text
    unchanged(fleet)


def test_an_object_that_is_refused(fleet: Engine[Story]) -> None:
    """By an admission policy of one member, which no preview of the others shows."""
    world, space = fleet.world, fleet.world.space
    world.planes["b"].kubectl("create", "quota", "none", "-n", space, "--hard=configmaps=0")
    world.objects["map"] = config_map(space)
    text = broken(fleet)
    assert "exceeded quota" in text
    assert f"one: wave 2 broke on b (ConfigMap {space}/c); wave 3 is not touched (c)" in text
    world.planes["b"].kubectl("delete", "quota", "none", "-n", space)
    code, text = fleet.command(*UP)
    assert code == 0, text
    unchanged(fleet)


def test_a_member_that_hangs(fleet: Engine[Story]) -> None:
    world, space = fleet.world, fleet.world.space
    world.objects["web"] = deployment(space, "web:2")
    world.planes["b"].pause()
    try:
        text = broken(fleet)
    finally:
        world.planes["b"].resume()
    assert "unreachable" in text
    assert last_words(space) in text
    code, text = fleet.command(*UP)
    assert code == 0, text
    assert set(images(fleet).values()) == {"web:2"}


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="finds processes by their environment in /proc"
)
def test_killed_in_a_wave(fleet: Engine[Story]) -> None:
    """No process of ours and none of our files is left, and the next update goes on with that wave."""
    world, space = fleet.world, fleet.world.space
    world.objects["web"] = deployment(space, "web:2", nodeSelector={"disk": "ssd"})
    folder = temporary(fleet)

    def reached() -> bool:
        return "nodeSelector" in world.live("b", "deployment", "web")["spec"]["template"]["spec"]

    with killed(fleet, reached):
        assert ours_in(folder) == []
    assert fleet.command("cancel", "--yes")[0] == 0
    assert images(fleet) == {"a": "web:2", "b": "web:2", "c": "web:1"}
    world.objects["web"] = deployment(space, "web:3")
    code, text = fleet.command(*UP)
    assert code == 0, text
    assert text.index(f"dev/one@b/{space}/web") < text.index(f"dev/one@a/{space}/web")
    assert set(images(fleet).values()) == {"web:3"}
    unchanged(fleet)


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="finds processes by their environment in /proc"
)
def test_killed_while_it_waits_for_the_next_stage(engine: Engine) -> None:
    """Nothing is asked of the engine meanwhile; the program notices all the same."""
    assert engine.up().ok
    staged(engine, {"type": "TimedWait", "waitTime": "800s"})
    engine.world.image = "web:2"
    folder = temporary(engine)
    with killed(engine, lambda: engine.runs() == {"a": 1, "b": 1, "c": 0, "d": 0}):
        assert ours_in(folder) == []


@contextmanager
def killed(engine: Engine[Any], reached: Callable[[], bool]) -> Iterator[None]:
    """Kill the command line in an update; the body runs when none of our processes is left."""
    mark = f"FLEET_TEST_MARK={engine.folder}"
    engine.environment |= dict([mark.split("=", 1)])
    process = engine.start(*UP)
    reading = threading.Thread(target=process.communicate)
    reading.start()
    try:
        wait_until(reached, lambda: process.poll() is None)
        assert any(map(is_ours, left(mark).values()))
        process.kill()
        process.wait()
        wait_until(lambda: not any(map(is_ours, left(mark).values())))
        yield
    finally:
        # The language host and the providers of Kubernetes look for their engine every five minutes.
        for item in left(mark):
            os.kill(item, signal.SIGKILL)
        reading.join()


def wait_until(reached: Callable[[], bool], alive: Callable[[], bool] = lambda: True) -> None:
    for _ in range(600):
        if reached():
            return
        assert alive()
        time.sleep(0.1)
    raise AssertionError("it never came so far")


def left(mark: str) -> dict[int, str]:
    """The command lines of the processes that have a mark in their environment."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                )
    return found


def is_ours(command: str) -> bool:
    """Whether it runs this package: the program, or the dynamic provider with the shell that has started it."""
    return any(
        word in command
        for word in ("pulumi-language-python-exec", "pulumi.dynamic", "pulumi-resource-pulumi-")
    )
