"""Reads of a cluster that ends them in time: every answer is bounded in time and size, and only GET
is ever sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import client as http
from typing import Any, TypeVar

import attrs

from fleet_components.content.guarded import UnreadableError
from fleet_components.live.connection import Connection, connected, within
from fleet_components.live.exchange import AnswerBudget, TooLargeError, hub_room, received
from fleet_components.live.failures import (
    NOT_KUBERNETES,
    RequestFailure,
    of_error,
    of_no_json,
    of_status,
)
from fleet_components.live.kubeconfig_file import unreadable
from fleet_components.model.problem import FleetError
from fleet_components.model.text import few

T = TypeVar("T")
# Waits in seconds.
_ATTEMPTS, _FIRST_WAIT, _LONGEST_WAIT = 4, 0.2, 10.0
_BUSY = (
    http.TOO_MANY_REQUESTS,
    http.INTERNAL_SERVER_ERROR,
    http.SERVICE_UNAVAILABLE,
    http.GATEWAY_TIMEOUT,
)
"""Statuses after which a client asks again where the answer tells when, as client-go does."""
_LATE = "is not answered in {:g} s"


class UnansweredError(Exception):
    """A request that has no usable answer.

    Args:
        what: the reason, in words that follow what was asked for. Nothing of the answer is in it,
            which may repeat what it was sent.
        code: the HTTP status; 0 if there is none.
        hint: what would do; empty if nothing better can be said than to try again.
    """

    def __init__(self, what: str, code: int = 0, hint: str = "") -> None:
        super().__init__(what)
        self.what, self.code, self.hint = what, code, hint


class Unreachable(Exception):
    """A cluster that cannot be asked at all; the text is the reason, after the name of the cluster.

    Args:
        what: the reason.
        hint: what would do; empty if nothing is known that would.
    """

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint


@attrs.define
class Getter:
    """Asks one cluster.

    Attributes:
        connection: the connection, with its deadline.
        timeout: how long the whole may take, in seconds, for messages.
        date: the time of the cluster's own clock at its first answer; None before that, and if the
            answer had none.
    """

    connection: Connection
    timeout: float
    date: datetime | None = None

    @property
    def budget(self) -> AnswerBudget:
        """The time and the memory that its answers may take."""
        return self.connection.budget

    def get(self, path: str, accept: str = "application/json") -> Any:
        """Return the value of a JSON answer.

        Raises:
            UnansweredError: there is no usable answer, after a few attempts if the cluster is busy
                or hangs up.
        """
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            found, wait = self._attempt(path, accept, last=last)
            if wait is None:
                return found
            # 0: the answer names no time.
            self._sleep(wait or _FIRST_WAIT * 2**attempt)
        raise AssertionError  # the last attempt returns or raises

    def within(self, work: Callable[[], T]) -> T:
        """Run a function until the deadline, in a thread of its own: no library ends all its waits
        in time.

        Raises:
            UnansweredError: it has raised that, or has not ended.
        """
        # Lists, because the thread that fills them may be abandoned.
        found: list[T] = []
        refused: list[UnansweredError] = []

        def run(_: float) -> None:
            try:
                found.append(work())
            except UnansweredError as error:
                refused.append(error)
            except TimeoutError:
                refused.append(self._late())

        with suppress(TimeoutError):
            within(self.budget.seconds(), run)
            if found:
                return found[0]
            # Raises an error if the time is over. If not, the work has failed with another error,
            # which ``within`` drops because it may quote the kubeconfig.
            self.budget.seconds()
            raise refused[0] if refused else UnansweredError(NOT_KUBERNETES)
        raise refused[0] if refused else self._late()

    def _attempt(self, path: str, accept: str, *, last: bool) -> tuple[Any, float | None]:
        """Return an answer and None, or how many seconds to wait for the next attempt; 0 if the
        answer does not say it.
        """
        from httpx2 import DecodingError, HTTPError, InvalidURL, TimeoutException
        from lightkube.core.exceptions import ConfigError

        try:
            answer = received(self.connection.client, "GET", path, {"Accept": accept}, self.budget)
        except (TimeoutException, TimeoutError):
            raise self._late() from None
        except TooLargeError as error:
            raise _too_large(error) from None
        except DecodingError:
            raise UnansweredError(NOT_KUBERNETES) from None
        except ConfigError:
            raise UnansweredError(
                "is not asked: the tokenFile that its kubeconfig names is not there"
            ) from None
        except (HTTPError, InvalidURL) as error:
            failure = of_error(error)
            if last or not failure.passing:
                raise _unanswered(failure) from None
            return None, 0.0
        if self.date is None:
            self.date = _date(answer.headers.get("Date"))
        if answer.status in _BUSY and answer.pause is not None and not last:
            return None, min(answer.pause, _LONGEST_WAIT)
        if not http.OK <= answer.status < http.MULTIPLE_CHOICES:
            raise _unanswered(of_status(answer), answer.status)
        try:
            return self.budget.json(answer.content), None
        except UnreadableError:
            raise _unanswered(of_no_json(answer)) from None
        except TimeoutError:
            raise self._late() from None
        except TooLargeError as error:
            raise _too_large(error) from None

    def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            if seconds < self.budget.seconds():
                time.sleep(seconds)
                return
        raise self._late()

    def _late(self) -> UnansweredError:
        return UnansweredError(_LATE.format(self.timeout))


@contextmanager
def getter(kubeconfig: str, timeout: float) -> Iterator[Getter]:
    """Connect to a cluster, to read from it.

    Args:
        kubeconfig: the text of a kubeconfig.
        timeout: limit for all that is done with it, in seconds; a credential plugin counts, too.

    Raises:
        Unreachable: the kubeconfig or its credential plugin does not work. No secret of them is
            shown.
    """
    deadline = time.monotonic() + timeout
    why, hint = "its kubeconfig does not work: something in it is missing, or cannot be read", ""
    with ExitStack() as stack:
        found: Connection | None = None
        # Any error of the libraries, which may quote the kubeconfig.
        with suppress(Exception):
            try:
                found = stack.enter_context(connected(kubeconfig, deadline, hub_room()))
            except OSError:
                found_fields = unreadable(kubeconfig)
                fields = f" as {few(found_fields)}" if found_fields else ""
                why, hint = (
                    f"a file that its kubeconfig names{fields} cannot be read",
                    "is it there, and yours?",
                )
            except FleetError as error:
                why, hint = (
                    "; ".join(problem.what for problem in error.problems),
                    error.problems[0].hint,
                )
        if found is None:
            raise Unreachable(why, hint)
        yield Getter(found, timeout)


def _date(text: str | None) -> datetime | None:
    with suppress(ValueError, TypeError):
        found = parsedate_to_datetime(text or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return None


def _too_large(error: TooLargeError) -> UnansweredError:
    return UnansweredError(f"has answers that take more than {error}, with all before it")


def _unanswered(failure: RequestFailure, code: int = 0) -> UnansweredError:
    return UnansweredError(failure.what, code, failure.hint)
