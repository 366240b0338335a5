"""What Azure would refuse is refused before anything is sent, with the field and the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    ApiServer,
    AutoUpgrade,
    AzureAccess,
    AzureAccessArgs,
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    AzureUpgrades,
    AzureUpgradesArgs,
    Entra,
    Grant,
    Group,
    HubNetwork,
    JoinedMember,
    Login,
    MaintenanceWindow,
    Network,
    NodePool,
    Observation,
    Run,
    Stage,
    Strategy,
)
from fleet_components.azure.values.vm_size import built_in_sizes
from fleet_components.model.cluster import Taint
from tests.azure import world
from tests.azure.build import GUID, SYSTEM_POOL, aks, pool

pytestmark = pytest.mark.long

SOMEWHERE = f"/subscriptions/{GUID}/resourceGroups/y/providers"
SUBNET = f"{SOMEWHERE}/Microsoft.Network/virtualNetworks/v/subnets/s"
IDENTITY = f"{SOMEWHERE}/Microsoft.ManagedIdentity/userAssignedIdentities/i"
READER = "Azure Kubernetes Fleet Manager RBAC Reader"


def hub(**fields: Any) -> AzureHub:
    return AzureHub(
        "shop", AzureHubArgs(**{"resource_group": "rg", "region": "westeurope", **fields})
    )


def private(**fields: Any) -> AzureHub:
    return hub(kind="private", network=HubNetwork(**{"fleet_rp": GUID, **fields}))


def member(**fields: Any) -> AzureFleet:
    return AzureFleet("shop", AzureFleetArgs(members=(aks(**fields),)))


def with_pool(**fields: Any) -> AzureFleet:
    return member(pools=(pool(**fields),))


def joined(**fields: Any) -> AzureFleet:
    return AzureFleet(
        "shop",
        AzureFleetArgs(members=(JoinedMember(**{"name": "e", "region": "eastus", **fields}),)),
    )


def window(**fields: Any) -> AzureFleet:
    return member(
        maintenance=(MaintenanceWindow(**{"upgrades": "cluster", "day": "Sunday", **fields}),)
    )


def upgrades(**fields: Any) -> AzureUpgrades:
    return AzureUpgrades("up", AzureUpgradesArgs(hub=hub(kind="hubless"), **fields))


def strategy(*stages: Stage, **fields: Any) -> AzureUpgrades:
    return upgrades(strategies=(Strategy("rings", stages),), **fields)


def fleet(*members: Any, **fields: Any) -> AzureFleet:
    return AzureFleet("shop", AzureFleetArgs(members=members, **fields))


def with_system(**fields: Any) -> AzureFleet:
    return member(system_pool=attrs.evolve(SYSTEM_POOL, **fields))


def kubenet(**fields: Any) -> Network:
    return Network("kubenet", overlay=False, dataplane="azure", policy="calico", **fields)


def grant(**fields: Any) -> AzureAccess:
    item = Grant(**{"to": "devs", "principal": GUID, "role": READER, **fields})
    return AzureAccess("who", AzureAccessArgs(scope="/subscriptions/x", grants=(item,)))


def cluster(name: str, of: str) -> JoinedMember:
    cluster_id = f"{SOMEWHERE}/Microsoft.ContainerService/managedClusters/{of}"
    return JoinedMember(name=name, region="eastus", cluster_id=cluster_id)


_K = ("network.plugin", "400 at most")
HUBLESS = AzureHubArgs(resource_group="rg", region="westeurope", kind="hubless")

TABLE: list[tuple[str, Callable[[], Any], str, str]] = [
    ("fleet name in capitals", lambda: hub(fleet_name="Shop"), "fleetName", "lower-case"),
    ("fleet name of 64 characters", lambda: hub(fleet_name="a" * 64), "fleetName", "1 to 63"),
    ("fleet name ending in a dash", lambda: hub(fleet_name="shop-"), "fleetName", "ending with"),
    (
        "resource group ending in a dot",
        lambda: hub(resource_group="rg."),
        "resourceGroup",
        "not ending with a dot",
    ),
    ("no resource group", lambda: hub(resource_group=""), "resourceGroup", "missing"),
    ("region with a space", lambda: hub(region="West Europe"), "region", "westeurope"),
    ("unknown kind of hub", lambda: hub(kind="hubfull"), "kind", "public, private, hubless"),
    ("DNS prefix with a dot", lambda: hub(dns_prefix="a.b"), "dnsPrefix", "dashes"),
    ("long fleet name as DNS prefix", lambda: hub(fleet_name="a" * 60), "dnsPrefix", "1 to 54"),
    (
        "DNS prefix of a hubless fleet",
        lambda: hub(kind="hubless", dns_prefix="a"),
        "dnsPrefix",
        "leave it out",
    ),
    (
        "VM size of a hubless fleet",
        lambda: hub(kind="hubless", vm_size="Standard_D4s_v5"),
        "vmSize",
        "no node",
    ),
    ("VM size of a hub with a space", lambda: hub(vm_size="D4 v5"), "vmSize", "Standard_D4s_v5"),
    ("private hub without a network", lambda: hub(kind="private"), "network", "needs a network"),
    (
        "public hub with a network",
        lambda: hub(network=HubNetwork(fleet_rp=GUID)),
        "network",
        "no other",
    ),
    (
        "Fleet RP that is not a GUID",
        lambda: private(fleet_rp="fleet"),
        "network.fleetRp",
        "az ad sp list",
    ),
    ("one subnet of two", lambda: private(agent_subnet="/x"), "network.agentSubnet", "both"),
    (
        "hub network over the hub's own",
        lambda: private(address_space="10.0.0.0/8"),
        "network.addressSpace",
        "overlaps",
    ),
    (
        "subnet outside of the network",
        lambda: private(agents="172.16.0.0/24"),
        "network.agents",
        "not part",
    ),
    (
        "overlapping subnets",
        lambda: private(api_server="192.168.1.0/24"),
        "network.apiServer",
        "overlaps",
    ),
    (
        "small API server subnet",
        lambda: private(api_server="192.168.2.0/29"),
        "network.apiServer",
        "/28",
    ),
    ("range that is none", lambda: private(agents="192.168.0.0/33"), "network.agents", "IPv4"),
    ("interactive login", lambda: hub(login=Login("devicecode")), "login.mode", "azurecli"),
    (
        "service principal without a client",
        lambda: hub(login=Login("spn")),
        "login.clientId",
        "needs",
    ),
    (
        "region of a hub that is none",
        lambda: hub(region="westeurop"),
        "region",
        "did you mean westeurope",
    ),
    (
        "unknown VM size of a hub",
        lambda: hub(vm_size="Standard_D4s_v55"),
        "vmSize",
        "not in the table",
    ),
    (
        "VM size of a hub without a price",
        lambda: hub(vm_size="Standard_HB368rs_v5"),
        "vmSize",
        "not offered in",
    ),
    ("tag of a hub", lambda: hub(tags={"a/b": "c"}), "tags[a/b]", "none of <>%"),
    (
        "region that is none",
        lambda: member(region="westeurop"),
        "region",
        "did you mean westeurope",
    ),
    (
        "region like no other",
        lambda: member(region="atlantis"),
        "region",
        "hourlyPrice of every pool",
    ),
    (
        "zones in a region without",
        lambda: member(region="westus", pools=(pool(),)),
        "pools[0].zones",
        "leave them out",
    ),
    (
        "VM size that the region does not have",
        lambda: with_pool(vm_size="Standard_HB368rs_v5", zones=()),
        "pools[0].vmSize",
        "write its hourlyPrice",
    ),
    (
        "2 vCPUs for the system",
        lambda: with_system(vm_size="Standard_D2s_v5"),
        "systemPool.vmSize",
        "4 vCPUs and",
    ),
    (
        "B series for the system",
        lambda: with_system(vm_size="Standard_B4ms"),
        "systemPool.vmSize",
        "B series",
    ),
    (
        "B series for a second system pool",
        lambda: with_pool(mode="System", vm_size="Standard_B4ms"),
        "pools[0].vmSize",
        "B series",
    ),
    (
        "20 pods for the system",
        lambda: with_system(count=2, max_pods=10),
        "systemPool.maxPods",
        "30 at least",
    ),
    (
        "20 pods in a pool",
        lambda: with_pool(min_count=0, max_count=2, max_pods=10),
        "pools[0].maxPods",
        "30 at least",
    ),
    ("51 tags", lambda: member(tags={f"t{i}": "" for i in range(51)}), "tags", "50 at most"),
    ("long name of a tag", lambda: member(tags={"a" * 513: ""}), "tags", "1 to 512"),
    (
        "long value of a tag",
        lambda: with_pool(tags={"a": "b" * 257}),
        "pools[0].tags.a",
        "256 at most",
    ),
    ("name of a tag with a slash", lambda: member(tags={"a?": ""}), "tags.a?", "none of <>%"),
    (
        "Azure's own tag",
        lambda: member(tags={"Azure-x": ""}),
        "tags.Azure-x",
        "microsoft, azure, windows",
    ),
    (
        "one tag in two spellings",
        lambda: member(tags={"Cost": "1", "cost": "2"}),
        "tags.cost",
        "keep one",
    ),
    (
        "machines in the cluster's group",
        lambda: member(node_resource_group="RG"),
        "nodeResourceGroup",
        "of its own",
    ),
    (
        "group of machines too long",
        lambda: member(node_resource_group="a" * 81),
        "nodeResourceGroup",
        "1 to 80",
    ),
    (
        "machines in another member's group",
        lambda: fleet(aks(), aks("b", resource_group="other", node_resource_group="rg")),
        "members.b.nodeResourceGroup",
        "resource group of clusters",
    ),
    (
        "machines of two members in one group",
        lambda: fleet(aks(node_resource_group="n"), aks("b", node_resource_group="N")),
        "members.b.nodeResourceGroup",
        'the member "weu-1"',
    ),
    (
        "one group in two spellings",
        lambda: fleet(aks(), aks("b", resource_group="RG")),
        "members.b.resourceGroup",
        "write it the same",
    ),
    (
        "the hub's group in another spelling",
        lambda: fleet(aks(), hub=AzureHubArgs(resource_group="RG", region="westeurope")),
        "hub.resourceGroup",
        '"rg" and "RG" are one',
    ),
    (
        "an existing group in another spelling",
        lambda: fleet(aks(), existing_resource_groups=frozenset({"Rg"})),
        "existingResourceGroups",
        "one resource group",
    ),
    (
        "an existing group for machines",
        lambda: fleet(
            aks(node_resource_group="mine"), existing_resource_groups=frozenset({"Mine"})
        ),
        "existingResourceGroups",
        "holds the machines of weu-1",
    ),
    (
        "two members of one cluster",
        lambda: fleet(aks(cluster_name="one"), aks("b", cluster_name="ONE")),
        "members.b.clusterName",
        'the member "weu-1"',
    ),
    (
        "one cluster joined twice",
        lambda: fleet(cluster("a", "one"), cluster("b", "One")),
        "members.b.clusterId",
        "remove one",
    ),
    (
        "one cluster made and joined",
        lambda: fleet(aks(subscription=GUID, resource_group="Y"), cluster("b", "weu-1")),
        "members.b.clusterId",
        "remove one",
    ),
    (
        "one pool of 257 nodes",
        lambda: with_pool(max_count=254),
        "network.pods",
        "a range of /15 or larger",
    ),
    (
        "pods of a /26",
        lambda: member(network=Network(pods="10.9.0.0/26")),
        "network.pods",
        "room for 0 nodes",
    ),
    (
        "401 nodes with kubenet",
        lambda: member(network=kubenet(pods="10.128.0.0/9"), pools=(pool(max_count=398),)),
        *_K,
    ),
    (
        "kubenet in a subnet without an identity",
        lambda: member(network=kubenet(), subnet=SUBNET),
        "identity",
        "needs a user-assigned identity",
    ),
    (
        "kubenet with a pool in a subnet",
        lambda: member(network=kubenet(), pools=(pool(subnet=SUBNET),)),
        "identity",
        "route table",
    ),
    (
        "identity by name",
        lambda: member(identity="mine"),
        "identity",
        "userAssignedIdentities/<name>",
    ),
    (
        "subnet by name",
        lambda: member(subnet="nodes"),
        "subnet",
        "virtualNetworks/<name>/subnets/<name>",
    ),
    (
        "subnet of a pool by name",
        lambda: with_pool(subnet="nodes"),
        "pools[0].subnet",
        "subnets/<name>",
    ),
    (
        "network for a subnet",
        lambda: member(subnet=SUBNET.partition("/subnets")[0]),
        "subnet",
        "subnets/<name>",
    ),
    (
        "subnet of a hub by name",
        lambda: private(agent_subnet=SUBNET, api_server_subnet="api"),
        "network.apiServerSubnet",
        "subnets/<name>",
    ),
    (
        "DNS zone by name",
        lambda: member(
            api_server=ApiServer(private=True, private_dns_zone="own"), identity=IDENTITY
        ),
        "apiServer.privateDnsZone",
        "privateDnsZones/<name>",
    ),
    (
        "no number for a price",
        lambda: with_pool(hourly_price=float("nan")),
        "pools[0].hourlyPrice",
        "0.192",
    ),
    (
        "AKS's own prefix",
        lambda: with_pool(labels={"kubernetes.io/x": "y"}),
        "pools[0].labels",
        "set by Azure",
    ),
    (
        "services as large as a /12",
        lambda: member(network=Network(services="10.0.0.0/12")),
        "network.services",
        "/12",
    ),
    (
        "pods in AKS's own",
        lambda: member(network=Network(pods="172.16.0.0/12")),
        "network.pods",
        "172.30.0.0/16",
    ),
    (
        "services in AKS's own",
        lambda: member(network=Network(services="192.0.2.0/25")),
        "network.services",
        "keeps",
    ),
    (
        "a profile over members that Pulumi keeps",
        lambda: fleet(
            aks(kubernetes_version="1.33"), hub=HUBLESS, profiles=(AutoUpgrade("stable"),)
        ),
        "profiles[0]",
        "it upgrades weu-1, which Pulumi keeps",
    ),
    (
        "a profile over a group that Pulumi keeps",
        lambda: fleet(
            aks(kubernetes_version="1.33", group="canary"),
            hub=HUBLESS,
            strategies=(Strategy("rings", (Stage("a", ("canary",)),)),),
            profiles=(AutoUpgrade("images", "NodeImage"), AutoUpgrade("stable", strategy="rings")),
        ),
        "profiles[1]",
        "upgrades: fleet",
    ),
    (
        "more of a group at once than of its stage",
        lambda: strategy(Stage("a", (Group("x", at_once="3"),), at_once="2")),
        "strategies[0].stages[0].groups[0].atOnce",
        "2 at most",
    ),
    ("member name with an underscore", lambda: member(name="weu_1"), "name", "lower-case"),
    ("member name of 51 characters", lambda: member(name="a" * 51), "name", "1 to 50"),
    (
        "cluster name ending in a dash",
        lambda: member(cluster_name="aks-"),
        "clusterName",
        "ending with",
    ),
    (
        "subscription that is not a GUID",
        lambda: member(subscription="prod"),
        "subscription",
        "GUID",
    ),
    ("update group in capitals", lambda: member(group="Canary"), "group", "lower-case"),
    ("label key with a space", lambda: member(labels={"a b": "c"}), "labels.a b", "label key"),
    ("label value with a space", lambda: member(labels={"a": "b c"}), "labels.a", "label value"),
    (
        "automatic label",
        lambda: member(labels={"fleet.azure.com/location": "x"}),
        "labels",
        "set by Azure",
    ),
    (
        "KubeFleet's label",
        lambda: member(labels={"kubernetes-fleet.io/x": "y"}),
        "labels",
        "leave it out",
    ),
    (
        "taint effect of nodes",
        lambda: member(taints=(Taint("a", effect="NoExecute"),)),
        "taints[0].effect",
        "NoSchedule",
    ),
    (
        "one taint twice",
        lambda: member(taints=(Taint("a"), Taint("a", "b"))),
        "taints[1].key",
        "twice",
    ),
    (
        "101 taints",
        lambda: member(taints=tuple(Taint(f"t{i}") for i in range(101))),
        "taints",
        "100 at most",
    ),
    ("version with a v", lambda: member(kubernetes_version="v1.33"), "kubernetesVersion", "1.33"),
    ("unknown tier", lambda: member(tier="Paid"), "tier", "Free, Standard, Premium"),
    (
        "long-term support on Standard",
        lambda: member(long_term_support=True),
        "longTermSupport",
        "Premium",
    ),
    ("unknown upgrades", lambda: member(upgrades="azure"), "upgrades", "pulumi, fleet"),
    (
        "unknown node OS channel",
        lambda: member(node_os_channel="Nightly"),
        "nodeOsChannel",
        "NodeImage",
    ),
    ("nobody can sign in", lambda: member(entra=None), "entra", "localAccounts: true"),
    (
        "admin group by name",
        lambda: member(entra=Entra(admin_groups=("ops",))),
        "entra.adminGroups[0]",
        "GUID",
    ),
    (
        "workload identity without issuer",
        lambda: member(oidc_issuer=False),
        "workloadIdentity",
        "oidcIssuer: true",
    ),
    ("pool name in capitals", lambda: with_pool(name="Apps"), "pools[0].name", "lower-case"),
    (
        "pool name of 13 characters",
        lambda: with_pool(name="applications1"),
        "pools[0].name",
        "1 to 12",
    ),
    (
        "pool name of the system pool",
        lambda: with_pool(name="system"),
        "pools[0].name",
        "first system pool",
    ),
    ("two pools of one name", lambda: member(pools=(pool(), pool())), "pools[1].name", "twice"),
    ("unknown VM size", lambda: with_pool(vm_size="Standard_D4s_v55"), "pools[0].vmSize", "cpu:"),
    (
        "VM size with CPU but no memory",
        lambda: with_pool(vm_size="Standard_X1", cpu="4"),
        "pools[0].vmSize",
        "memory:",
    ),
    (
        "memory that is not a quantity",
        lambda: with_pool(cpu="4", memory="16 GB"),
        "pools[0].memory",
        "16Gi",
    ),
    ("less than a core", lambda: with_pool(cpu="500m", memory="1Gi"), "pools[0].cpu", "quantity"),
    ("negative price", lambda: with_pool(hourly_price=-1.0), "pools[0].hourlyPrice", "USD an hour"),
    ("count and range", lambda: with_pool(count=3), "pools[0].count", "either count"),
    (
        "neither count nor range",
        lambda: with_pool(min_count=None, max_count=None),
        "pools[0].count",
        "either count",
    ),
    ("half a range", lambda: with_pool(max_count=None), "pools[0].count", "maxCount"),
    ("range upside down", lambda: with_pool(min_count=9, max_count=3), "pools[0].minCount", "swap"),
    ("1,001 nodes", lambda: with_pool(max_count=1001), "pools[0].maxCount", "1 to 1000"),
    (
        "system pool of no nodes",
        lambda: member(system_pool=NodePool("s", "Standard_D4s_v5", count=0)),
        "systemPool.count",
        "1 to",
    ),
    (
        "spot system pool",
        lambda: with_pool(mode="System", spot=True),
        "pools[0].spot",
        "system pool",
    ),
    ("unknown mode", lambda: with_pool(mode="Gateway"), "pools[0].mode", "System, User"),
    ("zone 4", lambda: with_pool(zones=("4",)), "pools[0].zones[0]", "1, 2, 3"),
    ("one zone twice", lambda: with_pool(zones=("1", "1")), "pools[0].zones", "twice"),
    (
        "AKS's node label",
        lambda: with_pool(labels={"kubernetes.azure.com/x": "y"}),
        "pools[0].labels",
        "set by Azure",
    ),
    (
        "unknown node taint effect",
        lambda: with_pool(taints=(Taint("a", effect="No"),)),
        "pools[0].taints[0].effect",
        "NoExecute",
    ),
    (
        "unknown OS disk",
        lambda: with_pool(os_disk="Premium"),
        "pools[0].osDisk",
        "Ephemeral, Managed",
    ),
    ("OS disk of 10 GiB", lambda: with_pool(os_disk_gib=10), "pools[0].osDiskGib", "30 to 2048"),
    ("unknown OS", lambda: with_pool(os_sku="Debian"), "pools[0].osSku", "AzureLinux"),
    ("5 pods a node", lambda: with_pool(max_pods=5), "pools[0].maxPods", "10 to 250"),
    (
        "unknown network plugin",
        lambda: member(network=Network(plugin="calico")),
        "network.plugin",
        "kubenet",
    ),
    (
        "overlay on kubenet",
        lambda: member(network=Network(plugin="kubenet")),
        "network.overlay",
        "overlay: false",
    ),
    (
        "policy without its dataplane",
        lambda: member(network=Network(policy="calico")),
        "network.policy",
        "together",
    ),
    (
        "pods in services",
        lambda: member(network=Network(pods="10.0.0.0/14")),
        "network.pods",
        "overlaps",
    ),
    (
        "DNS outside of the services",
        lambda: member(network=Network(dns="10.1.0.10")),
        "network.dns",
        "10.0.0.10",
    ),
    (
        "DNS at the first address",
        lambda: member(network=Network(dns="10.0.0.1")),
        "network.dns",
        "10.0.0.10",
    ),
    (
        "tiny range of services",
        lambda: member(network=Network(services="10.9.0.0/30")),
        "network.services",
        "/28",
    ),
    (
        "pods without overlay",
        lambda: member(network=Network(overlay=False, pods="10.9.0.0/16")),
        "network.pods",
        "overlay",
    ),
    (
        "routes without a subnet",
        lambda: member(network=Network(outbound="userDefinedRouting")),
        "network.outbound",
        "subnet",
    ),
    (
        "private and authorized",
        lambda: member(api_server=ApiServer(private=True, authorized=("1.2.3.0/24",))),
        "apiServer.authorized",
        "leave out",
    ),
    (
        "authorized host bits",
        lambda: member(api_server=ApiServer(authorized=("1.2.3.4/24",))),
        "apiServer.authorized[0]",
        "203.0.113.0/24",
    ),
    (
        "DNS zone of a public API",
        lambda: member(api_server=ApiServer(private_dns_zone="none")),
        "apiServer.privateDnsZone",
        "private",
    ),
    ("window of 3 hours", lambda: window(hours=3), "maintenance[0].hours", "4 to 24"),
    ("window on a date", lambda: window(day="1st"), "maintenance[0].day", "Monday"),
    ("window at 25:00", lambda: window(start="25:00"), "maintenance[0].start", "HH:MM"),
    ("window every 5 weeks", lambda: window(every_weeks=5), "maintenance[0].everyWeeks", "1 to 4"),
    (
        "window in a time zone",
        lambda: window(utc_offset="CET"),
        "maintenance[0].utcOffset",
        "+01:00",
    ),
    (
        "window for everything",
        lambda: window(upgrades="all"),
        "maintenance[0].upgrades",
        "nodeImages",
    ),
    (
        "observed disk",
        lambda: member(observed=Observation(available={"disk": "1"})),
        "observed.available.disk",
        "cpu",
    ),
    ("joined by nothing", lambda: joined(), "clusterId", "kubeconfigFile"),
    (
        "joined by a VM's ID",
        lambda: joined(cluster_id=f"{SOMEWHERE}/Microsoft.Compute/virtualMachines/z"),
        "clusterId",
        "managedClusters",
    ),
    (
        "Arc without a kubeconfig",
        lambda: joined(cluster_id=f"{SOMEWHERE}/Microsoft.Kubernetes/connectedClusters/z"),
        "kubeconfigFile",
        "Arc",
    ),
    (
        "kubeconfig that is not there",
        lambda: joined(kubeconfig_file="no.yaml"),
        "kubeconfigFile",
        "no file",
    ),
    (
        "two members of one name",
        lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(), aks()))),
        "members[1].name",
        "twice",
    ),
    (
        "upgrades without a fleet",
        lambda: AzureFleet("shop", AzureFleetArgs(runs=(Run("r"),))),
        "strategies",
        "hubless",
    ),
    ("strategy without stages", lambda: strategy(), "strategies[0].stages", "at least one"),
    (
        "stage without groups",
        lambda: strategy(Stage("a", ())),
        "strategies[0].stages[0].groups",
        "1 to 50",
    ),
    (
        "51 groups",
        lambda: strategy(Stage("a", tuple(f"g{i}" for i in range(51)))),
        "strategies[0].stages[0].groups",
        "1 to 50",
    ),
    (
        "group in two stages",
        lambda: strategy(Stage("a", ("x",)), Stage("b", ("x",))),
        "strategies[0].stages[1].groups[0].name",
        "twice",
    ),
    (
        "two stages of one name",
        lambda: strategy(Stage("a", ("x",)), Stage("a", ("y",))),
        "strategies[0].stages[1].name",
        "twice",
    ),
    (
        "group that nobody is in",
        lambda: strategy(Stage("a", ("x",)), groups=frozenset({"y"})),
        "strategies[0].stages[0].groups[0].name",
        "one of y",
    ),
    (
        "stage name in capitals",
        lambda: strategy(Stage("A", ("x",))),
        "strategies[0].stages[0].name",
        "lower-case",
    ),
    (
        "0 members at once",
        lambda: strategy(Stage("a", ("x",), at_once="0")),
        "strategies[0].stages[0].atOnce",
        "25%",
    ),
    (
        "51 members at once",
        lambda: strategy(Stage("a", ("x",), at_once="51")),
        "strategies[0].stages[0].atOnce",
        "1 to 50",
    ),
    (
        "110 % at once",
        lambda: strategy(Stage("a", (Group("x", at_once="110%"),))),
        "strategies[0].stages[0].groups[0].atOnce",
        "25%",
    ),
    (
        "negative wait",
        lambda: strategy(Stage("a", ("x",), wait_seconds=-1)),
        "strategies[0].stages[0].waitSeconds",
        "0 to",
    ),
    (
        "approval without a name",
        lambda: strategy(Stage("a", ("x",), approve_before=("",))),
        "strategies[0].stages[0].approveBefore[0]",
        "1 to 100",
    ),
    (
        "run without a version",
        lambda: upgrades(runs=(Run("r"),)),
        "runs[0].kubernetesVersion",
        "NodeImageOnly",
    ),
    (
        "image run with a version",
        lambda: upgrades(runs=(Run("r", "NodeImageOnly", "1.33"),)),
        "runs[0].kubernetesVersion",
        "NodeImageOnly",
    ),
    (
        "run of an unknown strategy",
        lambda: upgrades(runs=(Run("r", kubernetes_version="1.33", strategy="x"),)),
        "runs[0].strategy",
        "not known",
    ),
    (
        "AKS's spelling of a channel",
        lambda: upgrades(profiles=(AutoUpgrade("p", "stable"),)),
        "profiles[0].channel",
        "Stable",
    ),
    (
        "target channel without version",
        lambda: upgrades(profiles=(AutoUpgrade("p", "TargetKubernetesVersion"),)),
        "profiles[0].targetVersion",
        "needs one",
    ),
    (
        "version on the stable channel",
        lambda: upgrades(profiles=(AutoUpgrade("p", target_version="1.33"),)),
        "profiles[0].targetVersion",
        "take none",
    ),
    (
        "target of a patch",
        lambda: upgrades(profiles=(AutoUpgrade("p", "TargetKubernetesVersion", "1.33.2"),)),
        "profiles[0].targetVersion",
        "without a patch",
    ),
    (
        "long-term support on Rapid",
        lambda: upgrades(profiles=(AutoUpgrade("p", "Rapid", long_term_support=True),)),
        "profiles[0].longTermSupport",
        "needs channel",
    ),
    ("role that is none", lambda: grant(role="Fleet Reader"), "grants[0].role", "RBAC Reader"),
    ("principal by mail", lambda: grant(principal="a@b.c"), "grants[0].principal", "GUID"),
    (
        "principal of an unknown kind",
        lambda: grant(kind="Robot"),
        "grants[0].kind",
        "ServicePrincipal",
    ),
    ("namespace with a slash", lambda: grant(namespace="a/b"), "grants[0].namespace", "dashes"),
]


@pytest.mark.parametrize(
    ("program", "field", "rule"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_refused_with_field_and_rule(program: Callable[[], Any], field: str, rule: str) -> None:
    run = world.run(program)
    text = str(run.error)
    assert type(run.error).__name__ == "RefusedError", run.error
    assert field in text
    assert rule in text
    assert not [
        r
        for r in run.resources.values()
        if r.type.startswith("azure-native:") and r.name.startswith("weu")
    ]


TAKEN: list[tuple[str, Callable[[], Any]]] = [
    (
        "a new region with prices of one's own",
        lambda: member(region="atlantis", system_pool=priced(SYSTEM_POOL)),
    ),
    ("a region without a list of prices", lambda: member(region="usgovvirginia", pools=(pool(),))),
    ("a hub in a region of another cloud", lambda: hub(region="chinanorth3")),
    (
        "a size with a price of one's own",
        lambda: with_pool(vm_size="Standard_HB368rs_v5", hourly_price=99.0),
    ),
    (
        "a small size for the system, stated",
        lambda: with_system(vm_size="Standard_D2s_v5", cpu="2", memory="8Gi"),
    ),
    ("a small size for users", lambda: with_pool(vm_size="Standard_B2s")),
    ("one node for the system", lambda: with_system(count=1)),
    ("10 pods on each of 3 nodes", lambda: with_system(count=3, max_pods=10)),
    ("an empty pool of users", lambda: with_pool(min_count=None, max_count=None, count=0)),
    ("50 tags", lambda: member(tags={f"t{i}": "v" * 256 for i in range(50)})),
    ("tags with spaces", lambda: member(tags={"Cost Center": "a/b?"})),
    ("machines in a group of 80 characters", lambda: member(node_resource_group="a" * 80)),
    ("256 nodes", lambda: with_pool(max_count=253)),
    (
        "1,003 nodes",
        lambda: member(pools=(pool(max_count=1000),), network=Network(pods="10.240.0.0/12")),
    ),
    (
        "one name in two groups",
        lambda: fleet(aks(cluster_name="x"), aks("b", cluster_name="x", resource_group="r")),
    ),
    (
        "one name in two subscriptions",
        lambda: fleet(aks(), aks("b", cluster_name="weu-1", subscription=GUID)),
    ),
    (
        "kubenet in a subnet with an identity",
        lambda: member(network=kubenet(), subnet=SUBNET, identity=IDENTITY),
    ),
    ("kubenet in Azure's own subnet", lambda: member(network=kubenet())),
    ("an identity in other case", lambda: member(identity=IDENTITY.lower())),
    (
        "the label of spot nodes",
        lambda: with_pool(spot=True, labels={"kubernetes.azure.com/scalesetpriority": "spot"}),
    ),
    ("services as large as a /13", lambda: member(network=Network(services="10.8.0.0/13"))),
    ("images of members that Pulumi keeps", lambda: profiled(AutoUpgrade("images", "NodeImage"))),
    ("a disabled profile", lambda: profiled(AutoUpgrade("stable", disabled=True))),
    (
        "a profile over members of no version",
        lambda: profiled(AutoUpgrade("stable"), kubernetes_version=None),
    ),
    (
        "a profile over members that it upgrades",
        lambda: profiled(AutoUpgrade("stable"), upgrades="fleet"),
    ),
    (
        "a percentage of a group",
        lambda: strategy(Stage("a", (Group("x", at_once="90%"),), at_once="2")),
    ),
    (
        "as many of a group as of its stage",
        lambda: strategy(Stage("a", (Group("x", at_once="2"),), at_once="2")),
    ),
]


def priced(node_pool: NodePool) -> NodePool:
    return attrs.evolve(node_pool, hourly_price=0.2)


def profiled(profile: AutoUpgrade, **fields: Any) -> AzureFleet:
    item = aks(**{"kubernetes_version": "1.33", **fields})
    return fleet(item, hub=HUBLESS, profiles=(profile,))


@pytest.mark.parametrize("program", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_what_azure_takes_is_taken(program: Callable[[], Any]) -> None:
    assert world.run(program).error is None


@pytest.mark.parametrize("size", ["Standard_D4s_v5", "Standard_D8s_v5"])
def test_every_region_of_the_table_is_taken_with_its_sizes(size: str) -> None:
    """Whatever has a price somewhere can be had there; what has none elsewhere is named with what could be had."""
    table = built_in_sizes()
    found = table.find(size)
    assert found
    for region in sorted(table.priced):
        item = aks(region=region, system_pool=NodePool("system", size, count=3))
        problems = list(item.problems(table))
        assert bool(problems) == (region not in found.prices), region
        assert all("hourlyPrice" in problem.hint for problem in problems)


def test_all_that_is_wrong_is_named_at_once() -> None:
    error = str(
        world.run(
            lambda: member(name="Weu", tier="Paid", pools=(pool(vm_size="Standard_D9"),))
        ).error
    )
    assert len(error.splitlines()) == 3
