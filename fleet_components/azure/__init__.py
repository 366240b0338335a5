"""A fleet on Azure: hubs, members, access, upgrades. Loading any of it loads the Azure SDK; nothing
else does.
"""

# ruff: noqa: I001  a name is exported to type checkers where it is imported as itself
from typing import TYPE_CHECKING

from fleet_components.lazy import exported, lazily

if TYPE_CHECKING:
    from fleet_components.azure.components.hub_network import (
        AzureAccess as AzureAccess,
        AzureAccessArgs as AzureAccessArgs,
        Grant as Grant,
    )
    from fleet_components.azure.components.fleet import (
        AzureFleet as AzureFleet,
        AzureFleetArgs as AzureFleetArgs,
    )
    from fleet_components.azure.components.hub import (
        AzureHub as AzureHub,
        AzureHubArgs as AzureHubArgs,
        OwnHub as OwnHub,
    )
    from fleet_components.azure.components.hub_network import HubNetwork as HubNetwork
    from fleet_components.azure.components.kubeconfig import Login as Login
    from fleet_components.azure.components.member import (
        AzureMember as AzureMember,
        AzureMemberArgs as AzureMemberArgs,
    )
    from fleet_components.azure.declarations.unobserved import provision as provision
    from fleet_components.azure.components.member import (
        AzureUpgrades as AzureUpgrades,
        AzureUpgradesArgs as AzureUpgradesArgs,
    )
    from fleet_components.azure.values.features import (
        ImageCleaner as ImageCleaner,
        KeyVaultSecrets as KeyVaultSecrets,
    )
    from fleet_components.azure.values.aks_member import AksMember as AksMember, Entra as Entra
    from fleet_components.azure.values.autoscaler import Autoscaler as Autoscaler
    from fleet_components.azure.values.features import HttpProxy as HttpProxy
    from fleet_components.azure.values.network import (
        ServiceMesh as ServiceMesh,
        WebAppRouting as WebAppRouting,
    )
    from fleet_components.azure.values.features import MaintenanceWindow as MaintenanceWindow
    from fleet_components.azure.values.member import JoinedMember as JoinedMember
    from fleet_components.azure.values.monitoring import (
        ContainerInsights as ContainerInsights,
        Defender as Defender,
        Prometheus as Prometheus,
    )
    from fleet_components.azure.values.network import ApiServer as ApiServer, Network as Network
    from fleet_components.azure.values.node_pool import NodePool as NodePool
    from fleet_components.azure.values.pool_upgrade import PoolUpgrade as PoolUpgrade
    from fleet_components.azure.values.properties import Observation as Observation
    from fleet_components.azure.values.upgrade import (
        Group as Group,
        Stage as Stage,
        Strategy as Strategy,
    )
    from fleet_components.azure.values.upgrade import AutoUpgrade as AutoUpgrade, Run as Run
    from fleet_components.azure.values.vm_size import read_sizes as read_sizes

_HOMES = {
    "azure.components.fleet": ("AzureFleet", "AzureFleetArgs"),
    "azure.components.hub": ("AzureHub", "AzureHubArgs", "OwnHub"),
    "azure.components.hub_network": ("AzureAccess", "AzureAccessArgs", "Grant", "HubNetwork"),
    "azure.components.kubeconfig": ("Login",),
    "azure.components.member": (
        "AzureMember",
        "AzureMemberArgs",
        "AzureUpgrades",
        "AzureUpgradesArgs",
    ),
    "azure.declarations.unobserved": ("provision",),
    "azure.values.aks_member": ("AksMember", "Entra"),
    "azure.values.autoscaler": ("Autoscaler",),
    "azure.values.features": ("ImageCleaner", "KeyVaultSecrets", "HttpProxy", "MaintenanceWindow"),
    "azure.values.member": ("JoinedMember",),
    "azure.values.monitoring": ("ContainerInsights", "Defender", "Prometheus"),
    "azure.values.network": ("ServiceMesh", "WebAppRouting", "ApiServer", "Network"),
    "azure.values.node_pool": ("NodePool",),
    "azure.values.pool_upgrade": ("PoolUpgrade",),
    "azure.values.properties": ("Observation",),
    "azure.values.upgrade": ("Group", "Stage", "Strategy", "AutoUpgrade", "Run"),
    "azure.values.vm_size": ("read_sizes",),
}
__all__ = exported(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
