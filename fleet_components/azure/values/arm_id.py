"""Resource IDs of clusters that can join a fleet."""

from __future__ import annotations

import re

import attrs

_FORM = re.compile(
    "/subscriptions/(?P<subscription>[^/]+)/resource[gG]roups/(?P<resource_group>[^/]+)"
    "/providers/(?P<type>[^/]+/[^/]+)/(?P<name>[^/]+)"
)
AKS = "Microsoft.ContainerService/managedClusters"
ARC = "Microsoft.Kubernetes/connectedClusters"
_TYPES = {AKS.lower(): AKS, ARC.lower(): ARC}


@attrs.frozen
class ClusterId:
    """Parts of the resource ID of an AKS or Arc cluster.

    Attributes:
        subscription: the subscription's GUID.
        resource_group: the resource group.
        type: :data:`AKS` or :data:`ARC`.
        name: the cluster's name.
    """

    subscription: str
    resource_group: str
    type: str
    name: str


def parse_cluster_id(text: str) -> ClusterId | None:
    """Parse the resource ID of a cluster; None if it is invalid, or the ID of something that cannot join a fleet."""
    match = _FORM.fullmatch(text)
    kind = _TYPES.get(match["type"].lower()) if match else None
    return ClusterId(match["subscription"], match["resource_group"], kind, match["name"]) if match and kind else None
