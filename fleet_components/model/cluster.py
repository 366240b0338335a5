"""Members as the schedulers see them: one class for KubeFleet and Karmada."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from fleet_components.model.codec import in_reach
from fleet_components.model.quantity import is_quantity, parse_quantity
from fleet_components.model.typed import TRUSTED, Typed

NO_LABELS: Mapping[str, str] = {}


@attrs.frozen
class Taint(Typed):
    """A taint on a member.

    Attributes:
        key: the taint's key.
        value: its value, empty by default.
        effect: ``NoSchedule``; Karmada also knows ``PreferNoSchedule`` and ``NoExecute``.
        time_added: when it was added, for ``NoExecute``; None when not recorded.
    """

    key: str
    value: str = ""
    effect: str = "NoSchedule"
    time_added: datetime | None = None

    @property
    def written(self) -> str:
        """The taint as it is written in the spec of a member."""
        return f"taints: [{{key: {self.key}, effect: {self.effect}}}]"


DRAINED = Taint(key="drained", value="", effect="NoSchedule")
"""The taint that keeps placements away from a member which they have left."""


@attrs.frozen
class Agent(Typed):
    """The last report of the KubeFleet member agent. All times are absolute.

    Attributes:
        joined: True if the ``Joined`` condition is True.
        healthy: True if the ``Healthy`` condition is True; None if there is no such condition.
        health_since: last transition time of the ``Healthy`` condition.
        heartbeat: when the last heartbeat was received.
        timeless: True for a report that was written without its times: it is as fresh as what it
            was written with.
    """

    joined: bool = True
    healthy: bool | None = True
    health_since: datetime | None = None
    heartbeat: datetime | None = None
    timeless: bool = False


@attrs.frozen
class Usage(Typed):
    """Resource amounts by resource name (``cpu``, ``memory``, ...), as Kubernetes quantities in
    text.
    """

    capacity: Mapping[str, str] = NO_LABELS
    allocatable: Mapping[str, str] = NO_LABELS
    available: Mapping[str, str] = NO_LABELS


@attrs.frozen
class ResourceModel(Typed):
    """One grade of Karmada's resource models.

    Attributes:
        grade: number of the grade.
        minimum: lower bound of a node of this grade, by resource name.
    """

    grade: int
    minimum: Mapping[str, str]


@attrs.frozen
class ResourceSummary(Typed):
    """Karmada's ``status.resourceSummary``: amounts by resource name, and the number of free nodes
    by grade.
    """

    allocatable: Mapping[str, str] = NO_LABELS
    allocated: Mapping[str, str] = NO_LABELS
    allocating: Mapping[str, str] = NO_LABELS
    nodes_by_grade: Mapping[int, int] | None = None


@attrs.frozen
class Cluster(Typed):
    """A member of the fleet.

    A declared member (``observed`` False) is joined and healthy, without heartbeat; an observed one
    is judged by ``agent`` at the time of the observation.

    Attributes:
        name: its name in the fleet, unique.
        labels: its labels, the automatic ones included.
        taints: in the order of the spec.
        properties: property name to value, as text (KubeFleet ``status.properties``).
        usage: KubeFleet ``status.resourceUsage``.
        observed: whether status was read from a real system.
        agent: the member agent's report; None when an observed member has none yet.
        leaving: it has a deletion timestamp.
        namespaces: namespaces on the member (KubeFleet ``status.namespaces``); None when not
            collected.
        namespaces_collected: the ``NamespaceCollectionSucceeded`` condition is there.
        provider: cloud provider (Karmada ``spec.provider``).
        region: region (Karmada ``spec.region``).
        zones: zones (Karmada ``spec.zones``).
        in_all_zones: whether ``zone In`` has to hold for all of its zones, as in Karmada before
            1.18; False by default.
        api_enablements: ``(apiVersion, kind)`` pairs that the member serves; None when not
            declared, which Karmada treats as every API missing for observed members and we treat as
            every API present for declared ones.
        resource_models: Karmada ``spec.resourceModels``; None means the nine default ones.
        resource_summary: Karmada ``status.resourceSummary``; None when absent.
        kind: kind of the object that it was read from; empty if it was made otherwise.
    """

    name: str
    labels: Mapping[str, str] = NO_LABELS
    taints: tuple[Taint, ...] = ()
    properties: Mapping[str, str] = NO_LABELS
    usage: Usage = Usage()
    observed: bool = False
    agent: Agent | None = Agent()
    leaving: bool = False
    namespaces: Mapping[str, str] | None = None
    namespaces_collected: bool = False
    provider: str = ""
    region: str = ""
    zones: tuple[str, ...] = ()
    in_all_zones: bool = False
    api_enablements: frozenset[tuple[str, str]] | None = None
    resource_models: tuple[ResourceModel, ...] | None = None
    resource_summary: ResourceSummary | None = None
    # Not compared: a member read from another kind of object is the same member.
    kind: str = attrs.field(default="", eq=False)

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether it serves a kind of Karmada's templates; one without API data serves every
        kind.
        """
        return self.api_enablements is None or (api_version, kind) in self.api_enablements


