"""Requests to the resource API of Azure: paged, repeated where it asks for that, until a deadline."""

from __future__ import annotations

import time
from contextlib import suppress
from http import client as http
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.live.connection import UnexpectedAnswer
from fleet_components.live.exchange import Budget, Received, TooLargeError, received
from fleet_components.live.unsecret import unsecret

if TYPE_CHECKING:
    from httpx2 import Client

_AGAIN = (http.REQUEST_TIMEOUT, http.TOO_MANY_REQUESTS, *range(500, 600))
_TRIES, _FIRST_PAUSE, _LONGEST_PAUSE = 6, 1.0, 20.0
_MOST_PAGES = 200
_SILENT = "does not answer"


@attrs.frozen
class ResourceApi:
    """The resource API.

    Attributes:
        client: sends the requests; it follows no redirection, which would take the token elsewhere.
        address: scheme and host.
        token: proof of a login.
        version: the API version of the resources.
        budget: the time and the memory that all answers may take.
    """

    client: Client
    address: str
    token: str = attrs.field(repr=False)
    version: str
    budget: Budget

    def ask(self, path: str, method: str = "GET") -> Any:
        """Return the body of an answer.

        Args:
            path: the path, below the address.
            method: the HTTP method.

        Raises:
            UnexpectedAnswer: Azure refuses, or does not answer before the deadline.
        """
        return self._answered(f"{self.address}{path}?{urlencode({'api-version': self.version})}", method)

    def all(self, path: str) -> tuple[Any, ...]:
        """Return all elements of a list, page by page.

        Raises:
            UnexpectedAnswer: as for :meth:`ask`; or a page is not on the host that was asked, or there is no end.
        """
        page = self.ask(path)
        found: list[Any] = []
        for _ in range(_MOST_PAGES):
            page = page if isinstance(page, dict) else {}
            elements = page.get("value")
            found += elements if isinstance(elements, list) else ()
            following = page.get("nextLink")
            if not following:
                return tuple(found)
            page = self._answered(self._confined(str(following)), "GET")
        raise UnexpectedAnswer(f"has more than {_MOST_PAGES} pages of one list")

    def _confined(self, link: str) -> str:
        with suppress(ValueError):  # no URL
            there, here = urlsplit(link), urlsplit(self.address)
            if (there.scheme, there.netloc.lower()) == (here.scheme, here.netloc.lower()):
                return link
        raise UnexpectedAnswer("refers to another host for the next page of a list, which would get the token")

    def _answered(self, url: str, method: str) -> Any:
        pause, refusal = _FIRST_PAUSE, UnexpectedAnswer(_SILENT)
        for number in range(_TRIES):
            answer = self._sent(url, method)
            if answer is not None and http.OK <= answer.status < http.MULTIPLE_CHOICES:
                try:
                    return self.budget.json(answer.content)
                except TooLargeError as error:
                    raise _too_large(error) from None
                except TimeoutError:
                    break
                except UnreadableError as error:
                    raise UnexpectedAnswer(f"answers with a text that {error.what}") from None
            refusal = _refusal(answer, self.token) if answer is not None else refusal
            if answer is not None and answer.status not in _AGAIN:
                break
            wait = max(answer.pause or 0.0 if answer is not None else 0.0, pause)
            if number + 1 == _TRIES or time.monotonic() + wait >= self.budget.deadline:
                break
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise refusal

    def _sent(self, url: str, method: str) -> Received | None:
        """Return the answer; None if there is none, or no whole one."""
        from httpx2 import HTTPError, InvalidURL

        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        with suppress(HTTPError, InvalidURL, TimeoutError):
            try:
                return received(self.client, method, url, headers, self.budget)
            except TooLargeError as error:
                raise _too_large(error) from None
        return None


def _too_large(error: TooLargeError) -> UnexpectedAnswer:
    return UnexpectedAnswer(f"has answers that take more than {error}")


def _refusal(answer: Received, token: str) -> UnexpectedAnswer:
    what = f"refuses with {answer.status} {http.responses.get(answer.status, '')}".rstrip()
    what += f", and asks to wait {answer.pause:g} s" if answer.pause else ""
    message = ": ".join(filter(None, (what, *_error(answer.content))))
    return UnexpectedAnswer(what, answer.status, unsecret(message, {token}))


def _error(content: bytes) -> tuple[str, str]:
    """Return the code and the message of an error of the resource API; empty if it has none."""
    with suppress(UnreadableError):
        body = read_json(content)
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, dict):
            return str(error.get("code") or ""), str(error.get("message") or "")
    return "", ""
