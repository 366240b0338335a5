"""Watches: callbacks that long work calls when it begins and when it is over."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Watch = Callable[[str], AbstractContextManager[object]]
"""Takes what begins in words, ``building charts/shop``, and returns what is entered for as long as
that takes.
"""


def unwatched(doing: str) -> AbstractContextManager[object]:
    """Return a context that does nothing: nobody watches."""
    return nullcontext()
