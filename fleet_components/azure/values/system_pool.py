"""Rules of AKS for system pools, which run what the cluster itself needs, and for the pods of a pool.

Source: "Manage system node pools in AKS", sections on limitations and on system and user node pools (Microsoft,
2026-04-30), and "IP address planning for AKS clusters", section on maximum pods per node (Microsoft, 2026-08).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet_components.azure.values.node_pool import SYSTEM, NodePool
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.problem import FieldPath, Problem

_FEWEST_VCPUS = 4
_LEAST_MIB = 4096
_FEWEST_PODS = 30
_BURSTABLE = re.compile(r"(standard_|basic_)?b\d", re.IGNORECASE)


def system_pool_problems(pool: NodePool, default_max_pods: int, table: SizeTable, path: FieldPath) -> Iterator[Problem]:
    """Yield problems of a pool of a cluster to be created: of its VM size if it is a system pool, of its pods.

    The vendor's texts differ on the vCPUs (at least 4 here, at least 2 in its article on quotas), so a pool that states
    the ``cpu`` and ``memory`` of its size takes a smaller one.
    """
    at = (*path, "vmSize")
    if pool.mode == SYSTEM:
        size = table.find(pool.vm_size)
        stated = pool.cpu is not None and pool.memory is not None
        if _BURSTABLE.match(pool.vm_size):
            yield Problem(f"{pool.vm_size} is of the B series, which system pools do not take", at, "Standard_D4s_v5")
        elif size and not stated and (size.vcpus < _FEWEST_VCPUS or size.memory_mib < _LEAST_MIB):
            gibibytes = f"{size.memory_mib / 1024:g} GiB"
            what = f"{size.name} has {size.vcpus} vCPUs and {gibibytes}, too little for a system pool"
            hint = "4 vCPUs and 4 GiB or more, as Standard_D4s_v5; to use it all the same, write its cpu: and memory:"
            yield Problem(what, at, hint)
    # A user pool may be empty; what it holds at its largest counts.
    nodes = pool.nodes if pool.mode == SYSTEM else pool.most_nodes
    most = nodes * (pool.max_pods or default_max_pods)
    if (pool.mode == SYSTEM or pool.max_pods is not None) and nodes and most < _FEWEST_PODS:
        what = f"the pool has room for {most} pods"
        yield Problem(what, (*path, "maxPods"), f"{_FEWEST_PODS} at least: more pods a node, or more nodes")