# Values that the members of both systems have in the same form: times, taints, amounts of
# resources.


def read_time(text: str | None) -> datetime | None:
    """Parse an RFC 3339 time; None for None.

    Raises:
        ValueError: the text is not an RFC 3339 time, has no time zone, or is too far from the
            present to add a wait to it.
    """
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise ValueError(f'"{text}" is not a time; write it as 2026-01-31T12:00:00Z') from None
    if time.tzinfo is None:
        raise ValueError(f'"{text}" has no time zone; write it as 2026-01-31T12:00:00Z')
    if not in_reach(time):
        raise ValueError(f'"{text}" is too far away for any wait; write it as 2026-01-31T12:00:00Z')
    return time


def read_taint(taint: Mapping[str, Any]) -> Taint:
    """Return a taint from its API form."""
    return Taint(
        taint["key"], taint.get("value") or "", taint["effect"], read_time(taint.get("timeAdded"))
    )


def read_amounts(amounts: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return amounts by resource, as text."""
    return {resource: str(amount) for resource, amount in (amounts or {}).items()}


# Derive the properties that Karmada needs from a member that is declared for KubeFleet.


REGION_LABELS = ("topology.kubernetes.io/region", "fleet.azure.com/location")
ZONE_LABEL = "topology.kubernetes.io/zone"
NODE_COUNT = "kubernetes-fleet.io/node-count"
# A node count with this many digits counts as unknown: as one node.
_MOST_DIGITS = 19
# The kubelet's default: maxPods of a KubeletConfiguration.
_PODS, _PODS_PER_NODE = "pods", 110


@TRUSTED
def serving_both(cluster: Cluster) -> Cluster:
    """Return the member with missing Karmada properties derived from what KubeFleet knows of it.

    Region and zone come from the well-known labels, the resource summary from
    ``status.resourceUsage``. If that has no pods, each node counts for 110.
    """
    return attrs.evolve(
        cluster,
        region=cluster.region
        or next((cluster.labels[key] for key in REGION_LABELS if key in cluster.labels), ""),
        zones=cluster.zones
        or ((cluster.labels[ZONE_LABEL],) if ZONE_LABEL in cluster.labels else ()),
        # What is written for Karmada counts as it is.
        resource_summary=cluster.resource_summary or _summary(cluster),
    )


def _summary(cluster: Cluster) -> ResourceSummary | None:
    allocatable, available = (
        cluster.usage.allocatable or cluster.usage.capacity,
        cluster.usage.available,
    )
    if not allocatable:
        return None
    pods = {} if _PODS in allocatable else {_PODS: str(_PODS_PER_NODE * _nodes(cluster))}
    used = {
        name: _difference(amount, available[name])
        for name, amount in allocatable.items()
        if name in available
    }
    # As in _difference, an amount that is no quantity is an error only where a policy asks for it.
    measured = {
        name: amount if is_quantity(amount) else "0" for name, amount in allocatable.items()
    }
    return ResourceSummary({**measured, **pods}, used)


def _nodes(cluster: Cluster) -> int:
    text = cluster.properties.get(NODE_COUNT, "1")
    return int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else 1


def _difference(whole: str, part: str) -> str:
    # Not an error here: an amount that is not a quantity is one only for a policy that asks for it.
    if not (is_quantity(whole) and is_quantity(part)):
        return "0"
    return f"{parse_quantity(whole).nano - parse_quantity(part).nano}n"
