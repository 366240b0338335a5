"""Checks of the further subnets that a cluster names: those of its pods and of its API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet_components.azure.values.arm_id import SUBNET, resource_problems
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

if TYPE_CHECKING:
    from fleet_components.azure.values.aks_member import AksMember


def pod_subnet_problems(member: AksMember, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem for each subnet of pods that does not go with the network, or lacks its
    fellows.

    Sources: "Azure CNI Pod Subnet" and "IP address planning" (Microsoft, 2026). The two name
    different defaults of pods per node, so it must be declared.
    """
    places = [("systemPool",), *(("pools", position) for position in range(len(member.pools)))]
    for place, pool in zip(places, member.node_pools, strict=True):
        at = (*path, *place, "podSubnet")
        if pool.pod_subnet is None:
            if any(other.pod_subnet is not None for other in member.node_pools):
                yield Problem(
                    Message(
                        "pods-another-pool-subnet",
                        "the pods of another pool have a subnet of their own",
                    ),
                    at,
                    "all pools, or none",
                )
            continue
        yield from resource_problems(pool.pod_subnet, SUBNET, at)
        if member.network.plugin != "azure" or member.network.overlay:
            yield Problem(
                Message("pods-no-subnet-network", "pods have no subnet with this network"),
                at,
                "network: {plugin: azure, overlay: false}",
            )
        if pool.subnet is None and member.subnet is None:
            yield Problem(
                Message("pods-subnet-only-nodes", "pods have a subnet only where nodes have one"),
                at,
                "subnet: of the cluster or the pool",
            )
        if pool.max_pods is None:
            yield Problem(
                Message(
                    "azure-s-default-subnet", "Azure's default with a subnet of pods is not clear"
                ),
                (*path, *place, "maxPods"),
                "for example 110",
            )


def api_server_problems(member: AksMember, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem for each subnet of the API server that Azure would not take.

    Source: "API Server VNet Integration" (Microsoft, 2026-04).
    """
    server, at = member.api_server, (*path, "apiServer", "subnet")
    if server.subnet is not None:
        yield from resource_problems(server.subnet, SUBNET, at)
        if not server.vnet_integration:
            yield Problem(
                Message(
                    "subnet-api-server-needs", "a subnet of the API server needs VNet integration"
                ),
                at,
                "vnetIntegration: true",
            )
    if not server.vnet_integration:
        return
    if (server.subnet is None) != (member.subnet is None):
        yield Problem(
            Message("nodes-api-server-one", "nodes and API server are in one network"),
            at,
            "a subnet of both, or of neither",
        )
    elif server.subnet is not None and member.identity is None:
        hint = "a user-assigned identity with the role Network Contributor on both subnets"
        yield Problem(
            Message(
                "cluster-s-identity-must",
                "the cluster's identity must have a role before the cluster exists",
            ),
            (*path, "identity"),
            hint,
        )
