"""Requests to the API of a forge."""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible

# A timeout in seconds, and the largest answer in bytes.
_SECONDS = 30
_LARGEST = 64 * 2**20
_A_PAGE = 100
_MOST_PAGES = 100
_IDENTITY = re.compile(r"[A-Za-z0-9-]{1,100}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token belongs to the one place that it was given for."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Return no request, so that the answer is an error."""


@attrs.frozen
class Api:
    """An API that speaks JSON.

    Attributes:
        url: what all paths begin with.
        headers: the headers of each request, the token among them.
        hint: what to do where the token is refused.
    """

    url: str
    headers: Mapping[str, str] = attrs.field(repr=False)
    hint: str

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request and return the answer.

        Raises:
            FleetError: there is no answer, it is a refusal, or it is not JSON. The token is never
                shown.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "fleet-components",
            **self.headers,
        }
        try:
            request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
            if request.type not in ("http", "https"):
                raise ValueError("is not an address of the web")
            with urllib.request.build_opener(_NoRedirects).open(
                request, timeout=_SECONDS
            ) as answer:
                # A longer answer is cut, and then it is no longer JSON.
                return read_json(answer.read(_LARGEST))
        except urllib.error.HTTPError as error:
            with error:
                # 404 too: a forge hides what a token may not see.
                hint = self.hint if error.code in (401, 403, 404) else ""
                raise self._problem(
                    method, path, f"answers {error.code} {visible(str(error.reason))}", hint
                ) from None
        except UnreadableError as error:
            raise self._problem(method, path, f"answers what {error.message}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            # URLError has its cause in ``reason``.
            why = getattr(error, "reason", None) or error
            raise self._problem(method, path, f"cannot be asked: {visible(str(why))}") from None

    def map(self, path: str) -> Mapping[str, Any]:
        """Return the map at a path.

        Raises:
            FleetError: see :meth:`ask`; or it is no map.
        """
        answer = self.ask("GET", path)
        if not isinstance(answer, Mapping):
            raise self._problem("GET", path, "answers what is not a map")
        return answer

    def list(self, path: str) -> list[Mapping[str, Any]]:
        """Return the list of maps at a path, which may be the ``value`` of a map.

        Raises:
            FleetError: see :meth:`ask`; or it is no such list.
        """
        answer = self.ask("GET", path)
        items = answer.get("value") if isinstance(answer, Mapping) else answer
        if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
            raise self._problem("GET", path, "answers what is not a list of maps")
        return items

    def pages(self, path: str) -> Iterator[Mapping[str, Any]]:
        """Yield the items of all pages of a list.

        Raises:
            FleetError: see :meth:`list`; or it does not end.
        """
        joint = "&" if "?" in path else "?"
        for page in range(1, _MOST_PAGES + 1):
            items = self.list(f"{path}{joint}per_page={_A_PAGE}&page={page}")
            yield from items
            if len(items) < _A_PAGE:
                return
        raise self._problem("GET", path, f"has more than {_MOST_PAGES * _A_PAGE:,} entries")

    def _problem(self, method: str, path: str, what: str, hint: str = "") -> FleetError:
        return FleetError(
            [
                Problem(
                    Message(
                        "forge-refuses",
                        "{method} {url} {what}",
                        method=method,
                        url=visible(self.url + path),
                        what=what,
                    ),
                    hint=hint,
                )
            ]
        )


def part(value: Any, *keys: str) -> Any:
    """Return what an answer has at a path of keys; None if there is nothing, or no map on the
    way.
    """
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def identity(value: Any, *keys: str) -> str:
    """Return an ID at a path of keys, which can stand in an address as it is.

    Raises:
        FleetError: there is none.
    """
    found = part(value, *keys)
    text = str(found) if isinstance(found, (str, int)) and not isinstance(found, bool) else ""
    if not _IDENTITY.fullmatch(text):
        raise FleetError(
            [
                Problem(
                    Message(
                        "api-answers-not-id",
                        "the API answers {keys} that is not an ID",
                        keys=".".join(keys),
                    )
                )
            ]
        )
    return text
