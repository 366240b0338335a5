"""Requests to Azure for the optional features of an AKS cluster. What is not declared is not
sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.autoscaler import Autoscaler
from fleet_components.azure.values.features import FeaturedMember
from fleet_components.azure.values.monitoring import Defender, Prometheus
from fleet_components.azure.values.network import ServiceMesh, WebAppRouting
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.pool_upgrade import PoolUpgrade
from fleet_components.model.cluster import Taint

_UNITS = {"minutes": "m", "seconds": "s"}
# Azure takes this one as a plain number of seconds, under the name max_graceful_termination_sec.
_PLAIN_SECONDS = "max_graceful_termination_seconds"


def feature_request(member: FeaturedMember) -> dict[str, Any]:
    """Return the arguments of ``ManagedCluster`` for all features but those of its security
    profile.
    """
    request = {
        "addon_profiles": _add_ons(member) or None,
        "auto_scaler_profile": None
        if member.autoscaler is None
        else _autoscaler(member.autoscaler),
        "azure_monitor_profile": None
        if member.prometheus is None
        else _prometheus(member.prometheus),
        "disk_encryption_set_id": member.disk_encryption_set,
        "http_proxy_config": _http_proxy(member),
        "ingress_profile": None
        if member.web_app_routing is None
        else _ingress(member.web_app_routing),
        "service_mesh_profile": None
        if member.service_mesh is None
        else _service_mesh(member.service_mesh),
        "workload_auto_scaler_profile": _workload_autoscaler(member),
    }
    return {field: value for field, value in request.items() if value is not None}


def security_profile(member: AksMember) -> aks.ManagedClusterSecurityProfileArgs:
    """Return the security profile: workload identity, Defender and the image cleaner."""
    cleaner = member.image_cleaner
    return aks.ManagedClusterSecurityProfileArgs(
        workload_identity=aks.ManagedClusterSecurityProfileWorkloadIdentityArgs(
            enabled=member.workload_identity
        ),
        defender=None if member.defender is None else _defender(member.defender),
        image_cleaner=None
        if cleaner is None
        else aks.ManagedClusterSecurityProfileImageCleanerArgs(
            enabled=cleaner.enabled, interval_hours=cleaner.interval_hours
        ),
    )


def _add_ons(member: FeaturedMember) -> dict[str, aks.ManagedClusterAddonProfileArgs]:
    add_ons = {}
    insights = member.container_insights
    if insights is not None:
        config = {
            "logAnalyticsWorkspaceResourceID": insights.workspace,
            "useAADAuth": _word(insights.entra_auth),
        }
        add_ons["omsagent"] = _add_on(insights.enabled, config)
    secrets = member.key_vault_secrets
    if secrets is not None:
        config = {
            "enableSecretRotation": _word(secrets.rotation),
            "rotationPollInterval": f"{secrets.rotation_seconds}s",
        }
        add_ons["azureKeyvaultSecretsProvider"] = _add_on(secrets.enabled, config)
    return add_ons


def _add_on(enabled: bool, config: Mapping[str, Any]) -> aks.ManagedClusterAddonProfileArgs:
    return aks.ManagedClusterAddonProfileArgs(
        enabled=enabled, config=dict(config) if enabled else None
    )


def _autoscaler(settings: Autoscaler) -> aks.ManagedClusterPropertiesAutoScalerProfileArgs:
    """Return the profile. Azure takes numbers, durations and most of the truth values as text."""
    profile: dict[str, Any] = {}
    for field, value in attrs.asdict(settings).items():
        # A field's name ends with its unit here; Azure has the unit in the value, as in "10m".
        name, _, unit = field.rpartition("_")
        if value is None:
            continue
        if field == _PLAIN_SECONDS:
            profile["max_graceful_termination_sec"] = str(value)
        elif unit in _UNITS:
            profile[_TIMES.get(name, name)] = f"{value}{_UNITS[unit]}"
        # Truth values that Azure takes as booleans, and the expander, which is a text already.
        elif field.startswith(("daemonset_", "ignore_daemonsets_", "expander")):
            profile[field] = value
        else:
            profile[field] = _word(value) if isinstance(value, bool) else str(value)
    return aks.ManagedClusterPropertiesAutoScalerProfileArgs(**profile)


_TIMES = {
    "max_node_provision": "max_node_provision_time",
    "scale_down_unneeded": "scale_down_unneeded_time",
    "scale_down_unready": "scale_down_unready_time",
}
"""Azure's names of times whose names here end with their unit instead."""


