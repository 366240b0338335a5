"""Programs that a test runs beside it: found on PATH, with a log each, and gone when the test is."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
import pytest

from tools.clusters.binary import built

CHILD = Path(__file__).with_name("child.py")
REQUIRED = "FLEET_REQUIRE_HUBS"


@attrs.define
class Program:
    """A program that can be started, stopped and started again.

    Attributes:
        command: the program and its arguments.
        log: file of what it prints; a further start adds to it.
        environment: what it gets beside the environment of the test.
    """

    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = attrs.field(factory=dict)
    _process: subprocess.Popen[bytes] | None = attrs.field(default=None, init=False)

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, unless it runs. Call it in the main thread: on Linux it ends with the thread that started it."""
        if self.running:
            return
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-IS", str(CHILD), str(os.getpid()), *self.command],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def until(self, met: Callable[[], bool], expected: str, patience: float = 120.0) -> None:
        """Return when the condition is met.

        Raises:
            RuntimeError: the program has ended, or the condition is not met after so many seconds.
        """

        def still() -> bool:
            if not self.running:
                raise RuntimeError(
                    f"{Path(self.command[0]).name} has ended, not {expected}: {self.tail()}"
                )
            return met()

        try:
            until(still, expected, patience)
        except TimeoutError as error:
            raise RuntimeError(f"{error}: {self.tail()}") from None

    def tail(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-3000:]


def until(met: Callable[[], bool], expected: str, patience: float = 120.0) -> None:
    """Return when the condition is met.

    Raises:
        TimeoutError: it is not, after so many seconds.
    """
    give_up = time.monotonic() + patience
    while not met():
        if time.monotonic() > give_up:
            raise TimeoutError(f"not {expected} after {patience:.0f} s")
        time.sleep(0.2)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody has at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def hubs_or_skip(*programs: str) -> None:
    """Skip the test where a program or a built control plane is missing; fail it where hubs are required."""
    missing = [f"{program} on PATH" for program in programs if shutil.which(program) is None]
    missing += [] if built() else ["a control plane, which make test-hubs builds with Go"]
    if not missing:
        return
    reason = f"needs {' and '.join(missing)}"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED}=1, and a hub {reason}")
    pytest.skip(reason)
