"""A fleet on Azure: hubs, members, access, upgrades. Loading any of it loads the Azure SDK; nothing else does."""

# ruff: noqa: I001  a name is exported to type checkers where it is imported as itself
from typing import TYPE_CHECKING

from fleet_components.lazy import exported, lazily

if TYPE_CHECKING:
    from fleet_components.components.azure.access import (
        AzureAccess as AzureAccess,
        AzureAccessArgs as AzureAccessArgs,
        Grant as Grant,
    )
    from fleet_components.components.azure.fleet import AzureFleet as AzureFleet, AzureFleetArgs as AzureFleetArgs
    from fleet_components.components.azure.hub import (
        AzureHub as AzureHub,
        AzureHubArgs as AzureHubArgs,
        OwnHub as OwnHub,
    )
    from fleet_components.components.azure.hub_network import HubNetwork as HubNetwork
    from fleet_components.components.azure.kubeconfig import Login as Login
    from fleet_components.components.azure.member import AzureMember as AzureMember, AzureMemberArgs as AzureMemberArgs
    from fleet_components.components.azure.provision import provision as provision
    from fleet_components.components.azure.upgrades import (
        AzureUpgrades as AzureUpgrades,
        AzureUpgradesArgs as AzureUpgradesArgs,
    )
    from fleet_components.model.azure.aks_member import AksMember as AksMember, Entra as Entra
    from fleet_components.model.azure.maintenance import MaintenanceWindow as MaintenanceWindow
    from fleet_components.model.azure.member import JoinedMember as JoinedMember
    from fleet_components.model.azure.network import ApiServer as ApiServer, Network as Network
    from fleet_components.model.azure.node_pool import NodePool as NodePool
    from fleet_components.model.azure.properties import Observation as Observation
    from fleet_components.model.azure.strategy import Group as Group, Stage as Stage, Strategy as Strategy
    from fleet_components.model.azure.upgrade import AutoUpgrade as AutoUpgrade, Run as Run
    from fleet_components.model.azure.vm_size import read_sizes as read_sizes

_HOMES = {
    "components.azure.access": ("AzureAccess", "AzureAccessArgs", "Grant"),
    "components.azure.fleet": ("AzureFleet", "AzureFleetArgs"),
    "components.azure.hub": ("AzureHub", "AzureHubArgs", "OwnHub"),
    "components.azure.hub_network": ("HubNetwork",),
    "components.azure.kubeconfig": ("Login",),
    "components.azure.member": ("AzureMember", "AzureMemberArgs"),
    "components.azure.provision": ("provision",),
    "components.azure.upgrades": ("AzureUpgrades", "AzureUpgradesArgs"),
    "model.azure.aks_member": ("AksMember", "Entra"),
    "model.azure.maintenance": ("MaintenanceWindow",),
    "model.azure.member": ("JoinedMember",),
    "model.azure.network": ("ApiServer", "Network"),
    "model.azure.node_pool": ("NodePool",),
    "model.azure.properties": ("Observation",),
    "model.azure.strategy": ("Group", "Stage", "Strategy"),
    "model.azure.upgrade": ("AutoUpgrade", "Run"),
    "model.azure.vm_size": ("read_sizes",),
}
__all__ = exported(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