def _prometheus(metrics: Prometheus) -> aks.ManagedClusterAzureMonitorProfileArgs:
    state = aks.ManagedClusterAzureMonitorProfileKubeStateMetricsArgs(
        metric_labels_allowlist=_allowed(metrics.labels),
        metric_annotations_allow_list=_allowed(metrics.annotations),
    )
    kept = metrics.enabled and (metrics.labels or metrics.annotations)
    return aks.ManagedClusterAzureMonitorProfileArgs(
        metrics=aks.ManagedClusterAzureMonitorProfileMetricsArgs(
            enabled=metrics.enabled, kube_state_metrics=state if kept else None
        )
    )


# The syntax of kube-state-metrics, as in "namespaces=[team],pods=[app,tier]". Sorted, so that the
# order of the declaration is no change.
def _allowed(keys: Mapping[str, tuple[str, ...]]) -> str:
    return ",".join(f"{kind}=[{','.join(names)}]" for kind, names in sorted(keys.items()))


def _defender(defender: Defender) -> aks.ManagedClusterSecurityProfileDefenderArgs:
    return aks.ManagedClusterSecurityProfileDefenderArgs(
        log_analytics_workspace_resource_id=defender.workspace if defender.enabled else None,
        security_monitoring=aks.ManagedClusterSecurityProfileDefenderSecurityMonitoringArgs(
            enabled=defender.enabled
        ),
    )


def _workload_autoscaler(
    member: FeaturedMember,
) -> aks.ManagedClusterWorkloadAutoScalerProfileArgs | None:
    if member.keda is None and member.vertical_pod_autoscaler is None:
        return None
    return aks.ManagedClusterWorkloadAutoScalerProfileArgs(
        keda=None
        if member.keda is None
        else aks.ManagedClusterWorkloadAutoScalerProfileKedaArgs(enabled=member.keda),
        vertical_pod_autoscaler=None
        if member.vertical_pod_autoscaler is None
        else aks.ManagedClusterWorkloadAutoScalerProfileVerticalPodAutoscalerArgs(
            enabled=member.vertical_pod_autoscaler
        ),
    )


def _ingress(routing: WebAppRouting) -> aks.ManagedClusterIngressProfileArgs:
    controller = routing.default_controller if routing.enabled else None
    return aks.ManagedClusterIngressProfileArgs(
        web_app_routing=aks.ManagedClusterIngressProfileWebAppRoutingArgs(
            enabled=routing.enabled,
            # An empty list, so that Azure lets go of zones that are no longer named.
            dns_zone_resource_ids=list(routing.dns_zones) if routing.enabled else None,
            nginx=aks.ManagedClusterIngressProfileNginxArgs(
                default_ingress_controller_type=controller
            )
            if controller
            else None,
        )
    )


def _service_mesh(mesh: ServiceMesh) -> aks.ServiceMeshProfileArgs:
    if not mesh.enabled:
        return aks.ServiceMeshProfileArgs(mode="Disabled")
    # Both are listed, also if disabled: a gateway that is left out would stay as it is.
    gateways = [
        aks.IstioIngressGatewayArgs(mode=mode, enabled=enabled)
        for mode, enabled in (
            ("External", mesh.external_ingress),
            ("Internal", mesh.internal_ingress),
        )
    ]
    return aks.ServiceMeshProfileArgs(
        mode="Istio",
        istio=aks.IstioServiceMeshArgs(
            components=aks.IstioComponentsArgs(ingress_gateways=gateways),
            revisions=list(mesh.revisions) or None,
        ),
    )


def _http_proxy(member: FeaturedMember) -> aks.ManagedClusterHTTPProxyConfigArgs | None:
    proxy = member.http_proxy
    if proxy is None:
        return None
    return aks.ManagedClusterHTTPProxyConfigArgs(
        http_proxy=proxy.http,
        https_proxy=proxy.https,
        no_proxy=list(proxy.no_proxy),
        trusted_ca=proxy.trusted_ca,
    )


def _word(value: bool) -> str:
    return "true" if value else "false"


# Requests to Azure for declared node pools.


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
    return (
        f"{taint.key}={taint.value}:{taint.effect}"
        if taint.value
        else f"{taint.key}:{taint.effect}"
    )
