"""Asks a hub whether it knows the members of a fleet, before anything is written to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import client as http

from fleet_components.hub.listing import Query, ServedResource
from fleet_components.live.getting import Getter, UnansweredError, Unreachable, getter
from fleet_components.live.kubeconfig import endpoint_of
from fleet_components.live.lists import objects_of
from fleet_components.model.kinds import guess_plural
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few

_SECONDS = 30.0
_SINGLY = 20
"""As many members are asked for one by one; more are listed, which takes a moment for a thousand,
too.
"""
_JOIN = {
    "KubeFleet": (
        "a member joins by its agents: make its MemberCluster and start them, then run again"
    ),
    "Karmada": "karmadactl join NAME, or karmadactl register, then run again",
}


def identified_hub(kubeconfig: str, system: str, members: Sequence[Manifest]) -> str:
    """Return the uid of a hub, that of its namespace kube-system, once it has said that it knows
    all members.

    Args:
        kubeconfig: the text of its kubeconfig.
        system: the name of its system.
        members: the members, as they are declared.

    Returns:
        The uid; empty if the hub does not tell it.

    Raises:
        FleetError: it lacks some, is no hub of the system, or cannot be asked.
    """
    try:
        with getter(kubeconfig, _SECONDS) as hub:
            lacking = hub.within(lambda: list(_lacking(hub, members)))
            uid = hub.within(lambda: _uid(hub))
    except Unreachable as error:
        raise _wrong(
            kubeconfig, Message("cannot-asked", "cannot be asked: {error}", error=error), error.hint
        ) from None
    except UnansweredError as error:
        raise _wrong(
            kubeconfig,
            Message("members-unreadable", "what it knows of members {what}", what=error.what),
            error.hint,
        ) from None
    if lacking:
        what = Message(
            "hub-does-not-know",
            "the hub does not know {lacking}, of which labels or taints are declared",
            lacking=few([manifest.name for manifest in lacking]),
        )
        # One problem for all of them, at the place of the first.
        raise FleetError([lacking[0].problem(what, ("metadata", "name"), _JOIN[system])])
    return uid


def _wrong(kubeconfig: str, what: Message, hint: str) -> FleetError:
    where = endpoint_of(kubeconfig)
    return FleetError(
        [Problem(what, subject=f"the hub ({where})" if where else "the hub", hint=hint)]
    )


def _uid(hub: Getter) -> str:
    try:
        return str(hub.get("/api/v1/namespaces/kube-system")["metadata"]["uid"])
    except UnansweredError as error:
        if error.code not in (http.NOT_FOUND, http.FORBIDDEN):
            raise
        return ""
    except (KeyError, TypeError):
        return ""


def _lacking(hub: Getter, members: Sequence[Manifest]) -> Iterator[Manifest]:
    # More than _SINGLY, so there is a first one.
    known = _listed(hub, members[0]) if len(members) > _SINGLY else None
    for member in members:
        if (not _is_there(hub, member)) if known is None else member.name not in known:
            yield member


def _listed(hub: Getter, like: Manifest) -> set[str] | None:
    """Return the names of all members; None if the hub does not let them be listed."""
    resource = ServedResource(
        like.api_version, like.kind, guess_plural(like.kind), namespaced=False
    )
    query = Query(like.api_version, like.kind, metadata_only=True)
    try:
        return {data["metadata"]["name"] for data in objects_of(hub, query, resource)}
    except UnansweredError as error:
        if error.code != http.FORBIDDEN:
            raise
        return None


def _is_there(hub: Getter, member: Manifest) -> bool:
    try:
        hub.get(f"/apis/{member.api_version}/{guess_plural(member.kind)}/{member.name}")
    except UnansweredError as error:
        if error.code != http.NOT_FOUND:
            raise
        return False
    return True
