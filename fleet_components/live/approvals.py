"""Approvals of update runs on a hub: the requests that it has made, and the giving of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import client as http
from urllib.parse import quote

from fleet_components.hub.listing import Query, ServedResource
from fleet_components.hub.reading import understood
from fleet_components.live.exchange import received
from fleet_components.live.getting import Getter, UnansweredError, Unreachable, getter
from fleet_components.live.lists import objects_of
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.systems.kubefleet.hub.approvals import (
    HubApproval,
    Object,
    approvals_of,
    approved,
)
from fleet_components.systems.kubefleet.hub.kinds import GROUP, PLACEMENTS
from fleet_components.systems.registry import SYSTEMS

_HUB = "the hub"
# The newest first, since a hub may serve both.
_VERSIONS = ("v1", "v1beta1")
_ROLE = "its user has to be allowed to list update runs and requests for approvals"
_PATCH_ROLE = "its user has to be allowed to patch {}/status in group placement.kubernetes-fleet.io"


def hub_approvals(kubeconfig: str, timeout: float) -> tuple[HubApproval, ...]:
    """Return all requests for approvals that a hub of KubeFleet has.

    Args:
        kubeconfig: the text of its kubeconfig.
        timeout: limit for the whole call, in seconds.

    Raises:
        FleetError: it cannot be asked, or is no hub of KubeFleet.
    """
    with _hub(kubeconfig, timeout) as hub:
        try:
            found = hub.within(lambda: _read(hub))
        except UnansweredError as error:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "approvals-unreadable", "the list of approvals {what}", what=error.what
                        ),
                        subject=_HUB,
                        hint=_ROLE,
                    )
                ]
            ) from None
    if found is None:
        raise FleetError(
            [
                Problem(
                    Message(
                        "does-not-serve-approvals",
                        "does not serve approvals of update runs, as a hub of KubeFleet does",
                    ),
                    subject=_HUB,
                )
            ]
        )
    with understood(SYSTEMS["kubefleet"]):
        return approvals_of(*found)


def approve_on_hub(kubeconfig: str, asked: HubApproval, timeout: float) -> None:
    """Approve a request on a hub.

    Args:
        kubeconfig: the text of its kubeconfig.
        asked: the request, as it was read: one that was changed since is not approved.
        timeout: limit for the whole call, in seconds.

    Raises:
        FleetError: the hub does not take it.
    """
    request = asked.request
    # The plurals of these kinds are regular.
    metadata, plural = request["metadata"], f"{request['kind'].lower()}s"
    space = (
        f"/namespaces/{quote(metadata['namespace'], safe='')}" if metadata.get("namespace") else ""
    )
    path = (
        f"/apis/{request['apiVersion']}{space}/{plural}/{quote(metadata['name'], safe='')}/status"
    )
    patch = approved(request, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))

    def give(hub: Getter) -> int:
        headers = {"Content-Type": "application/merge-patch+json"}
        return received(hub.connection.client, "PATCH", path, headers, hub.budget, patch).status

    with _hub(kubeconfig, timeout) as hub:
        try:
            status = hub.within(lambda: give(hub))
        except UnansweredError as error:
            raise FleetError(
                [
                    Problem(
                        Message("approval-unreadable", "the approval {what}", what=error.what),
                        subject=asked.name,
                    )
                ]
            ) from None
    if status == http.CONFLICT:
        what = Message(
            "changed-hub-meanwhile-not",
            "has been changed on the hub meanwhile, and is not approved",
        )
        raise FleetError(
            [Problem(what, subject=asked.name, hint="run again, and look at it once more")]
        )
    if status != http.OK:
        answer = f"{status} {http.responses.get(status, '')}".rstrip()
        what = Message(
            "hub-does-not-take", "the hub does not take the approval: {answer}", answer=answer
        )
        raise FleetError([Problem(what, subject=asked.name, hint=_PATCH_ROLE.format(plural))])


def _read(hub: Getter) -> tuple[list[Object], list[Object]] | None:
    """Return the requests and the update runs; None if the cluster serves none."""
    version, served = _served(hub)
    if not version:
        return None
    requests: list[Object] = []
    runs: list[Object] = []
    for placement in PLACEMENTS.values():
        for kind, found in ((placement.approval, requests), (placement.run, runs)):
            resource = served.get(kind)
            # A hub may serve the requests of one kind of placement only.
            if resource:
                found += objects_of(hub, Query(version, kind), resource)
    return requests, runs


def _served(hub: Getter) -> tuple[str, dict[str, ServedResource]]:
    """Return the version in which a hub serves requests for approvals, and its kinds; nothing if it
    serves none.
    """
    for number in _VERSIONS:
        version = f"{GROUP}/{number}"
        try:
            listed = hub.get(f"/apis/{version}")["resources"]
            # Without subresources, such as ``approvalrequests/status``.
            kinds = [item for item in listed if "/" not in item["name"]]
            found = {
                kind["kind"]: ServedResource(
                    version, kind["kind"], kind["name"], namespaced=bool(kind["namespaced"])
                )
                for kind in kinds
            }
        except UnansweredError as error:
            if error.code != http.NOT_FOUND:
                raise
            continue
        except (KeyError, TypeError):
            # An answer of another form says that nothing is served in this version.
            continue
        if any(placement.approval in found for placement in PLACEMENTS.values()):
            return version, found
    return "", {}


@contextmanager
def _hub(kubeconfig: str, timeout: float) -> Iterator[Getter]:
    try:
        with getter(kubeconfig, timeout) as hub:
            yield hub
    except Unreachable as error:
        raise FleetError(
            [
                Problem(
                    Message("cannot-asked", "cannot be asked: {error}", error=error), subject=_HUB
                )
            ]
        ) from None
