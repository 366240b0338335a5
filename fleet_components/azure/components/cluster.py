"""Azure resources of a declared AKS member: the cluster, its further node pools and its maintenance
windows.
"""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.components.cluster_features import (
    feature_request,
    fixed_fields,
    pool_request,
    security_profile,
)
from fleet_components.azure.components.moved import ClusterRequests
from fleet_components.azure.values.aks_member import BY_FLEET, AksMember
from fleet_components.azure.values.features import CONFIGURATIONS, ON, MaintenanceWindow
from fleet_components.azure.values.node_pool import NodePool


def managed_cluster(
    name: str, member: AksMember, keeper: ClusterRequests, opts: pulumi.ResourceOptions
) -> aks.ManagedCluster:
    """Declare the cluster with its first system pool; Azure creates both in one request."""
    system_pool = _profile(member, member.node_pools[0], _first_version(member))
    args = aks.ManagedClusterArgs(
        resource_group_name=member.resource_group,
        resource_name=member.aks_name,
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
        # Azure's own upgrade channel is off: it would race with update runs, and with the version
        # declared here.
        auto_upgrade_profile=aks.ManagedClusterAutoUpgradeProfileArgs(
            upgrade_channel="none", node_os_upgrade_channel=_node_os_channel(member)
        ),
        tags=dict(member.tags),
        **feature_request(member),
    )
    # No versions here: only an upgrade lists these pools, and the keeper sets their version then.
    others = [_profile(member, pool, None) for pool in member.pools]
    kept = pulumi.ResourceOptions.merge(opts, keeper.cluster(name, args, others))
    return aks.ManagedCluster(name, **_keywords(args), opts=kept)


def agent_pool(
    name: str,
    pool: NodePool,
    member: AksMember,
    keeper: ClusterRequests,
    cluster: aks.ManagedCluster,
    opts: pulumi.ResourceOptions,
) -> aks.AgentPool:
    """Declare a further node pool, which is added, changed and removed without touching the
    cluster.
    """
    args = aks.AgentPoolArgs(
        resource_group_name=member.resource_group,
        resource_name=member.aks_name,
        agent_pool_name=pool.name,
        **pool_request(pool, _pool_version(member), member.subnet),
    )
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[cluster]))
    kept = pulumi.ResourceOptions.merge(after, keeper.pool(name, args, pool, cluster))
    return aks.AgentPool(name, **_keywords(args), opts=kept)


def maintenance(
    name: str,
    window: MaintenanceWindow,
    member: AksMember,
    cluster: aks.ManagedCluster,
    opts: pulumi.ResourceOptions,
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
    """Return the values, by declared field, that only a new cluster or a new pool can change, or
    not in every way.
    """
    network = member.network
    return {
        "name": member.name,
        "region": member.region,
        "resourceGroup": member.resource_group,
        "clusterName": member.aks_name,
        # With its default, so that writing the default out is no change.
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
        "subnet": "" if member.subnet is None else member.subnet,
        "apiServer": _fixed_access(member),
        "entra": member.entra is not None,
        "oidcIssuer": member.oidc_issuer,
        **_fixed_version(member),
        "diskEncryptionSet": ""
        if member.disk_encryption_set is None
        else member.disk_encryption_set,
        "httpProxy": ON if member.http_proxy else None,
        "features": dict(member.switched),
        "systemPool": {"name": member.system_pool.name, **fixed_fields(member.system_pool)},
        "pools": {pool.name: fixed_fields(pool) for pool in member.pools},
    }


def _fixed_access(member: AksMember) -> dict[str, Any]:
    # Azure makes a zone for a private API server that names none.
    zone = (
        {"privateDnsZone": member.api_server.private_dns_zone or "system"}
        if member.api_server.private
        else {}
    )
    server = member.api_server
    subnet = "" if server.subnet is None else server.subnet
    return {
        "private": server.private,
        "vnetIntegration": server.vnet_integration,
        "subnet": subnet,
        **zone,
    }


def _fixed_version(member: AksMember) -> dict[str, Any]:
    # Versions that the fleet or Azure chooses are not known here, so nothing can be said about
    # their changes.
    if member.upgrades == BY_FLEET or member.kubernetes_version is None:
        return {}
    return {
        "kubernetesVersion": member.kubernetes_version,
        "longTermSupport": member.long_term_support,
    }


def _pool_version(member: AksMember) -> str | None:
    return None if member.upgrades == BY_FLEET else member.kubernetes_version


def _profile(
    member: AksMember, pool: NodePool, version: str | None
) -> aks.ManagedClusterAgentPoolProfileArgs:
    return aks.ManagedClusterAgentPoolProfileArgs(
        name=pool.name, **pool_request(pool, version, member.subnet)
    )


def _keywords(args: aks.ManagedClusterArgs | aks.AgentPoolArgs) -> dict[str, Any]:
    # The SDK's constructors fail with these arguments as one: Pulumi's own first parameter is
    # called resource_name too.
    return {
        "resource_name_" if field == "resource_name" else field: value
        for field, value in vars(args).items()
    }


def _first_version(member: AksMember) -> str | None:
    # With further pools the first one gets the version of the cluster at creation, and is upgraded
    # with all others.
    return None if member.pools else _pool_version(member)


def _node_os_channel(member: AksMember) -> str:
    # Update runs of a fleet bring new node images too.
    return member.node_os_channel or ("None" if member.upgrades == BY_FLEET else "NodeImage")


def _identity(member: AksMember) -> aks.ManagedClusterIdentityArgs:
    if member.identity is None:
        return aks.ManagedClusterIdentityArgs(type="SystemAssigned")
    return aks.ManagedClusterIdentityArgs(
        type="UserAssigned", user_assigned_identities=[member.identity]
    )


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
        # Off is not sent: it cannot be switched off, and the requests for clusters without it stay
        # what they were.
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
