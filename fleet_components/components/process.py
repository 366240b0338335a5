"""Whether a program runs on an engine, or in process against mocks; and values that are not known in either."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import get_monitor


def in_process() -> bool:
    """Whether the program runs against mocks: then no cluster is touched."""
    return isinstance(get_monitor(), MockMonitor)


def unknown() -> Any:
    """An output whose value is not known."""

    def settled(value: Any) -> Any:
        future: asyncio.Future[Any] = asyncio.Future()
        future.set_result(value)
        return future

    return pulumi.Output(settled(set()), settled(None), settled(False), settled(False))
