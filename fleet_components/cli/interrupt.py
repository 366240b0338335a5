"""Signals that end a command: all of them as Ctrl-C does, and none in the middle of files that are
written.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


def as_ctrl_c() -> None:
    """Let every signal that ends a command end it as Ctrl-C does.

    The command then removes its temporary folders, and ends the tools that it runs.
    """
    for sign in _heeded():
        signal.signal(sign, signal.default_int_handler)


def _heeded() -> list[signal.Signals]:
    """Return the signals of this system that are not ignored, as ``nohup`` lets SIGHUP be."""
    known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    return [sign for sign in known if signal.getsignal(sign) is not signal.SIG_IGN]


@contextmanager
def finished_first() -> Iterator[None]:
    """Hold the signals back until the body is done, which is then interrupted nowhere in the
    middle.

    Raises:
        KeyboardInterrupt: one came meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread
        return
    pressed: list[int] = []
    before = {
        sign: signal.signal(sign, lambda number, _: pressed.append(number)) for sign in _heeded()
    }
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
    if pressed:
        raise KeyboardInterrupt
