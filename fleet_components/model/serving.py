"""Derive the properties that Karmada needs from a member that is declared for KubeFleet."""

from __future__ import annotations

import attrs

from fleet_components.model.cluster import Cluster, ResourceSummary
from fleet_components.model.quantity import is_quantity, parse_quantity
from fleet_components.model.typed import TRUSTED

REGION_LABELS = ("topology.kubernetes.io/region", "fleet.azure.com/location")
ZONE_LABEL = "topology.kubernetes.io/zone"
NODE_COUNT = "kubernetes-fleet.io/node-count"
# The kubelet's default: maxPods of a KubeletConfiguration.
_MOST_DIGITS = 19
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
