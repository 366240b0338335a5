"""Registration of resources without the trace of the calls that made them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
from pulumi.runtime.settings import SETTINGS, get_monitor

from fleet_components.components.process import in_process


@contextmanager
def untraced() -> Iterator[None]:
    """Register what the body makes without its trace, which leads through this package and says nothing of the source.

    The engine writes the whole state at every step, and the trace of an object is as large as its inputs and outputs.
    """
    engine = get_monitor()
    if in_process():
        yield
        return
    # The SDK keeps for each resource the monitor that it finds when the resource is made.
    SETTINGS.monitor = _Untraced(engine)
    try:
        yield
    finally:
        SETTINGS.monitor = engine


@attrs.frozen
class _Untraced:
    """The engine's monitor, to which the trace of a resource is not told."""

    engine: Any

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        """Register without the trace."""
        request.ClearField("stackTrace")
        return self.engine.RegisterResource(request)

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the engine."""
        return getattr(self.engine, name)
