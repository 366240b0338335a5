"""Clusters that can be asked, and control planes that can be started, stopped and brought back."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from tools.clusters.binary import NAME, Binary

_PATIENCE = 120.0
"""Seconds in which a control plane gets ready on a busy machine; it takes two or three on a quiet
one.
"""


@attrs.define
class Cluster:
    """An API server that is there.

    Attributes:
        kubeconfig: the file.
        client: the program kubectl.
    """

    kubeconfig: Path
    client: Path

    def get(self, *asked: str) -> Any:
        """Return what ``kubectl get`` finds; None when it is not there."""
        found = self.kubectl("get", *asked, "-o", "json", "--ignore-not-found")
        return json.loads(found) if found.strip() else None

    def kubectl(self, *command: str) -> str:
        """Run kubectl, and return what it prints.

        Raises:
            subprocess.CalledProcessError: it fails; ``stderr`` says why.
        """
        done = subprocess.run(
            [str(self.client), "--kubeconfig", str(self.kubeconfig), *command],
            # A cache of its own, because other clusters will use the port again.
            env={**os.environ, "KUBECACHEDIR": str(self.kubeconfig.parent / "cache")},
            check=True,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        return done.stdout


@attrs.define
class ControlPlane(Cluster):
    """A control plane of our own, running or not; all of it is in the folder of its kubeconfig, and
    called as that.
    """

    _process: subprocess.Popen[bytes] | None = attrs.field(default=None, init=False)

    @classmethod
    def within(cls, folder: Path, binary: Binary) -> ControlPlane:
        """Return the control plane of a folder, which need not be there yet."""
        return cls(folder / "kubeconfig", binary.kubectl)

    @property
    def folder(self) -> Path:
        """The folder of its data, certificates and kubeconfig."""
        return self.kubeconfig.parent

    @property
    def running(self) -> bool:
        """Whether its process is there: as long as it lives it has a lock on the file with its
        id.
        """
        with suppress(FileNotFoundError), (self.folder / "pid").open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def start(self, *, port: int = 0, outlives: bool = False) -> None:
        """Start it; ``wait`` returns when it is ready. What was in the folder is taken up.

        Args:
            port: of the API server; 0 for that of the last time, or a free one.
            outlives: whether it goes on after this process.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "ready").unlink(missing_ok=True)
        command = [
            str(self.client.with_name(NAME)),
            "run",
            "--folder",
            str(self.folder),
            "--port",
            str(port),
        ]
        command += [] if outlives else ["--parent", str(os.getpid())]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait(self) -> None:
        """Return when pods can be created.

        Raises:
            RuntimeError: it has ended, or is not ready after two minutes.
        """
        give_up = time.monotonic() + _PATIENCE
        while not (self.folder / "ready").exists():
            ended = self._process is not None and self._process.poll() is not None
            if ended or time.monotonic() > give_up:
                log = (self.folder / "log").read_text(errors="replace")
                raise RuntimeError(f"no API server in {self.folder}: {log[-2000:]}")
            time.sleep(0.05)

    def pause(self) -> None:
        """Let it hang: connections are accepted and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once; its data stays."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        while self.running:
            time.sleep(0.01)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
        elif self.running:
            os.kill(int((self.folder / "pid").read_text()), number)


def start_all(planes: Sequence[ControlPlane], *, outlives: bool = False) -> None:
    """Start at once those that do not run yet, and wait for all of them.

    Raises:
        RuntimeError: one does not get ready; all are ended.
    """
    try:
        for plane in planes:
            if not plane.running:
                plane.start(outlives=outlives)
        for plane in planes:
            plane.wait()
    except BaseException:
        for plane in planes:
            plane.kill()
        raise
