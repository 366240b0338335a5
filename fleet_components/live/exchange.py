"""One request and its answer, bounded in time and size."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from fleet_components.model.digits import integer

if TYPE_CHECKING:
    from httpx2 import Client

_MIB = 2**20


class TooLargeError(Exception):
    """Answers that are larger than all of them may be; the text has that size."""


@attrs.define
class Budget:
    """Limits of requests in time and size, shared by all threads.

    Attributes:
        deadline: on the monotonic clock.
        size: bytes that all answers may have together.
    """

    deadline: float
    size: int
    _taken: int = attrs.field(default=0, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def seconds(self) -> float:
        """Return how many seconds are left.

        Raises:
            TimeoutError: none are.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def take(self, number: int) -> None:
        """Take a number of bytes.

        Raises:
            TooLargeError: there are not as many left.
            TimeoutError: no time is left.
        """
        with self._lock:
            self._taken += number
        if self._taken > self.size:
            raise TooLargeError(f"{self.size // _MIB} MiB")
        self.seconds()


@attrs.frozen
class Received:
    """An answer.

    Attributes:
        status: its HTTP status.
        content: its body.
        headers: its headers, by name in any case.
    """

    status: int
    content: bytes = attrs.field(repr=False)
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @property
    def pause(self) -> float | None:
        """Seconds after which to ask again; None if that is not told, and 1 where it is told as a date."""
        told = self.headers.get("Retry-After")
        if told is None:
            return None
        return float(integer(told)) if told.isdecimal() else 1.0


def received(client: Client, method: str, url: str, headers: Mapping[str, str], budget: Budget) -> Received:
    """Send a request and return its whole answer. No redirection is followed, which would take a credential elsewhere.

    Raises:
        HTTPError: of the client, when there is no answer, or no whole one.
        TimeoutError: the budget has no time left.
        TooLargeError: the answer is larger than what is left.
    """
    content = bytearray()
    with client.stream(method, url, headers=dict(headers), timeout=budget.seconds(), follow_redirects=False) as answer:
        for chunk in answer.iter_bytes():
            budget.take(len(chunk))
            content += chunk
        return Received(answer.status_code, bytes(content), answer.headers)
