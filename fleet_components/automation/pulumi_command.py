"""The Pulumi CLI as a program: what it prints is read up to a size, and nothing of it stays when it
ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import IO

import attrs

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.paths import read_stream
from fleet_components.content.tool import end
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

SECONDS = 600
"""Time limit in seconds of a command that only reads or configures."""
MOST_LINE = 32 * 2**20
"""Largest size of one event of the engine, in bytes; longer ones are passed over."""
_TAIL = 2**16
"""Size of what is kept of the beginning and of the end of standard error, in bytes."""
_PIECE = 2**16
_AFTER = 5.0
"""Seconds that programs which the CLI has started may go on to print after its end."""
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")
"""Environment variables that name the folder for temporary files, of Go and Python on all
systems.
"""


@attrs.frozen
class Ended:
    """End of a command.

    Attributes:
        status: its exit status; below 0 for the signal that has ended it.
        out: its standard output, unless that was read in lines.
        words: its standard error; of a long one, the beginning and the end.
    """

    status: int
    out: bytes
    words: str


class PulumiCommand:
    """The Pulumi CLI on PATH, in a session of its own.

    A Ctrl-C in the terminal goes to all programs of its session; the CLI would get it twice, and
    would take the second one for the wish to end at once.

    Args:
        folder: the directory to run it in.

    Raises:
        FleetError: it is not on PATH.
    """

    def __init__(self, folder: Path) -> None:
        found = shutil.which("pulumi")
        if found is None:
            raise FleetError(
                [Problem(Message("pulumi-cli-not-path", "the Pulumi CLI is not on PATH"))]
            )
        # PATH may have relative entries, and the CLI runs in another folder.
        self._program, self._folder = os.path.abspath(found), folder
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, *arguments: str, each: Callable[[bytes], None] | None = None) -> Ended:
        """Run a command until it ends.

        Its temporary folder is its own and is removed at its end: the Kubernetes provider leaves a
        file with each kubeconfig there.

        Args:
            arguments: the arguments of the CLI.
            each: called with each line of its standard output, in another thread; nothing of it is
                kept then, and the command may take any time.

        Raises:
            FleetError: it cannot be started, prints more than a file may have, or takes longer than
                :data:`SECONDS`.
        """
        with tempfile.TemporaryDirectory(
            prefix="fleet-engine-", ignore_cleanup_errors=True
        ) as private:
            process = self._started(arguments, private)
            try:
                return _finished(process, each)
            finally:
                if process.poll() is None:
                    end(process)
                    process.wait()

    def send(self, sign: signal.Signals) -> None:
        """Send a signal to the running command."""
        if self._process and self._process.poll() is None:
            # It may end between the two.
            with suppress(ProcessLookupError):
                self._process.send_signal(sign)

    def kill(self) -> None:
        """End the running command at once, with all that it has started."""
        if self._process:
            end(self._process)

    def _started(self, arguments: Iterable[str], private: str) -> subprocess.Popen[bytes]:
        own = dict.fromkeys(_TEMPORARY, private)
        quiet = {"PULUMI_AUTOMATION_API": "true", "PULUMI_SKIP_UPDATE_CHECK": "true"}
        try:
            self._process = subprocess.Popen(
                [self._program, "--non-interactive", *arguments],
                cwd=self._folder,
                env={**os.environ, **quiet, **own},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "pulumi-cli-cannot-started",
                            "the Pulumi CLI cannot be started: {error}",
                            error=error,
                        )
                    )
                ]
            ) from None
        return self._process


class _StreamReader(Thread):
    """Reads a stream until its end; if that fails, its process is ended."""

    def __init__(self, process: subprocess.Popen[bytes], work: Callable[[], bytes]) -> None:
        super().__init__(daemon=True)
        self._process, self._work = process, work
        self.read = b""
        self.failed: UnreadableError | None = None
        self.start()

    def run(self) -> None:
        """Read."""
        try:
            self.read = self._work()
        except UnreadableError as error:
            self.failed = error
            end(self._process)


def _finished(process: subprocess.Popen[bytes], each: Callable[[bytes], None] | None) -> Ended:
    # Both are pipes: see _started.
    assert process.stdout
    assert process.stderr
    read_out = partial(_in_lines, process.stdout, each) if each else partial(_whole, process.stdout)
    out, words = (
        _StreamReader(process, read_out),
        _StreamReader(process, partial(_ends, process.stderr)),
    )
    try:
        # An update may take any time: there each wave may wait.
        process.wait(None if each else SECONDS)
    except subprocess.TimeoutExpired:
        raise FleetError(
            [
                Problem(
                    Message(
                        "pulumi-cli-took-longer",
                        "the Pulumi CLI took longer than {seconds} s",
                        seconds=SECONDS,
                    )
                )
            ]
        ) from None
    # The command has ended, but a provider that it has started may hold the pipes open.
    out.join(_AFTER)
    words.join(_AFTER)
    if out.is_alive() or words.is_alive():
        end(process)  # what it has started goes on to hold its output
        out.join(_AFTER)
        words.join(_AFTER)
    if out.failed:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cli-output-unreadable",
                        "what the Pulumi CLI prints {what}",
                        what=out.failed.message,
                    )
                )
            ]
        )
    return Ended(process.returncode, out.read, words.read.decode(errors="replace"))


def _whole(stream: IO[bytes]) -> bytes:
    with stream:
        return read_stream(stream)


def _in_lines(stream: IO[bytes], each: Callable[[bytes], None]) -> bytes:
    with stream:
        while line := stream.readline(MOST_LINE):
            # A full buffer without a line end begins an event that is too long: skip the rest of
            # it.
            if line.endswith(b"\n") or len(line) < MOST_LINE:
                each(line)
                continue
            while not line.endswith(b"\n") and (line := stream.readline(_PIECE)):
                pass
    return b""


def _ends(stream: IO[bytes]) -> bytes:
    """Return the beginning and the end of what a stream has."""
    with stream:
        first = stream.read(_TAIL)
        # The middle is dropped: a provider may print without end, and errors come last.
        last = b""
        while piece := stream.read(_PIECE):
            last = (last + piece)[-_TAIL:]
    return first + last
