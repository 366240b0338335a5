"""Work in a few threads at once, which ends with the program: nobody who interrupts it waits for a
cluster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue


def at_once(work: Iterable[Callable[[], object]], most: int) -> Iterator[None]:
    """Run functions in threads, and yield each time that one has ended.

    Args:
        work: the functions.
        most: the largest number of threads.

    Raises:
        Exception: what a function has raised.
    """
    waiting: SimpleQueue[Callable[[], object]] = SimpleQueue()
    ended: SimpleQueue[Exception | None] = SimpleQueue()
    for call in work:
        waiting.put(call)
    number = waiting.qsize()

    def run() -> None:
        with suppress(Empty):
            while True:
                _run(waiting.get_nowait(), ended)

    for _ in range(min(most, number)):
        threading.Thread(target=run, daemon=True).start()
    for _ in range(number):
        error = ended.get()
        if error:
            raise error
        yield


def _run(call: Callable[[], object], ended: SimpleQueue[Exception | None]) -> None:
    error: Exception | None = None
    try:
        call()
    except Exception as raised:  # noqa: BLE001 - it is raised where the work is waited for
        error = raised
    ended.put(error)
