"""Detection of runs in process, against mocks instead of an engine; and outputs that are unknown in both."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import get_monitor


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
