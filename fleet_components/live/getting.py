"""Reads of a cluster that ends them in time: every answer is bounded in time and size, and only GET is ever sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import client as http
from typing import Any, TypeVar

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.live.connection import Connection, connected, within
from fleet_components.model.digits import integer
from fleet_components.model.problem import FleetError

T = TypeVar("T")
_MIB = 2**20
MOST_BYTES = 1024 * _MIB
"""Largest size of all answers of one cluster."""
_ATTEMPTS, _FIRST_WAIT, _LONGEST_WAIT = 4, 0.2, 10.0
_BUSY = (http.TOO_MANY_REQUESTS, http.INTERNAL_SERVER_ERROR, http.SERVICE_UNAVAILABLE, http.GATEWAY_TIMEOUT)
"""Statuses after which a client asks again where the answer tells when, as client-go does."""
NOT_KUBERNETES = "is not answered as Kubernetes does"
_LATE = "is not answered in {:g} s"
_WORDS: Mapping[int, str] = {
    http.UNAUTHORIZED: "is refused: the user of the kubeconfig is not known there, or no longer",
    http.FORBIDDEN: "is forbidden to the user of the kubeconfig",
    http.NOT_FOUND: "is not served",
}


class Unanswered(Exception):
    """A request that has no usable answer.

    Args:
        what: the reason, in words that follow what was asked for. Nothing of the answer is in it, which may repeat
            what it was sent.
        code: the HTTP status; 0 if there is none.
    """

    def __init__(self, what: str, code: int = 0) -> None:
        super().__init__(what)
        self.what, self.code = what, code


class Unreachable(Exception):
    """A cluster that cannot be asked at all; the text is the reason, after the name of the cluster."""


@attrs.define
class Getter:
    """Asks one cluster.

    Attributes:
        connection: the connection, with its deadline.
        timeout: how long the whole may take, in seconds, for messages.
        left: bytes that answers may still have.
        date: the time of the cluster's own clock at its first answer; None before that, and if it did not tell.
    """

    connection: Connection
    timeout: float
    left: int = attrs.field(factory=lambda: MOST_BYTES)
    date: datetime | None = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def get(self, path: str, accept: str = "application/json") -> Any:
        """Return the value of a JSON answer.

        Raises:
            Unanswered: there is no usable answer, after a few attempts if the cluster is busy or hangs up.
        """
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            found, wait = self._attempt(path, accept, last=last)
            if wait is None:
                return found
            self._sleep(wait or _FIRST_WAIT * 2**attempt)
        raise AssertionError  # the last attempt returns or raises

    def within(self, work: Callable[[], T]) -> T:
        """Run a function until the deadline, in a thread of its own: no library ends all its waits in time.

        Raises:
            Unanswered: it has raised that, or has not ended.
        """
        found: list[T] = []
        refused: list[Unanswered] = []

        def run(_: float) -> None:
            try:
                found.append(work())
            except Unanswered as error:
                refused.append(error)
            except TimeoutError:
                refused.append(self._late())

        left = self.connection.deadline - time.monotonic()
        if left > 0:
            within(left, run)
        if found:
            return found[0]
        over = time.monotonic() >= self.connection.deadline
        raise refused[0] if refused else self._late() if over else Unanswered(NOT_KUBERNETES)

    def _attempt(self, path: str, accept: str, *, last: bool) -> tuple[Any, float | None]:
        """Return an answer and None, or how many seconds to wait for the next attempt; 0 if that is not told."""
        from httpx2 import DecodingError, RequestError, TimeoutException

        try:
            with self.connection.client.stream(
                "GET", path, headers={"Accept": accept}, timeout=self._remaining(), follow_redirects=False
            ) as answer:
                if self.date is None:
                    self.date = _date(answer.headers.get("Date"))
                status = answer.status_code
                told = answer.headers.get("Retry-After")
                if status in _BUSY and told is not None and not last:
                    return None, min(float(integer(told)) if told.isdecimal() else 1.0, _LONGEST_WAIT)
                if not answer.is_success:
                    shown = f"{status} {http.responses.get(status, '')}".rstrip()
                    raise Unanswered(_WORDS.get(status, f"is answered with {shown}"), status)
                return read_json(b"".join(self._bounded(answer.iter_bytes()))), None
        except UnreadableError:
            raise Unanswered(NOT_KUBERNETES) from None
        except TimeoutException:
            raise self._late() from None
        except DecodingError:
            raise Unanswered(NOT_KUBERNETES) from None
        except RequestError as error:
            why, passing = _why(error)
            if last or not passing:
                raise Unanswered(why) from None
            return None, 0.0

    def _bounded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            with self._lock:
                self.left -= len(chunk)
            if self.left < 0:
                raise Unanswered(f"has answers of more than {MOST_BYTES // _MIB} MiB with all before it")
            self._remaining()
            yield chunk

    def _remaining(self) -> float:
        left = self.connection.deadline - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _sleep(self, seconds: float) -> None:
        if seconds >= self._remaining():
            raise self._late()
        time.sleep(seconds)

    def _late(self) -> Unanswered:
        return Unanswered(_LATE.format(self.timeout))


@contextmanager
def getter(kubeconfig: str, timeout: float) -> Iterator[Getter]:
    """Connect to a cluster, to read from it.

    Args:
        kubeconfig: the text of a kubeconfig.
        timeout: limit for all that is done with it, in seconds; a credential plugin counts, too.

    Raises:
        Unreachable: the kubeconfig or its credential plugin does not work. No secret of them is shown.
    """
    deadline = time.monotonic() + timeout
    why = "its kubeconfig does not work: something in it is missing, or cannot be read"
    with ExitStack() as stack:
        found: Connection | None = None
        # Any error of the libraries, which may quote the kubeconfig.
        with suppress(Exception):
            try:
                found = stack.enter_context(connected(kubeconfig, deadline))
            except FileNotFoundError:
                why = "a file that its kubeconfig names is not there"
            except FleetError as error:
                why = "; ".join(map(str, error.problems))
        if found is None:
            raise Unreachable(why)
        yield Getter(found, timeout)


def _date(text: str | None) -> datetime | None:
    with suppress(ValueError, TypeError):
        found = parsedate_to_datetime(text or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return None


def _why(error: Exception) -> tuple[str, bool]:
    """Return why there was no answer, and whether it may be otherwise a moment later.

    The library's own words may have the address of the cluster and more.
    """
    from httpx2 import ConnectError, UnsupportedProtocol

    if isinstance(error, UnsupportedProtocol):
        return "is not asked: the address in the kubeconfig is not one of http or https", False
    if "CERTIFICATE" in str(error).upper():
        return "is not asked: the certificate of the cluster is not one that the kubeconfig trusts", False
    if isinstance(error, ConnectError):
        return "is not answered: nobody takes the connection at the address of the kubeconfig", True
    return "is not answered: the connection is broken off", True
