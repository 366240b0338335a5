"""A fleet on Azure. Importing this package loads the Azure SDK; nothing else does."""

from fleet_components.components.azure.access import AzureAccess, AzureAccessArgs, Grant
from fleet_components.components.azure.fleet import AzureFleet, AzureFleetArgs
from fleet_components.components.azure.hub import AzureHub, AzureHubArgs, OwnHub
from fleet_components.components.azure.hub_network import HubNetwork
from fleet_components.components.azure.kubeconfig import Login
from fleet_components.components.azure.member import AzureMember, AzureMemberArgs
from fleet_components.components.azure.upgrades import AzureUpgrades, AzureUpgradesArgs
from fleet_components.model.azure.aks_member import AksMember, Entra
from fleet_components.model.azure.maintenance import MaintenanceWindow
from fleet_components.model.azure.member import JoinedMember
from fleet_components.model.azure.network import ApiServer, Network
from fleet_components.model.azure.node_pool import NodePool
from fleet_components.model.azure.properties import Observation
from fleet_components.model.azure.strategy import Group, Stage, Strategy
from fleet_components.model.azure.upgrade import AutoUpgrade, Run
from fleet_components.model.azure.vm_size import read_sizes

__all__ = [
    "AksMember",
    "ApiServer",
    "AutoUpgrade",
    "AzureAccess",
    "AzureAccessArgs",
    "AzureFleet",
    "AzureFleetArgs",
    "AzureHub",
    "AzureHubArgs",
    "AzureMember",
    "AzureMemberArgs",
    "AzureUpgrades",
    "AzureUpgradesArgs",
    "Entra",
    "Grant",
    "Group",
    "HubNetwork",
    "JoinedMember",
    "Login",
    "MaintenanceWindow",
    "Network",
    "NodePool",
    "Observation",
    "OwnHub",
    "Run",
    "Stage",
    "Strategy",
    "read_sizes",
]
