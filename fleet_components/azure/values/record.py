"""Converts declared members to the scheduler's view of them, before they exist."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.properties import (
    capacities_of,
    free_nodes,
    nodes_of,
    properties_of,
    usage_of,
)
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.cluster import Cluster, Usage
from fleet_components.systems.karmada.model.cluster import summarize


def cluster_record(member: FleetMember, table: SizeTable, subscription: str = "") -> Cluster:
    """Return the member as the scheduler sees it. It must be valid.

    Args:
        member: the member.
        table: the VM sizes.
        subscription: the subscription of a cluster of Azure whose declaration names none; empty if
            it is unknown.
    """
    pools = member.node_pools
    nodes = nodes_of(pools, member.region, table, member.default_max_pods)
    return Cluster(
        name=member.name,
        labels={**member.labels, **automatic_labels(member, subscription)},
        taints=member.taints,
        properties=properties_of(nodes, member.observed)
        if pools
        else capacities_of(member.observed),
        usage=usage_of(nodes, member.observed)
        if pools
        else Usage(available=member.observed.available),
        provider="azure",
        region=member.region,
        zones=tuple(sorted({f"{member.region}-{zone}" for pool in pools for zone in pool.zones})),
        # Observed free capacity is a sum over all nodes, which cannot be split into grades of
        # nodes.
        resource_summary=summarize(free_nodes(nodes))
        if pools and not member.observed.available
        else None,
    )


def automatic_labels(member: FleetMember, subscription: str = "") -> Mapping[str, str]:
    """Return the labels that Azure adds to a member (Microsoft, "member cluster labels",
    2026-10-06).

    A cluster outside of Azure gets none. The subscription is left out if it is unknown.
    """
    if member.cluster is None:
        return {}
    labels = {
        "fleet.azure.com/location": member.region,
        "fleet.azure.com/resource-group": member.cluster.resource_group,
        "fleet.azure.com/subscription-id": member.cluster.subscription or subscription,
        "fleet.azure.com/cluster-name": member.cluster.name,
        "fleet.azure.com/member-name": member.name,
    }
    return {key: value for key, value in labels.items() if value}
