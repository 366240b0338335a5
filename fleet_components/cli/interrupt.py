"""Ctrl-C while files are written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def finished_first() -> Iterator[None]:
    """Hold Ctrl-C back until the body is done, which is then interrupted nowhere in the middle.

    Raises:
        KeyboardInterrupt: it was pressed meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
