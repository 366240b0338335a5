"""What AKS keeps of a Linux node for itself, so that the allocatable part is known before the node exists.

Source: "Node resource reservations in Azure Kubernetes Service" (Microsoft, 2024-04-16, read 2026-11), rules for AKS
1.29 and later; the brackets of CPU between the sizes of its table as in Azure/karpenter-provider-azure.
"""

from __future__ import annotations

EVICTION_MIB = 100
"""The kubelet evicts below this much free memory, which makes it not allocatable."""

_CPU_BRACKETS = ((1, 60), (2, 40), (4, 20))
_CPU_BEYOND = 10
_MIB_PER_POD, _MIB_BASE = 20, 50


def allocatable_cpu(vcpus: int) -> int:
    """The allocatable CPU of a node, in millicores: 60m of the first core are kept, 40m of the second, and so on."""
    kept, low = 0, 0
    for high, rate in _CPU_BRACKETS:
        kept += rate * max(0, min(vcpus, high) - low)
        low = high
    return vcpus * 1000 - kept - _CPU_BEYOND * max(0, vcpus - low)


def allocatable_memory(memory_mib: int, max_pods: int) -> int:
    """The allocatable memory of a node, in MiB: the lesser of a quarter and 20 MiB a pod + 50 MiB is kept."""
    kept = min(memory_mib // 4, _MIB_PER_POD * max_pods + _MIB_BASE)
    return max(0, memory_mib - kept - EVICTION_MIB)
