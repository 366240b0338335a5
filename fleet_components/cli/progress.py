"""Progress of long work: a line of standard error on a terminal, which is erased at the end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from fleet_components.model.text import visible

PATIENCE, LEAST, PACE = 0.5, 0.05, 0.2
"""Seconds until a command takes long, until one part of it does from then on, and between two looks
at what it is.
"""
_ERASE = "\r\x1b[K"
# Lines are not continued in the next row of the terminal, so that one erasure is enough.
_CUT, _FOLD = "\x1b[?7l", "\x1b[?7h"


class ProgressLine:
    """A :data:`~fleet_components.model.watch.Watch` that shows what is done now, once it takes
    long.

    A timer interrupts the main thread, so that nothing is started for what is done at once, and
    nothing has to be stopped after Ctrl-C. Nothing is shown without a terminal that can erase a
    line, and none is started by CI systems.
    """

    def __init__(self) -> None:
        self._doing: list[str] = []
        self._shown: _Line | None = None
        self._since = 0.0

    @contextmanager
    def __call__(self, doing: str) -> Iterator[None]:
        """Say what is done in the body; within another one, after what that does."""
        self._doing.append(doing)
        outermost = len(self._doing) == 1
        if outermost and _has_terminal():
            # The first part of a command starts the clock: later parts count from there.
            self._since = self._since or time.monotonic()
            # What others print meanwhile has to pass the line, so that it is erased first.
            self._shown = sys.stderr = _Line(sys.stderr)
            signal.signal(signal.SIGALRM, self._show)
            signal.setitimer(
                signal.ITIMER_REAL, max(self._since + PATIENCE - time.monotonic(), LEAST), PACE
            )
        try:
            yield
        finally:
            self._doing.pop()
            if outermost and self._shown:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                sys.stderr = self._shown.stream
                self._shown.erase()
                self._shown = None

    def _show(self, *_: object) -> None:
        if self._shown:
            self._shown.draw(f"{': '.join(self._doing)} ({time.monotonic() - self._since:.0f} s)")


watch = ProgressLine()
"""The progress of the command that runs."""


class _Line:
    """The last line of a terminal. What others print meanwhile takes its place.

    Attributes:
        stream: the stream of the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._drawn = ""
        self._others = False

    def draw(self, text: str) -> None:
        """Draw the line, unless somebody else has begun one."""
        text = visible(text)
        if text != self._drawn and not self._others:
            # Ctrl-C may come between the two: it is erased in any case.
            self._drawn = text
            self._print(f"{_ERASE}{_CUT}{text}{_FOLD}")

    def erase(self) -> None:
        """Erase what was drawn."""
        if self._drawn:
            self._print(_ERASE)
            self._drawn = ""

    def write(self, text: str) -> int:
        """Print what others say."""
        self.erase()
        if text:
            self._others = not text.endswith("\n")
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def _print(self, text: str) -> None:
        # Not through the stream, which may be interrupted in the middle of a call.
        with suppress(OSError):
            os.write(self.stream.fileno(), text.encode(self.stream.encoding, "replace"))


def _has_terminal() -> bool:
    """Return whether somebody looks on, and the timer is free."""
    return (
        sys.stderr.isatty()
        and os.environ.get("TERM", "dumb") != "dumb"
        and not os.environ.get("CI")
        and threading.current_thread() is threading.main_thread()
        and hasattr(signal, "setitimer")
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    )
