"""Requests to Azure for declared node pools."""

from __future__ import annotations

from typing import Any

from pulumi_azure_native import containerservice as aks

from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.pool_upgrade import PoolUpgrade
from fleet_components.model.cluster import Taint

_SPOT = {"scale_set_priority": "Spot", "scale_set_eviction_policy": "Delete", "spot_max_price": -1}
"""Fields of a spot pool: -1 sets the on-demand price as limit, and Azure deletes evicted nodes."""


def pool_request(pool: NodePool, version: str | None, subnet: Any) -> dict[str, Any]:
    """Return the arguments that ``AgentPool`` and the inline profile of ``ManagedCluster`` share.

    Empty labels and taints are sent as empty values, so that Azure deletes removed ones.

    Args:
        pool: the declared pool.
        version: its Kubernetes version; None for that of the cluster at creation.
        subnet: the cluster's subnet, used if the pool has none of its own.
    """
    request = {
        "mode": pool.mode,
        "type": "VirtualMachineScaleSets",
        "os_type": "Linux",
        "vm_size": pool.vm_size,
        "count": pool.nodes,
        "enable_auto_scaling": pool.autoscaled,
        "min_count": pool.min_count,
        "max_count": pool.max_count,
        "availability_zones": list(pool.zones) or None,
        "node_labels": pool.sent_labels,
        "node_taints": [_taint(taint) for taint in pool.sent_taints],
        "os_disk_type": pool.os_disk,
        "os_disk_size_gb": pool.os_disk_gib,
        "os_sku": pool.os_sku,
        "max_pods": pool.max_pods,
        "orchestrator_version": version,
        "vnet_subnet_id": pool.subnet if pool.subnet is not None else subnet,
        "pod_subnet_id": pool.pod_subnet,
        "tags": dict(pool.tags),
        "upgrade_settings": _upgrade(pool.upgrade),
        **(_SPOT if pool.spot else {}),
    }
    return {field: value for field, value in request.items() if value is not None}


def fixed_fields(pool: NodePool) -> dict[str, Any]:
    """Return the values, by declared field, that only a new pool can change."""
    return {
        "vmSize": pool.vm_size,
        "zones": list(pool.zones),
        "spot": pool.spot,
        "osDisk": pool.os_disk,
        "osDiskGib": pool.os_disk_gib,
        "maxPods": pool.max_pods,
        "podSubnet": "" if pool.pod_subnet is None else pool.pod_subnet,
        "subnet": "" if pool.subnet is None else pool.subnet,
    }


def _upgrade(upgrade: PoolUpgrade | None) -> aks.AgentPoolUpgradeSettingsArgs | None:
    if upgrade is None:
        return None
    return aks.AgentPoolUpgradeSettingsArgs(
        max_surge=upgrade.surge,
        max_unavailable=upgrade.unavailable,
        drain_timeout_in_minutes=upgrade.drain_minutes,
        node_soak_duration_in_minutes=upgrade.soak_minutes,
        undrainable_node_behavior=upgrade.undrainable,
    )


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
