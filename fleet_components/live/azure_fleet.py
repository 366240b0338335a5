"""A fleet of Azure Fleet Manager, asked by its resource ID: the kubeconfig of its hub, its members
and update runs.
"""

from __future__ import annotations

import os
import time
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http import client as http
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.hub.azure.answers import MEMBERS, PARTS, fleet_resource
from fleet_components.hub.azure.fleet_resource import FleetId, FleetResource
from fleet_components.live.at_once import at_once
from fleet_components.live.azure_login import access_token, mode_of, resource_api
from fleet_components.live.connection import UnexpectedAnswer
from fleet_components.live.credentials import signing_in, unsecret
from fleet_components.live.exchange import AnswerBudget, Received, TooLargeError, hub_room, received
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

if TYPE_CHECKING:
    from httpx2 import Client


VERSIONS = ("2026-06-01", "2025-03-01")
"""API versions that are tried, one after the other: a sovereign cloud gets new ones later. The
second has no labels.
"""
_NO_SUCH_VERSION = (
    "InvalidApiVersionParameter",
    "NoRegisteredProviderFound",
    "InvalidResourceType",
)
_BEING_MADE = ("Creating", "Updating", "Deleting")
_TENANT = "log in to the tenant of the subscription: `az login --tenant TENANT`"
_ROLE = "Azure Kubernetes Fleet Manager Hub Cluster User Role"
_HINTS: Mapping[int, str] = {
    http.UNAUTHORIZED: _TENANT,
    http.FORBIDDEN: (
        'ask for the role "Reader" on the fleet, or log in to the tenant of the subscription'
    ),
    http.NOT_FOUND: (
        "check the resource ID, and that the login is in the tenant of the subscription"
    ),
}


@attrs.frozen
class FleetHubAnswer:
    """A fleet and the way to its hub.

    Attributes:
        fleet: the fleet, as the resource API reports it.
        kubeconfig: the text of the hub's kubeconfig, whose user signs in with ``kubelogin`` in the
            mode of the login; empty for a fleet without a hub.
    """

    fleet: FleetResource
    kubeconfig: str = attrs.field(default="", repr=False)


def azure_hub(fleet: FleetId, *, mode: str = "", timeout: float = 60.0) -> FleetHubAnswer:
    """Ask the resource API for a fleet. Nothing is changed there.

    ``fleet.unread`` names the lists that Azure does not allow to be read.

    Args:
        fleet: the fleet.
        mode: the login mode, one of :data:`~fleet_components.live.azure_login.MODES`; empty for the
            one that the environment amounts to.
        timeout: limit for the whole call, in seconds.

    Raises:
        FleetError: there is no login, no such fleet, or no kubeconfig of a hub that is there.
    """
    from httpx2 import Client

    deadline = time.monotonic() + timeout
    mode = mode or mode_of(os.environ)
    address = resource_api(os.environ)
    token = access_token(mode, fleet.subscription, address, deadline)
    with Client() as client, AnswerBudget(deadline, hub_room()) as budget:
        return _asked(ResourceApi(client, address, token, VERSIONS[0], budget), fleet, mode)


def _asked(api: ResourceApi, fleet: FleetId, mode: str) -> FleetHubAnswer:
    api, resource = _resource(api, fleet)
    has_hub = isinstance((resource.get("properties") or {}).get("hubProfile"), Mapping)
    found: dict[str, tuple[Any, ...]] = {}
    unread: dict[str, str] = {}
    given: list[Any] = []

    def read(part: str) -> None:
        try:
            found[part] = api.all(f"{fleet}/{part}")
        except UnexpectedAnswer as error:
            unread[part] = f"Azure {error.message}"

    def credentials() -> None:
        try:
            given.append(api.ask(f"{fleet}/listCredentials", "POST"))
        except UnexpectedAnswer as error:
            given.append(error)

    work: list[Callable[[], None]] = [partial(read, part) for part in PARTS]
    work += [credentials] if has_hub else []
    # Read to its end, which waits for all requests.
    for _ in at_once(work, len(work)):
        pass
    if api.version != VERSIONS[0] and MEMBERS in found:
        unread["labels of members"] = f"this cloud does not serve API version {VERSIONS[0]}"
    listing = fleet_resource(str(fleet), resource, found, unread)
    if not given:
        return FleetHubAnswer(listing)
    # ``credentials`` was called once, and adds one answer in any case.
    (answer,) = given
    if isinstance(answer, UnexpectedAnswer):
        raise _no_credentials(listing, answer)
    return FleetHubAnswer(listing, signing_in(_kubeconfig(answer, fleet), mode, {}, alone=True))


