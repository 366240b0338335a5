"""Derives from declared node pools what KubeFleet's Azure property provider would report of the
cluster.

Source: ``pkg/propertyprovider/azure`` of KubeFleet v0.3.1. It reads nodes, this module reads
declarations, so amounts are nominal: a real node reports a few percent less memory than its VM size
has. The provider uses the list prices of the day, this module those of the size table. Both use
on-demand prices for spot nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import attrs

from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.vm_size import SizeTable, VmSize
from fleet_components.model.cluster import NO_LABELS, Usage
from fleet_components.model.typed import Typed

NODE_COUNT = "kubernetes-fleet.io/node-count"
CPU_COST = "kubernetes.azure.com/per-cpu-core-cost"
MEMORY_COST = "kubernetes.azure.com/per-gb-memory-cost"
_SIZE_COUNT = "kubernetes.azure.com/vm-sizes/{}/count"
_SIZE_CAPACITY = "kubernetes.azure.com/vm-sizes/{}/capacity"


@attrs.frozen
class Observation(Typed):
    """Values that cannot be derived from a declaration, recorded from a cluster or promised by its
    owner.

    Attributes:
        available: free ``cpu`` and ``memory``, as quantities.
        capacity: by VM size, how many more nodes of it could be created.
    """

    available: Mapping[str, str] = NO_LABELS
    capacity: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen
class Nodes:
    """A group of equal nodes.

    Attributes:
        size: their VM size.
        count: the number of nodes.
        max_pods: pods per node.
        price: USD per hour for one node; None if unknown.
    """

    size: VmSize
    count: int
    max_pods: int
    price: float | None


def nodes_of(
    pools: Iterable[NodePool], region: str, table: SizeTable, max_pods: int
) -> tuple[Nodes, ...]:
    """Return the nodes that new pools start with. The pools must be valid."""
    return tuple(_nodes(pool, region, table, max_pods) for pool in pools)


def usage_of(nodes: Iterable[Nodes], observed: Observation) -> Usage:
    """Return total and allocatable CPU and memory of the nodes, and the available amounts as
    observed.
    """
    # May be an iterator, and is read several times.
    nodes = tuple(nodes)
    return Usage(
        capacity={
            "cpu": cpu_quantity(sum(n.count * n.size.vcpus * 1000 for n in nodes)),
            "memory": memory_quantity(sum(n.count * n.size.memory_mib for n in nodes)),
        },
        allocatable={
            "cpu": cpu_quantity(sum(n.count * allocatable_cpu(n.size.vcpus) for n in nodes)),
            "memory": memory_quantity(
                sum(n.count * allocatable_memory(n.size.memory_mib, n.max_pods) for n in nodes)
            ),
        },
        available=observed.available,
    )


def free_nodes(nodes: Iterable[Nodes]) -> tuple[tuple[int, Mapping[str, str]], ...]:
    """Return pairs of the number of nodes and what each can allocate while nothing runs on it."""
    return tuple(
        (
            group.count,
            {
                "cpu": cpu_quantity(allocatable_cpu(group.size.vcpus)),
                "memory": memory_quantity(
                    allocatable_memory(group.size.memory_mib, group.max_pods)
                ),
                "pods": str(group.max_pods),
            },
        )
        for group in nodes
    )


def properties_of(nodes: Iterable[Nodes], observed: Observation) -> dict[str, str]:
    """Return the properties by name: node counts, capacities as observed, and costs if all prices
    are known.
    """
    nodes = tuple(nodes)
    counts: Counter[str] = Counter()
    for group in nodes:
        counts[group.size.name] += group.count
    return {
        NODE_COUNT: str(counts.total()),
        # The provider counts nodes, so it reports no size that a pool without nodes has.
        **{_SIZE_COUNT.format(size): str(count) for size, count in counts.items() if count},
        **_costs(nodes),
        **capacities_of(observed),
    }


def capacities_of(observed: Observation) -> dict[str, str]:
    """Return the capacity properties: how many more nodes of each VM size could be created, as
    observed.
    """
    return {_SIZE_CAPACITY.format(size): str(count) for size, count in observed.capacity.items()}


def _nodes(pool: NodePool, region: str, table: SizeTable, max_pods: int) -> Nodes:
    size = pool.size(table)
    assert size, "declarations are checked before they are used"
    return Nodes(size, pool.nodes, pool.max_pods or max_pods, pool.price(region, table))


def _costs(nodes: tuple[Nodes, ...]) -> dict[str, str]:
    running = [group for group in nodes if group.count]
    if not running:
        # As in trackers/nodes.go of the provider, which sets the costs of a cluster without nodes
        # to 0.
        return {CPU_COST: "0.000", MEMORY_COST: "0.000"}
    prices = [group.price for group in running]
    if None in prices or not any(prices):
        return {}
    total = sum(group.count * (group.price or 0) for group in running)
    cores = sum(group.count * group.size.vcpus for group in running)
    gibibytes = sum(group.count * group.size.memory_mib for group in running) / 1024
    return {CPU_COST: f"{total / cores:.3f}", MEMORY_COST: f"{total / gibibytes:.3f}"}


# Amounts of CPU and memory as canonical Kubernetes quantities: ``11580m``, ``12k``, ``48Gi``.
#
# Source: ``CanonicalizeBytes`` in ``pkg/api/resource/quantity.go`` of k8s.io/apimachinery, which
# formats every sum of node capacities.


_DECIMAL = ("m", "", "k", "M", "G")
_BINARY = ("Mi", "Gi", "Ti", "Pi")


def cpu_quantity(millicores: int) -> str:
    """Format an amount of CPU, given in thousandths of a core."""
    return _shortest(millicores, 1000, _DECIMAL)


def memory_quantity(mebibytes: int) -> str:
    """Format an amount of memory, given in MiB."""
    return _shortest(mebibytes, 1024, _BINARY)


def _shortest(amount: int, step: int, suffixes: tuple[str, ...]) -> str:
    if amount == 0:
        return "0"
    power = 0
    while amount % step == 0 and power < len(suffixes) - 1:
        amount, power = amount // step, power + 1
    return f"{amount}{suffixes[power]}"


# The resources that AKS reserves on a Linux node, which gives the allocatable amounts before the
# node exists.
#
# Source: "Node resource reservations in Azure Kubernetes Service" (Microsoft, 2024-04-16, read
# 2026-11), rules for AKS 1.29 and later; the CPU brackets between the sizes of its table as in
# Azure/karpenter-provider-azure.


EVICTION_MIB = 100
"""The kubelet evicts pods below this much free memory, which is therefore not allocatable."""

# Pairs of a number of cores, up to which a rate applies, and the millicores reserved of each.
_CPU_BRACKETS = ((1, 60), (2, 40), (4, 20))
_CPU_BEYOND = 10
_MIB_PER_POD, _MIB_BASE = 20, 50


def allocatable_cpu(vcpus: int) -> int:
    """Return the allocatable CPU of a node in millicores.

    Reserved are 60m of the first core, 40m of the second, 20m of each up to the fourth, and 10m of
    each further one.
    """
    kept, low = 0, 0
    for high, rate in _CPU_BRACKETS:
        kept += rate * max(0, min(vcpus, high) - low)
        low = high
    return vcpus * 1000 - kept - _CPU_BEYOND * max(0, vcpus - low)


def allocatable_memory(memory_mib: int, max_pods: int) -> int:
    """Return the allocatable memory of a node in MiB.

    Reserved is the lesser of a quarter of the memory and 20 MiB per pod + 50 MiB, besides the
    eviction threshold.
    """
    kept = min(memory_mib // 4, _MIB_PER_POD * max_pods + _MIB_BASE)
    return max(0, memory_mib - kept - EVICTION_MIB)
