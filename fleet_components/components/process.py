"""The process of the program: whether there is an engine, how it ends; and outputs that are unknown
in both.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeVar

import pulumi
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.proto import engine_pb2
from pulumi.runtime.settings import get_engine, get_monitor

from fleet_components.dynamic import end_with_engine
from fleet_components.plan import private_files

T = TypeVar("T")
_AT_ONCE = 64
_PATIENCE = 2
"""Longest time in seconds that the engine may take for the last words; it kills the program after 5
s.
"""
LastWords = Callable[[], Iterable[tuple[str, str]]]
_LAST_WORDS: list[LastWords] = []
_SPEAKING = threading.Lock()


def in_process() -> bool:
    """Return whether the program runs against mocks; then no cluster is contacted."""
    return isinstance(get_monitor(), MockMonitor)


def unknown() -> Any:
    """Return an output whose value is unknown."""

    def settled(value: Any) -> Any:
        future: asyncio.Future[Any] = asyncio.Future()
        future.set_result(value)
        return future

    # The SDK has no function that makes one.
    return pulumi.Output(settled(set()), settled(None), settled(False), settled(False))


def without_resources(output: pulumi.Output[T]) -> pulumi.Output[T]:
    """Return an output of the same value on which a property does not depend on any resource.

    A limited update (``pulumi up --plan``) has to register the dependencies that its preview had,
    and a value that is known at once in one of them brings none.
    """
    value: Any = output.future()  # None while it is unknown, which counts before the value does
    return pulumi.Output(set(), value, output.is_known(), output.is_secret())


def output_of(work: Coroutine[Any, Any, T]) -> pulumi.Output[T]:
    """Return what a coroutine returns as an output.

    The coroutine is a task of its own: a refusal cancels what waits, and the SDK's own task would
    then leave behind a coroutine that was never awaited.
    """
    return pulumi.Output.from_input(asyncio.ensure_future(work))


async def in_thread(ask: Callable[[], T]) -> T:
    """Return what a function returns that waits for members, without holding up anything else."""
    return await asyncio.get_running_loop().run_in_executor(_pool(), ask)


@cache
def _pool() -> ThreadPoolExecutor:
    # A cluster that hangs holds its thread for seconds. The default threads are those of the SDK's
    # calls to the engine (pulumi/runtime/resource.py, run_in_executor), which must not wait for
    # that.
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="fleet-components")


def tell_at_end(last_words: LastWords) -> None:
    """Warn of something if the engine ends the program, which it does when a run fails or is
    cancelled.

    Args:
        last_words: returns the messages, each with the URN of the resource that it is about.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # a program of the Automation API, which nothing interrupts
    end_with_engine(_engine_address(sys.orig_argv), signal.SIGINT)
    _LAST_WORDS.append(last_words)
    if len(_LAST_WORDS) == 1:
        # The engine interrupts the program, and goes on listening to it (pulumi/pulumi v3.272.0,
        # sdk/python/cmd/pulumi-language-python/main.go, Run).
        signal.signal(signal.SIGINT, partial(_interrupted, signal.getsignal(signal.SIGINT)))


def _engine_address(arguments: Sequence[str]) -> str:
    """Return what the language host has started the program with; empty where it has not."""
    # The SDK keeps a connection, and not the address.
    return next((value for option, value in pairwise(arguments) if option == "--engine"), "")


def _interrupted(before: Any, number: int, frame: Any) -> None:
    if not _SPEAKING.acquire(blocking=False):
        return  # interrupted once more meanwhile
    # In a thread, because the main one may have been interrupted while it held the connection.
    telling = threading.Thread(target=_warn, args=(tuple(_LAST_WORDS),), daemon=True)
    _LAST_WORDS.clear()
    telling.start()
    telling.join(_PATIENCE)
    # Now, as the language host kills a program with a registration under way before it comes to its
    # own end.
    private_files.remove()
    _SPEAKING.release()
    # Python's own handler raises an interrupt, whose traceback would bury the error.
    if before is not signal.default_int_handler and callable(before):
        before(number, frame)
    raise SystemExit(1)  # without the traceback of an interrupt, which would bury the error


def _warn(all_words: Iterable[LastWords]) -> None:
    engine: Any = get_engine()
    with suppress(Exception):  # the update has failed, and its error is reported
        for urn, text in (word for last_words in all_words for word in last_words()):
            engine.Log(engine_pb2.LogRequest(severity=engine_pb2.WARNING, message=text, urn=urn))
