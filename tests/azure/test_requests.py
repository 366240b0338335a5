"""Every request that the components would send fits Azure's own schema of its API version."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")

import pulumi_kubernetes as kubernetes

from fleet_components.azure import (
    ApiServer,
    AutoUpgrade,
    AzureAccess,
    AzureAccessArgs,
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    AzureMember,
    AzureMemberArgs,
    Entra,
    Grant,
    Group,
    HubNetwork,
    JoinedMember,
    MaintenanceWindow,
    Network,
    OwnHub,
    Run,
    Stage,
    Strategy,
)
from fleet_components.model.cluster import Taint
from tests.azure import arm, world
from tests.azure.build import GUID, aks, pool

pytestmark = pytest.mark.long

ARC = f"/subscriptions/{GUID}/resourceGroups/edge/providers/Microsoft.Kubernetes/connectedClusters/shop-1"
SUBNET = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"

MEMBERS = {
    "plain": aks(),
    "autoscaled": aks(pools=(pool(),)),
    "spot": aks(
        pools=(
            pool(name="spot", spot=True, labels={"kind": "spot"}, taints=(Taint("spot", "true"),)),
        )
    ),
    "disks": aks(
        pools=(
            pool(
                os_disk="Ephemeral",
                os_disk_gib=128,
                os_sku="AzureLinux",
                max_pods=60,
                tags={"a": "b"},
            ),
        )
    ),
    "second system pool": aks(
        pools=(pool(mode="System", count=3, min_count=None, max_count=None),)
    ),
    "private": aks(
        api_server=ApiServer(private=True, private_dns_zone="system", run_command=False),
        subnet=SUBNET,
    ),
    "authorized": aks(api_server=ApiServer(authorized=("203.0.113.0/24",))),
    "network": aks(
        network=Network(
            overlay=False, dataplane="azure", policy="calico", outbound="userDefinedRouting"
        ),
        subnet=SUBNET,
    ),
    "ranges": aks(network=Network(pods="10.10.0.0/16", services="10.11.0.0/16", dns="10.11.0.10")),
    "kubenet": aks(
        network=Network(plugin="kubenet", overlay=False, dataplane="azure", policy="calico")
    ),
    "entra": aks(entra=Entra(admin_groups=(GUID,), azure_rbac=False, tenant=GUID)),
    "certificates": aks(entra=None, local_accounts=True),
    "no workload identity": aks(workload_identity=False, oidc_issuer=False),
    "identity": aks(
        identity=f"/subscriptions/{GUID}/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
    ),
    "long-term support": aks(tier="Premium", long_term_support=True, kubernetes_version="1.30"),
    "upgraded by the fleet": aks(kubernetes_version="1.33", upgrades="fleet", pools=(pool(),)),
    "maintenance": aks(
        maintenance=(
            MaintenanceWindow(
                "cluster", "Saturday", "02:00", 6, every_weeks=2, utc_offset="+01:00"
            ),
            MaintenanceWindow("nodeImages", "Sunday"),
        )
    ),
    "names": aks(
        cluster_name="AKS_weu-1",
        dns_prefix="weu",
        node_resource_group="rg-nodes",
        tags={"cost": "1"},
    ),
    "registered": aks(
        labels={"tier": "gold"}, taints=(Taint("gpu", "yes"),), group="canary", pools=(pool(),)
    ),
}

STRATEGY = Strategy(
    "rings",
    (
        Stage(
            "canary",
            (Group("canary", approve_before=("go?",)),),
            wait_seconds=3600,
            approve_after=("fine?",),
        ),
        Stage("rest", ("eu", Group("us", at_once="25%")), at_once="3"),
    ),
)
RUNS = (
    Run("full", kubernetes_version="1.33.2", strategy="rings"),
    Run("images", kind="NodeImageOnly", node_images="Consistent"),
    Run("control", kind="ControlPlaneOnly", kubernetes_version="1.33.2"),
)
PROFILES = (
    AutoUpgrade("stable", strategy="rings"),
    AutoUpgrade(
        "target",
        "TargetKubernetesVersion",
        target_version="1.33",
        long_term_support=True,
        disabled=True,
    ),
    AutoUpgrade("images", "NodeImage", node_images="Consistent"),
)
GROUPS = [aks(f"m-{group}", group=group) for group in ("canary", "eu", "us")]


def hub(**fields: Any) -> AzureHub:
    return AzureHub(
        "shop", AzureHubArgs(**{"resource_group": "rg", "region": "westeurope", **fields})
    )


def fleet(*members: Any, **fields: Any) -> AzureFleet:
    args = {
        "members": members,
        "hub": AzureHubArgs(resource_group="rg", region="westeurope"),
        **fields,
    }
    return AzureFleet("shop", AzureFleetArgs(**args))


PROGRAMS: dict[str, Callable[[], Any]] = {
    "public hub": lambda: hub(vm_size="Standard_D4s_v5", tags={"a": "b"}),
    "hubless": lambda: hub(kind="hubless"),
    "private hub with a network of its own": lambda: hub(
        kind="private", network=HubNetwork(fleet_rp=GUID)
    ),
    "private hub in subnets that are there": lambda: hub(
        kind="private",
        network=HubNetwork(fleet_rp=GUID, agent_subnet=SUBNET, api_server_subnet=SUBNET),
    ),
    "arc": lambda: fleet(
        JoinedMember(name="edge", region="westeurope", cluster_id=ARC, kubeconfig_file=__file__)
    ),
    "upgrades": lambda: fleet(*GROUPS, strategies=(STRATEGY,), runs=RUNS, profiles=PROFILES),
    "access": lambda: AzureAccess(
        "who",
        AzureAccessArgs(
            scope=hub().fleet_id,
            grants=(
                Grant(
                    to="devs",
                    principal=GUID,
                    role="Azure Kubernetes Fleet Manager RBAC Reader",
                    namespace="shop",
                ),
            ),
        ),
    ),
    **{f"member: {name}": partial(fleet, member) for name, member in MEMBERS.items()},
}


@cache
def ran(name: str) -> world.Run:
    return world.run(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_request_fits_the_schema(name: str) -> None:
    run = ran(name)
    assert run.error is None
    requests = [
        arm.request_of(resource) for resource in run.resources.values() if arm.has_schema(resource)
    ]
    assert requests
    assert {request.type: errors for request in requests if (errors := request.errors())} == {}


def test_only_types_without_a_schema_here_go_unchecked() -> None:
    unchecked = {
        resource.type
        for name in PROGRAMS
        for resource in ran(name).resources.values()
        if resource.type.startswith("azure-native:") and not arm.has_schema(resource)
    }
    assert unchecked == {
        "azure-native:authorization:RoleAssignment",
        "azure-native:managedidentity:UserAssignedIdentity",
        "azure-native:network:Subnet",
        "azure-native:network:VirtualNetwork",
        "azure-native:resources:ResourceGroup",
    }


@pytest.mark.parametrize(
    "name", ["public hub", "member: maintenance", "member: spot", "member: registered", "upgrades"]
)
def test_a_typo_in_any_field_of_any_request_is_found(name: str) -> None:
    for resource in ran(name).resources.values():
        if not arm.has_schema(resource):
            continue
        request = arm.request_of(resource)
        for path in arm.fields_of(request.body):
            if {"tags", "nodeLabels", "labels", "userAssignedIdentities"} & set(path[:-1]):
                continue  # maps with keys of the user's own
            broken = copy.deepcopy(dict(request.body))
            parent: Any = broken
            for step in path[:-1]:
                parent = parent[step]
            parent[f"{path[-1]}x"] = parent.pop(path[-1])
            assert arm.Request(request.schema, request.type, broken).errors(), (
                f"{resource.name}: {path}"
            )


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("ManagedCluster", ("name",), "-weu"),
        ("ManagedCluster", ("properties", "agentPoolProfiles", 0, "mode"), "Sytem"),
        ("ManagedCluster", ("properties", "networkProfile", "networkPlugin"), "azzure"),
        ("ManagedCluster", ("sku", "tier"), "standard"),
        ("AgentPool", ("properties", "osDiskSizeGB"), 4096),
        ("AgentPool", ("properties", "scaleSetPriority"), "spot"),
        ("Resource", ("properties", "group"), "Canary"),
        ("Resource", ("properties", "labels", "tier"), 1),
    ],
)
def test_a_wrong_value_is_found(name: str, path: tuple[Any, ...], value: Any) -> None:
    request = arm.request_of(ran("member: registered").of_type(name)[-1])
    assert not request.errors()
    request = copy.deepcopy(request)
    target: Any = request.body
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    assert request.errors()


def test_an_own_hub_gets_the_members_as_objects() -> None:
    def program() -> None:
        provider = kubernetes.Provider("hub", kubeconfig="x")
        own = OwnHub(provider, lambda name: {"kind": "User", "name": f"agent-{name}"})
        kubeconfig = pulumi.Output.secret("text")
        joined = JoinedMember(
            name="edge",
            region="onprem",
            labels={"a": "b"},
            taints=(Taint("k"),),
            kubeconfig=kubeconfig,
        )
        AzureMember("edge", AzureMemberArgs(member=joined, hub=own))

    run = world.run(program)
    assert run.error is None
    assert run.named("edge-member").inputs == {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": "edge", "labels": {"a": "b"}},
        "spec": {"identity": {"kind": "User", "name": "agent-edge"}},
    }
    assert run.named("edge-taints").inputs["spec"] == {
        "taints": [{"key": "k", "effect": "NoSchedule"}]
    }
    assert not [r for r in run.resources.values() if r.type.startswith("azure-native:")]


def test_a_cluster_that_azure_does_not_know_takes_part_in_placement_only() -> None:
    made: list[AzureFleet] = []
    elsewhere = JoinedMember(
        name="kind", region="here", kubeconfig_file=__file__, taints=(Taint("slow"),)
    )
    run = world.run(lambda: made.append(fleet(elsewhere, aks())))
    assert run.error is None
    assert [entry.name for entry in run.of_type("Resource")] == ["shop-fleet", "weu-1-member"]
    assert [(record.name, record.taints) for record in made[0].records] == [
        ("kind", (Taint("slow"),)),
        ("weu-1", ()),
    ]


def test_the_cost_is_told() -> None:
    run = ran("member: autoscaled")
    member_line = next(message for message in run.messages if message.startswith("fleet shop"))
    # 3 nodes at 0.23, 2 to 10 at 0.46, 0.10 for the control plane; 730 hours.
    assert "1 cluster with 5 to 13 nodes: about 1,248 to 3,935 USD a month" in member_line
    assert "2026-06-18" in member_line
    assert any(message.startswith("hub shop: about") for message in run.messages)


def test_kubeconfigs_and_only_they_are_secret() -> None:
    def program() -> None:
        made = fleet(aks())
        for key, value in made.exports.items():
            pulumi.export(key, value)

    outputs = world.run(program).outputs
    marked = "4dabf18193072939515e22adb298388d"
    assert marked in str(outputs["kubeconfigs"])
    assert marked not in str(outputs["members"])
