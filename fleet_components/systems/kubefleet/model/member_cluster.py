"""Reads KubeFleet ``MemberCluster`` objects, written by hand or exported from a hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.model.cluster import (
    Agent,
    Cluster,
    Usage,
    read_amounts,
    read_taint,
    read_time,
)
from fleet_components.model.typed import TRUSTED

MEMBER_NAME_LABEL = "kubernetes-fleet.io/member-name"
"""The label with its name that a hub sets on every member (``ensureMemberNameLabel`` in
``pkg/controllers/membercluster/v1beta1/membercluster_controller.go``, KubeFleet 0.3.1).
"""


@TRUSTED
def read_member_cluster(data: Mapping[str, Any]) -> Cluster:
    """Return the member that a ``MemberCluster`` describes.

    An object whose status has ``agentStatus`` or ``conditions`` was observed on a hub and is judged
    by that status. Any other object is declared: joined and healthy, with the properties and
    resource usage that it lists.

    Raises:
        ValueError: the name is missing, a time is invalid or has no time zone, or a property is not
            an object.
    """
    metadata, spec, status = (
        data.get("metadata") or {},
        data.get("spec") or {},
        data.get("status") or {},
    )
    if not metadata.get("name"):
        raise ValueError("metadata.name is missing")
    observed = "agentStatus" in status or "conditions" in status
    usage, labels = status.get("resourceUsage") or {}, metadata.get("labels") or {}
    return Cluster(
        kind="MemberCluster",
        name=metadata["name"],
        # A hub sets the label on every member; nobody does so for a declared one.
        labels=labels if observed else {**labels, MEMBER_NAME_LABEL: metadata["name"]},
        taints=tuple(read_taint(taint) for taint in spec.get("taints") or ()),
        properties={
            name: _value(name, entry) for name, entry in (status.get("properties") or {}).items()
        },
        usage=Usage(
            read_amounts(usage.get("capacity")),
            read_amounts(usage.get("allocatable")),
            read_amounts(usage.get("available")),
        ),
        observed=observed,
        agent=_agent(status.get("agentStatus") or ()) if observed else Agent(),
        leaving=metadata.get("deletionTimestamp") is not None,
        namespaces=status.get("namespaces"),
        # False counts as well: there are too many namespaces then, and KubeFleet filters by those
        # that it has.
        namespaces_collected=any(
            c.get("type") == "NamespaceCollectionSucceeded" for c in status.get("conditions") or ()
        ),
    )


def _value(name: str, entry: Any) -> str:
    if not isinstance(entry, Mapping):
        raise ValueError(
            f'the property "{name}" is not an object; write it as {name}: {{value: "{entry}"}}'
        )
    value = entry.get("value")
    return "" if value is None else str(value)


def _agent(statuses: Sequence[Mapping[str, Any]]) -> Agent | None:
    agent = next((status for status in statuses if status.get("type") == "MemberAgent"), None)
    if agent is None:
        return None
    conditions = {condition["type"]: condition for condition in agent.get("conditions") or ()}
    joined, healthy = conditions.get("Joined"), conditions.get("Healthy")
    return Agent(
        joined=joined is not None and joined["status"] == "True",
        healthy=None if healthy is None else healthy["status"] == "True",
        health_since=read_time(healthy.get("lastTransitionTime")) if healthy else None,
        heartbeat=read_time(agent.get("lastReceivedHeartbeat")),
        # On a hub every condition has a time; observations leave out those of eligible members.
        timeless=not agent.get("lastReceivedHeartbeat")
        and joined is not None
        and "lastTransitionTime" not in joined,
    )
