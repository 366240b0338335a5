"""Azure resources of a declared AKS member: the cluster, its further node pools and its maintenance windows."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.components.cluster_features import feature_request, security_profile
from fleet_components.azure.components.pool_request import fixed_fields, pool_request
from fleet_components.azure.values.aks_member import BY_FLEET, AksMember
from fleet_components.azure.values.features import ON
from fleet_components.azure.values.maintenance import CONFIGURATIONS, MaintenanceWindow
from fleet_components.azure.values.node_pool import NodePool


def managed_cluster(name: str, member: AksMember, opts: pulumi.ResourceOptions) -> aks.ManagedCluster:
    """Declare the cluster with its first system pool; Azure creates both in one request."""
    system_pool = aks.ManagedClusterAgentPoolProfileArgs(
        name=member.system_pool.name, **pool_request(member.node_pools[0], _pool_version(member), member.subnet)
    )
    return aks.ManagedCluster(
        name,
        resource_group_name=member.resource_group,
        resource_name_=member.aks_name,
        location=member.region,
        sku=aks.ManagedClusterSKUArgs(name="Base", tier=member.tier),
        support_plan="AKSLongTermSupport" if member.long_term_support else "KubernetesOfficial",
        identity=_identity(member),
        kubernetes_version=member.kubernetes_version,
        dns_prefix=member.dns_prefix or member.aks_name,
        node_resource_group=member.node_resource_group,
        agent_pool_profiles=[system_pool],
        network_profile=_network(member),
        api_server_access_profile=_api_server(member),
        enable_rbac=True,
        aad_profile=_entra(member),
        disable_local_accounts=not member.local_accounts,
        oidc_issuer_profile=aks.ManagedClusterOIDCIssuerProfileArgs(enabled=member.oidc_issuer),
        security_profile=security_profile(member),
        # Azure's own upgrade channel is off: it would race with update runs, and with the version declared here.
        auto_upgrade_profile=aks.ManagedClusterAutoUpgradeProfileArgs(
            upgrade_channel="none", node_os_upgrade_channel=_node_os_channel(member)
        ),
        tags=dict(member.tags),
        **feature_request(member),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=_changed_by_azure(member))),
    )


def agent_pool(
    name: str, pool: NodePool, member: AksMember, cluster: aks.ManagedCluster, opts: pulumi.ResourceOptions
) -> aks.AgentPool:
    """Declare a further node pool, which is added, changed and removed without touching the cluster."""
    ignored = ["count"] if pool.autoscaled else []
    if member.upgrades == BY_FLEET:
        ignored.append("orchestratorVersion")
    return aks.AgentPool(
        name,
        resource_group_name=member.resource_group,
        resource_name_=member.aks_name,
        agent_pool_name=pool.name,
        **pool_request(pool, _pool_version(member), member.subnet),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[cluster], ignore_changes=ignored)),
    )


def maintenance(
    name: str, window: MaintenanceWindow, member: AksMember, cluster: aks.ManagedCluster, opts: pulumi.ResourceOptions
) -> aks.MaintenanceConfiguration:
    """Declare a maintenance window."""
    weekly = aks.WeeklyScheduleArgs(day_of_week=window.day, interval_weeks=window.every_weeks)
    return aks.MaintenanceConfiguration(
        name,
        resource_group_name=member.resource_group,
        resource_name_=member.aks_name,
        config_name=CONFIGURATIONS[window.upgrades],
        maintenance_window=aks.MaintenanceWindowArgs(
            schedule=aks.ScheduleArgs(weekly=weekly),
            start_time=window.start,
            duration_hours=window.hours,
            utc_offset=window.utc_offset,
        ),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[cluster])),
    )


def fixed_at_creation(member: AksMember) -> dict[str, Any]:
    """Return the values, by declared field, that only a new cluster or a new pool can change."""
    network = member.network
    return {
        "name": member.name,
        "region": member.region,
        "resourceGroup": member.resource_group,
        "clusterName": member.aks_name,
        "dnsPrefix": member.dns_prefix or member.aks_name,
        "nodeResourceGroup": member.node_resource_group,
        "network": {
            "plugin": network.plugin,
            "overlay": network.overlay,
            "dataplane": network.dataplane,
            "policy": network.policy,
            "pods": network.pods,
            "services": network.services,
            "dns": network.dns,
            "outbound": network.outbound,
        },
        "apiServer": {
            "private": member.api_server.private,
            "vnetIntegration": member.api_server.vnet_integration,
            "subnet": "" if member.api_server.subnet is None else member.api_server.subnet,
        },
        "diskEncryptionSet": "" if member.disk_encryption_set is None else member.disk_encryption_set,
        "httpProxy": ON if member.http_proxy else None,
        "features": dict(member.switched),
        "systemPool": {"name": member.system_pool.name, **fixed_fields(member.system_pool)},
        "pools": {pool.name: fixed_fields(pool) for pool in member.pools},
    }


def _pool_version(member: AksMember) -> str | None:
    return None if member.upgrades == BY_FLEET else member.kubernetes_version


def _node_os_channel(member: AksMember) -> str:
    return member.node_os_channel or ("None" if member.upgrades == BY_FLEET else "NodeImage")


def _changed_by_azure(member: AksMember) -> list[str]:
    # The autoscaler changes the number of nodes, update runs of the fleet the versions.
    ignored = ["agentPoolProfiles[0].count"] if member.system_pool.autoscaled else []
    if member.upgrades == BY_FLEET:
        ignored += ["kubernetesVersion", "agentPoolProfiles[0].orchestratorVersion"]
    return ignored


def _identity(member: AksMember) -> aks.ManagedClusterIdentityArgs:
    if member.identity is None:
        return aks.ManagedClusterIdentityArgs(type="SystemAssigned")
    return aks.ManagedClusterIdentityArgs(type="UserAssigned", user_assigned_identities=[member.identity])


def _network(member: AksMember) -> aks.ContainerServiceNetworkProfileArgs:
    network = member.network
    return aks.ContainerServiceNetworkProfileArgs(
        network_plugin=network.plugin,
        network_plugin_mode="overlay" if network.overlay else None,
        network_dataplane=network.dataplane,
        network_policy=network.policy,
        pod_cidr=network.pods,
        service_cidr=network.services,
        dns_service_ip=network.dns_address,
        outbound_type=network.outbound,
        load_balancer_sku="standard",
    )


def _api_server(member: AksMember) -> aks.ManagedClusterAPIServerAccessProfileArgs:
    server = member.api_server
    return aks.ManagedClusterAPIServerAccessProfileArgs(
        enable_private_cluster=server.private,
        authorized_ip_ranges=None if server.private else list(server.authorized),
        private_dns_zone=server.private_dns_zone,
        disable_run_command=not server.run_command,
        # Off is not sent: it cannot be switched off, and the requests for clusters without it stay what they were.
        enable_vnet_integration=server.vnet_integration or None,
        subnet_id=server.subnet,
    )


def _entra(member: AksMember) -> aks.ManagedClusterAADProfileArgs | None:
    if member.entra is None:
        return None
    return aks.ManagedClusterAADProfileArgs(
        managed=True,
        enable_azure_rbac=member.entra.azure_rbac,
        admin_group_object_ids=list(member.entra.admin_groups),
        tenant_id=member.entra.tenant,
    )
