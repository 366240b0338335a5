"""The control plane itself: an outage and a return, another address, and the commands of the Makefile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from tests.control_planes import built_or_skip, control_planes
from tools.clusters.binary import NO_GO
from tools.clusters.cluster import ControlPlane

pytestmark = pytest.mark.clusters
WEB = ("create", "deployment", "web", "--image=web:1", "--replicas=2")
AVAILABLE = ("wait", "deployment/web", "--for=condition=Available", "--timeout=60s")


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    with control_planes("x") as started:
        yield started["x"]


def test_what_was_there_is_there_after_an_outage_and_pods_get_ready_again(
    plane: ControlPlane,
) -> None:
    plane.kubectl("create", "configmap", "kept", "--from-literal=k=v")
    before = plane.kubeconfig.read_text(), plane.get("cm", "kept")
    plane.kill()
    assert not plane.running
    with pytest.raises(subprocess.CalledProcessError):
        plane.kubectl("get", "namespaces", "--request-timeout=5s")
    plane.start()
    plane.wait()
    assert plane.get("cm", "kept") == before[1]
    assert server(plane.kubeconfig.read_text()) == server(before[0])
    plane.kubectl(*WEB)
    plane.kubectl(*AVAILABLE)


def test_it_comes_back_with_another_address(plane: ControlPlane) -> None:
    cluster, before = (
        plane.get("ns", "kube-system")["metadata"]["uid"],
        plane.kubeconfig.read_text(),
    )
    plane.kill()
    (plane.folder / "port").unlink()
    plane.start()
    plane.wait()
    assert server(plane.kubeconfig.read_text()) != server(before)
    assert plane.get("ns", "kube-system")["metadata"]["uid"] == cluster


def test_it_hangs_and_goes_on(plane: ControlPlane) -> None:
    plane.pause()
    with pytest.raises(subprocess.CalledProcessError):
        plane.kubectl("get", "namespaces", "--request-timeout=1s")
    plane.resume()
    plane.kubectl(*WEB)
    plane.kubectl(*AVAILABLE)


def test_it_ends_with_the_process_that_started_it(plane: ControlPlane) -> None:
    """So that a suite that is killed leaves nothing behind."""
    binary = built_or_skip()
    with TemporaryDirectory(prefix="fleet-") as folder:
        script = (
            "import sys, time; from pathlib import Path; from tools.clusters.binary import built;"
            "from tools.clusters.cluster import ControlPlane;"
            "it = ControlPlane.within(Path(sys.argv[1]), built()); it.start(); it.wait(); print(flush=True); time.sleep(600)"
        )
        with subprocess.Popen(
            [sys.executable, "-c", script, folder], stdout=subprocess.PIPE
        ) as starter:
            assert starter.stdout
            assert starter.stdout.readline() == b"\n"
            started = ControlPlane.within(Path(folder), binary)
            assert started.running
            starter.send_signal(signal.SIGKILL)
        while started.running:
            time.sleep(0.05)


def test_the_commands_of_the_makefile() -> None:
    built_or_skip()
    with TemporaryDirectory(prefix="fleet-") as folder:
        try:
            first = command("up", folder, "east", "west")
            assert f"{folder}/kubectl --kubeconfig {folder}/west/kubeconfig" in first.splitlines()
            kubectl = [f"{folder}/kubectl", "--kubeconfig", f"{folder}/west/kubeconfig"]
            environment = {**os.environ, "KUBECACHEDIR": f"{folder}/cache"}
            subprocess.run(
                [*kubectl, "create", "namespace", "shop"],
                check=True,
                env=environment,
                stdout=subprocess.DEVNULL,
            )
            assert command("up", folder, "east", "west") == first
        finally:
            ended = command("down", folder)
        assert ended == "east has ended\nwest has ended\n"
        assert command("down", folder) == ""


@pytest.mark.parametrize("name", ["Upper", "in/side", "..", "-a", ""])
def test_a_name_that_is_none(name: str, tmp_path: Path) -> None:
    """It would be a folder that nobody finds again, or no name of a cluster."""
    tried = [sys.executable, "-m", "tools.clusters", "up", str(tmp_path), "--", name]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "small letters, digits and -" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_go_is_missing(tmp_path: Path) -> None:
    tried = [sys.executable, "-m", "tools.clusters", "build"]
    without = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PATH": str(tmp_path)}
    done = subprocess.run(tried, capture_output=True, text=True, check=False, env=without)
    assert (done.returncode, done.stderr) == (1, f"{NO_GO}\n")


def command(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tools.clusters", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout


def server(kubeconfig: str) -> str:
    return str(yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]["server"])
