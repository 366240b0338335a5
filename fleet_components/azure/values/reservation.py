"""The resources that AKS reserves on a Linux node, which gives the allocatable amounts before the node exists.

Source: "Node resource reservations in Azure Kubernetes Service" (Microsoft, 2024-04-16, read 2026-11), rules for AKS
1.29 and later; the CPU brackets between the sizes of its table as in Azure/karpenter-provider-azure.
"""

from __future__ import annotations

EVICTION_MIB = 100
"""The kubelet evicts pods below this much free memory, which is therefore not allocatable."""

_CPU_BRACKETS = ((1, 60), (2, 40), (4, 20))
_CPU_BEYOND = 10
_MIB_PER_POD, _MIB_BASE = 20, 50


def allocatable_cpu(vcpus: int) -> int:
    """Return the allocatable CPU of a node in millicores.

    Reserved are 60m of the first core, 40m of the second, 20m of each up to the fourth, and 10m of each further one.
    """
    kept, low = 0, 0
    for high, rate in _CPU_BRACKETS:
        kept += rate * max(0, min(vcpus, high) - low)
        low = high
    return vcpus * 1000 - kept - _CPU_BEYOND * max(0, vcpus - low)


def allocatable_memory(memory_mib: int, max_pods: int) -> int:
    """Return the allocatable memory of a node in MiB.

    Reserved is the lesser of a quarter of the memory and 20 MiB per pod + 50 MiB, besides the eviction threshold.
    """
    kept = min(memory_mib // 4, _MIB_PER_POD * max_pods + _MIB_BASE)
    return max(0, memory_mib - kept - EVICTION_MIB)