def _resource(api: ResourceApi, fleet: FleetId) -> tuple[ResourceApi, Mapping[str, Any]]:
    """Return the fleet, and the API in a version that this cloud serves."""
    for version in VERSIONS:
        api = attrs.evolve(api, version=version)
        try:
            resource = api.ask(str(fleet))
        except UnexpectedAnswer as error:
            # Any other refusal would be the same in another version.
            if version != VERSIONS[-1] and any(code in error.message for code in _NO_SUCH_VERSION):
                continue
            raise _refused(
                fleet,
                Message("azure-refuses", "Azure {message}", message=error.message),
                _HINTS.get(error.code, ""),
            ) from None
        if isinstance(resource, Mapping):
            return api, resource
    raise _refused(fleet, Message("azure-does-not-answer", "Azure does not answer with a fleet"))


def _kubeconfig(answer: Any, fleet: FleetId) -> str:
    """Return the kubeconfig of an answer with credentials."""
    entries = answer.get("kubeconfigs") if isinstance(answer, Mapping) else None
    first = entries[0] if isinstance(entries, list) and entries else None
    value = first.get("value") if isinstance(first, Mapping) else None
    try:
        text = b64decode(str(value or ""), validate=True).decode()
    except (NotBase64, ValueError):
        text = ""
    if not text:
        raise _refused(
            fleet, Message("azure-gives-no-kubeconfig-hub", "Azure gives no kubeconfig for its hub")
        )
    # With a line break, since a kubeconfig in one line would be taken for a path.
    return read_kubeconfig(f"{text}\n", f"hub of {fleet.name}")


def _no_credentials(fleet: FleetResource, error: UnexpectedAnswer) -> FleetError:
    what, hint = (
        Message(
            "azure-gives-no-kubeconfig",
            "Azure gives no kubeconfig for the hub of fleet {name}: it {message}",
            name=fleet.name,
            message=error.message,
        ),
        "",
    )
    if fleet.state in _BEING_MADE:
        what, hint = (
            Message(
                "azure-fleet-not-ready",
                "{what} (the fleet is {state})",
                what=what,
                state=fleet.state,
            ),
            "observe it again once its state is Succeeded",
        )
    elif error.code == http.FORBIDDEN:
        hint = f'ask for the role "{_ROLE}" on the fleet'
    return FleetError([Problem(what, hint=hint)])


def _refused(fleet: FleetId, what: Message, hint: str = "") -> FleetError:
    return FleetError([Problem(what, subject=f"fleet {fleet.name}", hint=hint)])


# Requests to the resource API of Azure: paged, repeated where it asks for that, until a deadline.


_AGAIN = (http.REQUEST_TIMEOUT, http.TOO_MANY_REQUESTS, *range(500, 600))
# Pauses in seconds; each is twice as long as the one before, up to the longest.
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
    budget: AnswerBudget

    def ask(self, path: str, method: str = "GET") -> Any:
        """Return the body of an answer.

        Args:
            path: the path, below the address.
            method: the HTTP method.

        Raises:
            UnexpectedAnswer: Azure refuses, or does not answer before the deadline.
        """
        return self._answered(
            f"{self.address}{path}?{urlencode({'api-version': self.version})}", method
        )

    def all(self, path: str) -> tuple[Any, ...]:
        """Return all elements of a list, page by page.

        Raises:
            UnexpectedAnswer: as for :meth:`ask`; or a page is not on the host that was asked, or
                there is no end.
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
        raise UnexpectedAnswer(
            "refers to another host for the next page of a list, which would get the token"
        )

    def _answered(self, url: str, method: str) -> Any:
        pause, refusal = _FIRST_PAUSE, UnexpectedAnswer(_SILENT)
        for number in range(_TRIES):
            answer = self._sent(url, method)
            if answer is not None and http.OK <= answer.status < http.MULTIPLE_CHOICES:
                try:
                    return self.budget.json(answer.content)
                except TooLargeError as error:
                    raise _too_large(error) from None
                # The time is over: the refusal of the last attempt is reported.
                except TimeoutError:
                    break
                except UnreadableError as error:
                    raise UnexpectedAnswer(f"answers with a text that {error.message}") from None
            refusal = _refusal(answer, self.token) if answer is not None else refusal
            if answer is not None and answer.status not in _AGAIN:
                break
            # The pause that Azure asks for, but no less than the own one.
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
    # The error may quote the request, and with it the token.
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
