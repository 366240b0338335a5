"""Declaration of how the cluster autoscaler behaves, for all autoscaled node pools of a cluster.

Source: ``autoScalerProfile`` of ``managedClusters`` at API version 2025-09-01, and "Use the cluster
autoscaler in AKS" (Microsoft, 2026-07).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.azure.values import checks
from fleet_components.azure.values.node_pool import SYSTEM, NodePool
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import camel
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Typed

_EXPANDERS = ("least-waste", "most-pods", "priority", "random")
# The largest int32, for fields without an upper bound of their own.
_MOST = 2**31 - 1
_COUNTS = {
    "max_empty_bulk_delete": (1, _MOST),
    "max_graceful_termination_seconds": (0, _MOST),
    "max_node_provision_minutes": (1, _MOST),
    "max_total_unready_percentage": (0, 100),
    "new_pod_scale_up_delay_seconds": (0, _MOST),
    "ok_total_unready_count": (0, _MOST),
    "scale_down_delay_after_add_minutes": (0, _MOST),
    "scale_down_delay_after_delete_minutes": (0, _MOST),
    "scale_down_delay_after_failure_minutes": (0, _MOST),
    "scale_down_unneeded_minutes": (0, _MOST),
    "scale_down_unready_minutes": (0, _MOST),
    "scan_interval_seconds": (1, _MOST),
}
"""Lowest and highest value of each whole number."""


@attrs.frozen(kw_only=True)
class Autoscaler(Typed):
    """Settings of the cluster autoscaler. None leaves a setting to Azure, whose default is named
    here.

    Attributes:
        balance_similar_node_groups: pools that are alike get the same number of nodes; False.
        daemonset_eviction_for_empty_nodes: pods of DaemonSets are evicted from empty nodes before
            these go; False.
        daemonset_eviction_for_occupied_nodes: the same for nodes with other pods; True.
        expander: which pool grows: ``least-waste``, ``most-pods``, ``priority`` or ``random``, the
            default.
        ignore_daemonsets_utilization: pods of DaemonSets do not count as utilization; False.
        max_empty_bulk_delete: how many empty nodes are deleted at the same time; 10.
        max_graceful_termination_seconds: how long a pod may take to end when its node goes, in
            seconds; 600.
        max_node_provision_minutes: how long to wait for a new node, in minutes; 15.
        max_total_unready_percentage: the autoscaler stops above this share of unready nodes, 0 to
            100; 45.
        new_pod_scale_up_delay_seconds: pods younger than this do not make a pool grow, in seconds;
            0.
        ok_total_unready_count: unready nodes that are always tolerated; 3.
        scale_down_delay_after_add_minutes: the pause after a node was added, in minutes; 10.
        scale_down_delay_after_delete_minutes: the pause after a node was deleted, in minutes; the
            scan interval.
        scale_down_delay_after_failure_minutes: the pause after a failed deletion, in minutes; 3.
        scale_down_unneeded_minutes: how long a node must be unneeded before it goes, in minutes;
            10.
        scale_down_unready_minutes: the same for an unready node, in minutes; 20.
        scale_down_utilization_threshold: a node is unneeded below this utilization, 0 to 1; 0.5.
        scan_interval_seconds: how often pools are looked at, in seconds; 10.
        skip_nodes_with_local_storage: nodes whose pods have local storage stay; Azure's texts
            disagree on the default.
        skip_nodes_with_system_pods: nodes with pods of ``kube-system`` stay, those of DaemonSets
            aside; True.
    """

    balance_similar_node_groups: bool | None = None
    daemonset_eviction_for_empty_nodes: bool | None = None
    daemonset_eviction_for_occupied_nodes: bool | None = None
    expander: str | None = None
    ignore_daemonsets_utilization: bool | None = None
    max_empty_bulk_delete: int | None = None
    max_graceful_termination_seconds: int | None = None
    max_node_provision_minutes: int | None = None
    max_total_unready_percentage: int | None = None
    new_pod_scale_up_delay_seconds: int | None = None
    ok_total_unready_count: int | None = None
    scale_down_delay_after_add_minutes: int | None = None
    scale_down_delay_after_delete_minutes: int | None = None
    scale_down_delay_after_failure_minutes: int | None = None
    scale_down_unneeded_minutes: int | None = None
    scale_down_unready_minutes: int | None = None
    scale_down_utilization_threshold: float | None = None
    scan_interval_seconds: int | None = None
    skip_nodes_with_local_storage: bool | None = None
    skip_nodes_with_system_pods: bool | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        if self.expander is not None:
            yield from checks.choice_of(self.expander, _EXPANDERS, (*path, "expander"))
        for field, (low, high) in _COUNTS.items():
            yield from checks.in_range(getattr(self, field), low, high, (*path, camel(field)))
        threshold = self.scale_down_utilization_threshold
        if threshold is not None and not 0 <= threshold <= 1:
            at = (*path, "scaleDownUtilizationThreshold")
            yield Problem(
                Message(
                    "threshold-out-of-range", "{threshold} is out of range", threshold=threshold
                ),
                at,
                "0 to 1, for example 0.5",
            )


# Rules of AKS for system pools, which run what the cluster itself needs, and for the pods of a
# pool.
#
# Source: "Manage system node pools in AKS", sections on limitations and on system and user node
# pools (Microsoft, 2026-04-30), and "IP address planning for AKS clusters", section on maximum
# pods per node (Microsoft, 2026-08).


_FEWEST_VCPUS = 4
_LEAST_MIB = 4096
_FEWEST_PODS = 30
_BURSTABLE = re.compile(r"(standard_|basic_)?b\d", re.IGNORECASE)


def system_pool_problems(
    pool: NodePool, default_max_pods: int, table: SizeTable, path: FieldPath
) -> Iterator[Problem]:
    """Yield problems of a pool of a cluster to be created: of its VM size if it is a system pool,
    of its pods.

    The vendor's texts differ on the vCPUs (at least 4 here, at least 2 in its article on quotas),
    so a pool that states the ``cpu`` and ``memory`` of its size takes a smaller one.
    """
    at = (*path, "vmSize")
    if pool.mode == SYSTEM:
        size = table.find(pool.vm_size)
        stated = pool.cpu is not None and pool.memory is not None
        if _BURSTABLE.match(pool.vm_size):
            yield Problem(
                Message(
                    "b-series-system-pools",
                    "{vm_size} is of the B series, which system pools do not take",
                    vm_size=pool.vm_size,
                ),
                at,
                "Standard_D4s_v5",
            )
        elif size and not stated and (size.vcpus < _FEWEST_VCPUS or size.memory_mib < _LEAST_MIB):
            gibibytes = f"{size.memory_mib / 1024:g} GiB"
            what = Message(
                "vcpus-too-little-system",
                "{name} has {vcpus} vCPUs and {gibibytes}, too little for a system pool",
                name=size.name,
                vcpus=size.vcpus,
                gibibytes=gibibytes,
            )
            hint = (
                "4 vCPUs and 4 GiB or more, as Standard_D4s_v5; to use it all the same, write its"
                " cpu: and memory:"
            )
            yield Problem(what, at, hint)
    # A user pool may be empty; what it holds at its largest counts.
    nodes = pool.nodes if pool.mode == SYSTEM else pool.most_nodes
    most = nodes * (pool.max_pods or default_max_pods)
    if (pool.mode == SYSTEM or pool.max_pods is not None) and nodes and most < _FEWEST_PODS:
        what = Message("pool-room-pods", "the pool has room for {most} pods", most=most)
        yield Problem(
            what, (*path, "maxPods"), f"{_FEWEST_PODS} at least: more pods a node, or more nodes"
        )
