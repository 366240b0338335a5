"""What happens to a member in the middle of its wave: it stops answering, it dies, its credentials are revoked."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import yaml

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import said
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Story, deployment, namespace, placement, unchanged
from tests.engine.test_endings import ROLLING, UP, images, last_words, wait_until
from tools.clusters.cluster import ControlPlane

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
WEB = ("deployment", "web")
STALL = 20.0
"""Seconds for which an API server does not answer."""


@pytest.fixture(scope="module")
def api_servers() -> Iterator[Planes]:
    """Three of its own."""
    provider_or_skip()
    with own_control_planes("abc") as started:
        yield started


@pytest.fixture
def fleet(story: Engine[Story], api_servers: Planes) -> Engine[Story]:
    """A Deployment on three members, which are updated one by one; it asks for nodes with a disk, as all have."""
    world = story.world
    world.planes = api_servers
    world.join("c")
    for plane in api_servers.values():
        label(plane, "disk=ssd")
    rolling = placement("one", namespace(world.space))
    rolling["spec"]["strategy"] = ROLLING
    world.objects = {"space": namespace(world.space), "web": web(world, "web:1"), "one": rolling}
    assert (first := story.up()).ok, first.text
    return story


def web(world: Story, image: str) -> dict[str, object]:
    return deployment(world.space, image, nodeSelector={"disk": "ssd"})


def label(plane: ControlPlane, text: str) -> None:
    plane.kubectl("label", "node", "--all", "--overwrite", text)


@contextmanager
def in_the_wave(fleet: Engine[Story], member: str) -> Iterator[subprocess.Popen[str]]:
    """Update the Deployment; the body runs while it waits on a member, whose nodes have no disk for now."""
    world = fleet.world
    label(world.planes[member], "disk-")
    world.objects["web"] = web(world, "web:2")
    process = fleet.start(*UP)
    try:
        wait_until(lambda: images(fleet)[member] == "web:2", lambda: process.poll() is None)
        yield process
    finally:
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    text, _ = process.communicate(timeout=300)
    assert "Traceback" not in text, text
    return process.returncode, text


def goes_on(fleet: Engine[Story], before: object) -> None:
    """The next update begins with b and ends with c; nothing was lost."""
    world = fleet.world
    label(world.planes["b"], "disk=ssd")
    assert "1 of 3 as decided" in said(fleet, "status", 2)
    code, text = fleet.command(*UP)
    assert code == 0, text
    assert f"dev/one@a/{world.space}/web" not in text
    finished(fleet, before)


def finished(fleet: Engine[Story], before: object) -> None:
    assert set(images(fleet).values()) == {"web:2"}
    assert fleet.world.uids(WEB, on="abc") == before
    unchanged(fleet)
    said(fleet, "status", 0, "--live")


def test_an_api_server_that_stops_answering_for_a_while(fleet: Engine[Story]) -> None:
    """The update waits for it, and goes through."""
    world, before = fleet.world, fleet.world.uids(WEB, on="abc")
    with in_the_wave(fleet, "b") as process:
        world.planes["b"].pause()
        time.sleep(STALL)
        world.planes["b"].resume()
        label(world.planes["b"], "disk=ssd")
        code, text = ended(process)
    assert code == 0, text
    finished(fleet, before)


def test_an_api_server_that_stops_answering_before_its_wave(fleet: Engine[Story]) -> None:
    """Its wave begins meanwhile."""
    world, before = fleet.world, fleet.world.uids(WEB, on="abc")
    with in_the_wave(fleet, "a") as process:
        world.planes["b"].pause()
        label(world.planes["a"], "disk=ssd")
        time.sleep(STALL)
        world.planes["b"].resume()
        code, text = ended(process)
    assert code == 0, text
    finished(fleet, before)


def test_an_api_server_that_dies(fleet: Engine[Story]) -> None:
    world, before = fleet.world, fleet.world.uids(WEB, on="abc")
    world.config["readyTimeout"] = "40"
    with in_the_wave(fleet, "b") as process:
        world.planes["b"].kill()
        code, text = ended(process)
    assert code != 0
    assert last_words(world.space) in text
    world.planes["b"].start()
    world.planes["b"].wait()
    assert images(fleet) == {"a": "web:2", "b": "web:2", "c": "web:1"}
    goes_on(fleet, before)


@pytest.mark.parametrize("wave", ["a", "b"])
def test_credentials_that_are_revoked(fleet: Engine[Story], wave: str) -> None:
    """The token of a ServiceAccount that is deleted in a wave.

    In the wave of its own member, what is waited for gets ready all the same. Before that wave the
    update breaks there, and goes on with another token.
    """
    world, before, plane = fleet.world, fleet.world.uids(WEB, on="abc"), fleet.world.planes["b"]
    world.config["kubeconfigs"]["b"] = as_account(plane, f"first-{wave}")
    assert (done := fleet.up()).ok, done.text
    assert world.uids(WEB, on="abc") == before
    with in_the_wave(fleet, wave) as process:
        plane.kubectl("delete", "serviceaccount", f"first-{wave}", "-n", "default")
        wait_until(lambda: not accepted(plane, world.config["kubeconfigs"]["b"]))
        label(world.planes[wave], "disk=ssd")
        code, text = ended(process)
    world.config["kubeconfigs"]["b"] = as_account(plane, f"second-{wave}")
    if wave == "b":
        assert code == 0, text
        assert (done := fleet.up()).ok, done.text
        finished(fleet, before)
        return
    print(text)
    assert code != 0
    assert "Unauthorized" in text
    assert last_words(world.space) in text
    assert images(fleet) == {"a": "web:2", "b": "web:1", "c": "web:1"}
    goes_on(fleet, before)


def as_account(plane: ControlPlane, name: str) -> str:
    """A kubeconfig with the token of a new ServiceAccount, which may do everything."""
    plane.kubectl("create", "serviceaccount", name, "-n", "default")
    role = ("--clusterrole=cluster-admin", f"--serviceaccount=default:{name}")
    plane.kubectl("create", "clusterrolebinding", f"account-{name}", *role)
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": plane.kubectl("create", "token", name, "-n", "default")}
    return str(yaml.safe_dump(config))


def accepted(plane: ControlPlane, kubeconfig: str) -> bool:
    """Whether an API server still knows the user of a kubeconfig: it remembers a token for some seconds."""
    file = plane.folder / "account"
    file.write_text(kubeconfig)
    asked = [str(plane.client), "--kubeconfig", str(file), "get", "namespace", "default"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0
