"""One update that runs beside the program, which hears its events and may be asked to stop it."""

from __future__ import annotations

import queue
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime

import attrs

from fleet_components.automation.engine import Engine
from fleet_components.status.events import EngineEvent

_TICK = 0.2
_AT_ONCE = 1000
"""Most events that wait to be heard, and that are heard before anything else is looked at."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOPPING = "stopping: what has begun is finished; Ctrl-C once more ends it at once"


@attrs.frozen(kw_only=True)
class Watcher:
    """Reports how an update goes.

    Attributes:
        hear: gets each event.
        refresh: is called several times a second.
        say: gets lines that stay.
    """

    hear: Callable[[EngineEvent], None] = lambda _: None
    refresh: Callable[[], None] = lambda: None
    say: Callable[[str], None]


def carried_out(
    engine: Engine,
    watcher: Watcher,
    as_of: datetime | None,
    config: Mapping[str, str] | None = None,
) -> tuple[str, int]:
    """Run an update; return what went wrong, and how often it was asked to stop.

    The first signal asks the engine to stop, and every further one ends it at once.

    Args:
        engine: the stack.
        watcher: is told how it goes.
        as_of: the time of the update; None for the one that is configured.
        config: configuration values that count in this update alone, by key.
    """
    events: queue.Queue[EngineEvent] = queue.Queue(_AT_ONCE)
    given = (config,) if config is not None else ()
    answered = 0
    with _signals() as asked, ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.update, events.put, as_of, *given)
        try:
            while not running.done() or not events.empty():
                for event in _waiting(events):
                    watcher.hear(event)
                watcher.refresh()
                for _ in asked[answered:]:
                    answered += 1
                    _stop(engine, watcher, answered)
        finally:
            if not running.done():  # nobody hears it any more
                engine.kill()
                while not running.done():
                    list(_waiting(events))
        return running.result(), answered


def _stop(engine: Engine, watcher: Watcher, times: int) -> None:
    if times == 1:
        watcher.say(_STOPPING)
        engine.stop()
    else:
        engine.kill()


def _waiting(events: queue.Queue[EngineEvent]) -> Iterator[EngineEvent]:
    """Yield the events that are there, after waiting a moment for the first one."""
    with suppress(queue.Empty):
        yield events.get(timeout=_TICK)
        for _ in range(_AT_ONCE):
            yield events.get_nowait()


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect the signals that ask this program to stop."""
    asked: list[int] = []
    heeded = [sign for sign in _SIGNALS if signal.getsignal(sign) is not signal.SIG_IGN]
    before = {sign: signal.signal(sign, lambda number, _: asked.append(number)) for sign in heeded}
    try:
        yield asked
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
