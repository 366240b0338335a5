"""Members as a hub knows them, without what changes from minute to minute."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from fleet_components.hub.listing import Listing, Object
from fleet_components.systems.kubefleet.hub.kinds import MEMBERS, as_written, conditions_of
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import ineligibility

_AGENT, _COLLECTED = "MemberAgent", "NamespaceCollectionSucceeded"
_SPEC = ("identity", "taints")
"""Fields of the spec that do not concern the agent alone."""
_USAGE = ("capacity", "allocatable", "available")
_NEVER = "1970-01-01T00:00:00Z"
"""Stands for the heartbeat of an agent that has not sent one."""


def members_of(listing: Listing) -> tuple[Object, ...]:
    """Return the members, sorted by name, as far as schedulers read them.

    A member that can be scheduled on has no times: it counts as connected when the observation
    was made. Any other keeps those of its last heartbeat and of its health.
    """
    return tuple(_member(data, listing.as_of) for data in listing.all("MemberCluster", MEMBERS))


def _member(data: Object, as_of: datetime) -> Object:
    written, status = as_written(data), data.get("status") or {}
    written["spec"] = {
        field: value for field, value in (data.get("spec") or {}).items() if field in _SPEC
    }
    left = data["metadata"].get("deletionTimestamp")
    if left:
        written["metadata"]["deletionTimestamp"] = left
    # Judged with all times; they are written only if the member is not eligible.
    healthy = not ineligibility(
        read_member_cluster({**data, "metadata": written["metadata"]}), as_of
    )
    kept = {
        "properties": {
            name: {"value": entry.get("value")} for name, entry in _sorted(status.get("properties"))
        },
        "resourceUsage": _usage(status.get("resourceUsage") or {}),
        "namespaces": status.get("namespaces"),
        "conditions": [
            _plain(item) for kind, item in conditions_of(status).items() if kind == _COLLECTED
        ],
    }
    found: dict[str, Any] = {
        # An empty map of namespaces says that there are none.
        field: value
        for field, value in kept.items()
        if value or (field == "namespaces" and value is not None)
    }
    found["agentStatus"] = list(_agents(status, timed=not healthy))
    return {**written, "status": found}


def _agents(status: Object, *, timed: bool) -> Iterator[Object]:
    """Yield the report of the member agent; a member without one is not in the fleet yet."""
    for agent in status.get("agentStatus") or ():
        if agent.get("type") != _AGENT:
            continue
        known = conditions_of(agent)
        conditions = [known[kind] for kind in ("Joined", "Healthy") if kind in known]
        if timed:
            # Never empty: without any time the agent could count as timeless, and so as connected.
            heartbeat = agent.get("lastReceivedHeartbeat") or _NEVER
            yield {
                "type": _AGENT,
                "conditions": [_timed(condition) for condition in conditions],
                "lastReceivedHeartbeat": heartbeat,
            }
        else:
            yield {"type": _AGENT, "conditions": [_plain(condition) for condition in conditions]}


def _plain(condition: Object) -> dict[str, Any]:
    return {"type": condition["type"], "status": condition["status"]}


def _timed(condition: Object) -> dict[str, Any]:
    since = condition.get("lastTransitionTime")
    return {**_plain(condition), **({"lastTransitionTime": since} if since else {})}


def _usage(usage: Object) -> Object:
    return {part: dict(_sorted(usage[part])) for part in _USAGE if usage.get(part)}


def _sorted(values: Any) -> list[tuple[str, Any]]:
    return sorted((values or {}).items())
