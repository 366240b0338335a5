"""Real Kubernetes API servers: control planes of the ``testcp`` binary on PATH, or given kubeconfigs.

``FLEET_TEST_KUBECONFIGS`` names kubeconfig files of clusters that tests may write to, with ``:`` between them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

GIVEN = "FLEET_TEST_KUBECONFIGS"


@attrs.frozen
class ControlPlane:
    """An API server that answers.

    Attributes:
        kubeconfig: the file.
        process: the process that was started here; None for a cluster that was given.
    """

    kubeconfig: Path
    process: subprocess.Popen[bytes] | None = None

    def pause(self) -> None:
        """Let it hang: connections are accepted and nothing answers."""
        self._process().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._process().send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Let it be gone."""
        self._process().kill()
        self._process().wait()

    def get(self, *what: str) -> Any:
        """What ``kubectl get`` finds; None when it is not there."""
        found = self.kubectl("get", *what, "-o", "json", "--ignore-not-found")
        return json.loads(found) if found.strip() else None

    def kubectl(self, *command: str) -> str:
        """Run kubectl."""
        done = subprocess.run(
            ["kubectl", "--kubeconfig", str(self.kubeconfig), *command],
            env={**os.environ, "KUBECACHEDIR": str(self.kubeconfig.parent / "cache")},
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout

    def _process(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            pytest.skip(f"needs a control plane of its own to stop; {GIVEN} gives clusters")
        return self.process


@contextmanager
def control_planes(folder: Path, names: str) -> Iterator[dict[str, ControlPlane]]:
    """One control plane for each letter, on free ports; they end with the block.

    Skips the test where there are none to be had.
    """
    if not shutil.which("pulumi-resource-kubernetes"):
        pytest.skip("needs the Kubernetes provider plugin on PATH")
    if given := os.environ.get(GIVEN):
        files = given.split(":")
        if len(files) < len(names) or not shutil.which("kubectl"):
            pytest.skip(f"needs kubectl on PATH, and {len(names)} kubeconfigs in {GIVEN}")
        yield {name: ControlPlane(Path(file)) for name, file in zip(names, files, strict=False)}
        return
    if not shutil.which("testcp") or not shutil.which("kubectl"):
        pytest.skip(f"needs the testcp binary and kubectl on PATH, or kubeconfigs in {GIVEN}")
    started: dict[str, ControlPlane] = {}
    try:
        for name in names:
            started[name] = _start(folder / name)
        for name in names:
            _wait(folder / name, started[name])
        yield started
    finally:
        for plane in started.values():
            plane.kill()


def _start(folder: Path) -> ControlPlane:
    folder.mkdir()
    with (folder / "log").open("wb") as log:
        command = ["testcp", "up", "--dir", str(folder), "--port", "0", "--nodes", "1"]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    return ControlPlane(folder / "kubeconfig", process)


def _wait(folder: Path, plane: ControlPlane) -> None:
    for _ in range(1200):
        if (folder / "ready").exists():
            return
        assert plane._process().poll() is None, (folder / "log").read_text()[-2000:]
        time.sleep(0.05)
    raise AssertionError(f"no API server in {folder}: {(folder / 'log').read_text()[-2000:]}")
