"""Whether a program runs on an engine, or in process against mocks."""

from __future__ import annotations

from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import get_monitor


def in_process() -> bool:
    """Whether the program runs against mocks: then no cluster is touched."""
    return isinstance(get_monitor(), MockMonitor)
