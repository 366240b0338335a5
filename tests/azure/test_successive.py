"""From one program to the next: exactly what should change does, nothing is replaced, what cannot change is refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import attrs
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    ApiServer,
    AutoUpgrade,
    AzureFleet,
    AzureFleetArgs,
    AzureHubArgs,
    HubNetwork,
    Network,
)
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.model.cluster import Taint
from tests.azure import world
from tests.azure.build import GUID, SYSTEM_POOL, aks, pool

pytestmark = pytest.mark.long

HUB = AzureHubArgs(resource_group="rg-hub", region="northeurope")
WEU = aks("weu-1", labels={"tier": "gold"}, pools=(pool(),), kubernetes_version="1.33.2")
EUS = aks("eus-1", region="eastus", resource_group="rg-us")
NEW = aks("sea-1", region="southeastasia", resource_group="rg-asia", pools=(pool(),))


def after(*members: AksMember, before: world.Run | None = None, **fields: Any) -> world.Run:
    args = AzureFleetArgs(**{"members": members, "hub": HUB, **fields})
    return world.run(lambda: AzureFleet("shop", args), before)


def confirmed(*members: AksMember, before: world.Run, **fields: Any) -> world.Run:
    """The same, with the removals allowed that are refused without."""
    tokens = re.findall(
        "fleet:confirm=([0-9a-f]{8})", str(after(*members, before=before, **fields).error)
    )
    return after(*members, before=before, confirm=tuple(tokens), **fields)


@pytest.fixture(scope="module")
def before() -> world.Run:
    run = after(WEU)
    assert run.error is None
    return run


@pytest.fixture(scope="module")
def pair() -> world.Run:
    return after(WEU, EUS)


def changed(**fields: Any) -> AksMember:
    return attrs.evolve(WEU, **fields)


CHANGES: list[tuple[str, AksMember, dict[str, str]]] = [
    ("nothing", WEU, {}),
    ("a label", changed(labels={"tier": "silver"}), {"Resource weu-1-member": "update"}),
    ("the update group", changed(group="canary"), {"Resource weu-1-member": "update"}),
    (
        "a taint",
        changed(taints=(Taint("gpu", "yes"),)),
        {"MemberClusterPatch weu-1-taints": "update"},
    ),
    ("a pool resized", changed(pools=(pool(max_count=20),)), {"AgentPool weu-1-apps": "update"}),
    (
        "a pool's labels and taints",
        changed(pools=(pool(labels={"a": "b"}, taints=(Taint("c"),)),)),
        {"AgentPool weu-1-apps": "update"},
    ),
    (
        "a pool from a range to a count",
        changed(pools=(pool(count=4, min_count=None, max_count=None),)),
        {"AgentPool weu-1-apps": "update"},
    ),
    (
        "a pool added",
        changed(pools=(pool(), pool(name="spot", spot=True))),
        {"AgentPool weu-1-spot": "create", "CreateOnly weu-1-create-only": "update"},
    ),
    (
        "a pool removed",
        changed(pools=()),
        {"AgentPool weu-1-apps": "delete", "CreateOnly weu-1-create-only": "update"},
    ),
    (
        "the system pool resized",
        changed(system_pool=attrs.evolve(SYSTEM_POOL, count=5)),
        {"ManagedCluster weu-1-cluster": "update"},
    ),
    (
        "the version",
        changed(kubernetes_version="1.34.0"),
        {
            "ManagedCluster weu-1-cluster": "update",
            "AgentPool weu-1-apps": "update",
            "CreateOnly weu-1-create-only": "update",
        },
    ),
    ("a tag", changed(tags={"cost": "1"}), {"ManagedCluster weu-1-cluster": "update"}),
    (
        "authorized ranges",
        changed(api_server=ApiServer(authorized=("203.0.113.0/24",))),
        {"ManagedCluster weu-1-cluster": "update"},
    ),
]


@pytest.mark.parametrize(
    ("member", "expected"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_exactly_what_should_change_does(
    before: world.Run, member: AksMember, expected: dict[str, str]
) -> None:
    run = after(member, before=before)
    assert run.error is None
    assert world.changes(before, run) == expected


def test_a_member_added_touches_no_other(before: world.Run) -> None:
    done = world.changes(before, after(NEW, WEU, before=before))
    assert set(done.values()) == {"create"}
    assert all("sea-1" in title or title.endswith("rg-asia") for title in done)
    assert "ManagedCluster sea-1-cluster" in done


def test_a_member_removed_touches_no_other(pair: world.Run, before: world.Run) -> None:
    done = world.changes(pair, before)
    assert set(done.values()) == {"delete"}
    assert all("eus-1" in title or title.endswith("rg-us") for title in done)


def test_a_resource_group_stays_where_it_was_made(pair: world.Run) -> None:
    moved = attrs.evolve(EUS, name="weu-2", region="westeurope")
    run = confirmed(WEU, moved, before=pair)
    assert run.error is None
    assert "ResourceGroup rg-us" not in world.changes(pair, run)


def test_a_hubless_fleet_gets_a_hub() -> None:
    hubless = after(WEU, hub=attrs.evolve(HUB, kind="hubless"))
    run = after(WEU, before=hubless)
    assert run.error is None
    assert world.changes(hubless, run) == {
        "CreateOnly shop-create-only": "update",
        "Resource shop-fleet": "update",
        "kubernetes shop-hub": "create",
        "MemberClusterPatch weu-1-not-ready": "create",
        "MemberClusterPatch weu-1-taints": "create",
    }


REFUSED_HUBS: list[tuple[str, AzureHubArgs, str]] = [
    (
        "made private",
        attrs.evolve(HUB, kind="private", network=HubNetwork(fleet_rp=GUID)),
        "hub.private cannot change from false to true",
    ),
    ("made hubless", attrs.evolve(HUB, kind="hubless"), "hub cannot change from"),
    (
        "another node",
        attrs.evolve(HUB, vm_size="Standard_D8s_v5"),
        'hub.vmSize cannot change from nothing to "Standard',
    ),
    (
        "another DNS prefix",
        attrs.evolve(HUB, dns_prefix="x"),
        'hub.dnsPrefix cannot change from "shop" to "x"',
    ),
    (
        "another region",
        attrs.evolve(HUB, region="westus"),
        'region cannot change from "northeurope" to "westus"',
    ),
    (
        "another group",
        attrs.evolve(HUB, resource_group="rg"),
        'resourceGroup cannot change from "rg-hub" to "rg"',
    ),
]


@pytest.mark.parametrize(
    ("hub", "text"), [row[1:] for row in REFUSED_HUBS], ids=[row[0] for row in REFUSED_HUBS]
)
def test_changes_that_a_hub_cannot_make(before: world.Run, hub: AzureHubArgs, text: str) -> None:
    run = confirmed(WEU, hub=hub, before=before)
    assert text in str(run.error)
    assert "declare a second hub" in str(run.error)
    assert "shop-fleet" not in {resource.name for resource in run.resources.values()}


def test_the_network_of_a_private_hub_stays() -> None:
    private = attrs.evolve(HUB, kind="private", network=HubNetwork(fleet_rp=GUID))
    made = after(hub=private)
    moved = attrs.evolve(private, network=HubNetwork(fleet_rp=GUID, agents="192.168.4.0/24"))
    error = str(after(hub=moved, before=made).error)
    assert 'hub.network.agents cannot change from "192.168.0.0/23" to "192.168.4.0/24"' in error


REFUSED: list[tuple[str, AksMember, str, str]] = [
    (
        "region",
        changed(region="francecentral"),
        'region cannot change from "westeurope"',
        "declare a member",
    ),
    (
        "network",
        changed(network=Network(pods="10.9.0.0/16")),
        "network.pods cannot change",
        "declare a member",
    ),
    (
        "private",
        changed(api_server=ApiServer(private=True)),
        "apiServer.private cannot change",
        "declare a member",
    ),
    (
        "DNS prefix",
        changed(dns_prefix="x"),
        'dnsPrefix cannot change from "weu-1" to "x"',
        "declare a member",
    ),
    (
        "pool's size",
        changed(pools=(pool(vm_size="Standard_D4s_v5"),)),
        "pools.apps.vmSize cannot",
        "declare a pool",
    ),
    (
        "pool's zones",
        changed(pools=(pool(zones=("1",)),)),
        'zones cannot change from ["1", "2", "3"] to',
        "a pool",
    ),
    (
        "pool's pods",
        changed(pools=(pool(max_pods=60),)),
        "maxPods cannot change from nothing to 60",
        "a pool",
    ),
    (
        "system pool's size",
        changed(system_pool=attrs.evolve(SYSTEM_POOL, vm_size="Standard_D8s_v5")),
        "systemPool.vmSize cannot change",
        "add another pool of mode System",
    ),
]


@pytest.mark.parametrize(
    ("member", "text", "way_out"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_changes_that_a_member_cannot_make(
    before: world.Run, member: AksMember, text: str, way_out: str
) -> None:
    run = after(member, before=before)
    assert text in str(run.error)
    assert way_out in str(run.error)
    assert "weu-1-cluster" not in {resource.name for resource in run.resources.values()}


LTS = {"tier": "Premium", "long_term_support": True}
_SYSTEM_ZONE = {"api_server": ApiServer(private=True, private_dns_zone="system")}
SUBNET = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/a"
IDENTITY = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
ZONE = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
PRIVATE_OWN = {"api_server": ApiServer(private=True, private_dns_zone=ZONE), "identity": IDENTITY}
ONE_WAY: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (
        "to a subnet of one's own",
        {},
        {"subnet": SUBNET},
        'subnet cannot change from nothing to "/subs',
    ),
    (
        "to another subnet",
        {"subnet": SUBNET},
        {"subnet": f"{SUBNET}b"},
        "subnet cannot change from",
    ),
    ("to the default subnet", {"subnet": SUBNET}, {}, "to nothing"),
    (
        "a subnet in other case",
        {"subnet": SUBNET},
        {"subnet": SUBNET.replace("subnets", "Subnets")},
        "",
    ),
    ("a pool's subnet", {}, {"pools": (pool(subnet=SUBNET),)}, "pools.apps.subnet cannot change"),
    ("zones in another order", {}, {"pools": (pool(zones=("3", "2", "1")),)}, ""),
    (
        "Entra off",
        {},
        {"entra": None, "local_accounts": True},
        "entra cannot change from true to false",
    ),
    ("Entra on", {"entra": None, "local_accounts": True}, {}, ""),
    ("local accounts", {}, {"local_accounts": True}, ""),
    (
        "the issuer off",
        {},
        {"oidc_issuer": False, "workload_identity": False},
        "oidcIssuer cannot change",
    ),
    ("the issuer on", {"oidc_issuer": False, "workload_identity": False}, {}, ""),
    ("workload identity off", {}, {"workload_identity": False}, ""),
    (
        "from no DNS zone",
        _NO_ZONE := {"api_server": ApiServer(private=True, private_dns_zone="none")},
        PRIVATE_OWN,
        "privateD",
    ),
    ("to no DNS zone", PRIVATE_OWN, _NO_ZONE, ""),
    (
        "to a DNS zone",
        {"api_server": ApiServer(private=True)},
        PRIVATE_OWN,
        "privateDnsZone cannot change from",
    ),
    ("the default DNS zone by name", {"api_server": ApiServer(private=True)}, _SYSTEM_ZONE, ""),
    (
        "a minor version down",
        {},
        {"kubernetes_version": "1.32"},
        "kubernetesVersion cannot change from",
    ),
    ("a patch down", {}, {"kubernetes_version": "1.33.1"}, "kubernetesVersion cannot change"),
    ("to the latest patch", {}, {"kubernetes_version": "1.33"}, ""),
    ("a minor version up", {}, {"kubernetes_version": "1.34"}, ""),
    ("two minor versions up", {}, {"kubernetes_version": "1.35.1"}, "one minor version at a time"),
    ("two up with long-term support", LTS, {**LTS, "kubernetes_version": "1.35.1"}, ""),
    ("down with long-term support", LTS, {**LTS, "kubernetes_version": "1.32.1"}, "never back"),
    (
        "a version that was not declared",
        {"kubernetes_version": None},
        {"kubernetes_version": "1.30"},
        "",
    ),
    ("a version that is no longer declared", {}, {"kubernetes_version": None}, ""),
    (
        "a version after upgrades by the fleet",
        {"upgrades": "fleet"},
        {"kubernetes_version": "1.30"},
        "",
    ),
    ("another identity", {"identity": IDENTITY}, {"identity": f"{IDENTITY}2"}, ""),
    ("another tier", {"tier": "Free"}, {"tier": "Standard"}, ""),
]


@pytest.mark.parametrize(
    ("first", "then", "text"), [row[1:] for row in ONE_WAY], ids=[row[0] for row in ONE_WAY]
)
def test_changes_that_azure_makes_in_one_direction_only(first: Any, then: Any, text: str) -> None:
    made = after(changed(**first))
    assert made.error is None, made.error
    run = after(changed(**then), before=made)
    if text:
        assert text in str(run.error)
    else:
        assert run.error is None, run.error


def test_a_state_that_recorded_less_is_no_reason_to_refuse() -> None:
    """What a release began to record says nothing about the releases before it."""
    made = after(changed(subnet=SUBNET))
    thin = copy.deepcopy(dict(made.resources))
    for resource in thin.values():
        if resource.name == "weu-1-create-only":
            for field in ("subnet", "entra", "oidcIssuer", "kubernetesVersion"):
                del resource.inputs["fields"][field]
    run = after(
        changed(subnet=f"{SUBNET}b", entra=None, local_accounts=True),
        before=attrs.evolve(made, resources=thin),
    )
    assert run.error is None


def test_nothing_of_azure_is_touched_before_everything_is_checked(pair: world.Run) -> None:
    """Also in an update without a preview: all that is made or changed waits for the checks of the whole fleet."""

    def behind(name: str, seen: set[str]) -> set[str]:
        for resource in (item for item in pair.resources.values() if item.name == name):
            for earlier in resource.after - seen:
                behind(earlier, seen | {earlier})
                seen |= {earlier} | behind(earlier, seen | {earlier})
        return seen

    checks = {item.name for item in pair.of_type("CreateOnly")}
    assert checks == {"shop-create-only", "weu-1-create-only", "eus-1-create-only"}
    touched = [
        item
        for item in pair.resources.values()
        if item.type.startswith(("azure-native:", "kubernetes:"))
    ]
    assert len(touched) > 10
    for item in touched:
        assert checks <= behind(item.name, set()), item.name
    for name in checks:
        assert not pair.named(name, "CreateOnly").after


def drifted(run: world.Run, changes: dict[tuple[str, str], Callable[[Any], Any]]) -> world.Run:
    """The run as it stands in the state after Azure changed something and ``pulumi refresh`` saw it."""
    resources = copy.deepcopy(dict(run.resources))
    for (name, kind), change in changes.items():
        found = next(r for r in resources.values() if r.name == name and r.type.endswith(kind))
        change(found.inputs)
    return attrs.evolve(run, resources=resources)


def test_what_azure_changes_by_itself_shows_nothing() -> None:
    member = changed(
        upgrades="fleet",
        system_pool=attrs.evolve(SYSTEM_POOL, count=None, min_count=3, max_count=9),
    )
    made = after(member, profiles=(AutoUpgrade("stable"),))
    upgraded = drifted(
        made,
        {
            ("weu-1-cluster", "ManagedCluster"): lambda inputs: (
                inputs.update(kubernetesVersion="1.34.1"),
                inputs["agentPoolProfiles"][0].update(orchestratorVersion="1.34.1", count=7),
            ),
            ("weu-1-apps", "AgentPool"): lambda inputs: inputs.update(
                orchestratorVersion="1.34.1", count=5
            ),
            ("weu-1-member", "Resource"): lambda inputs: inputs["properties"].update(
                provisioningState="Succeeded", status={"lastOperationId": "x"}
            ),
            ("shop-profile-stable", "Resource"): lambda inputs: inputs["properties"].update(
                provisioningState="Succeeded",
                autoUpgradeProfileStatus={"lastTriggerStatus": "Succeeded"},
            ),
        },
    )
    again = after(member, profiles=(AutoUpgrade("stable"),), before=upgraded)
    assert again.error is None
    assert world.changes(upgraded, again) == {}


def test_further_pools_that_a_refresh_lists_in_the_cluster_are_left_alone(
    before: world.Run,
) -> None:
    # Azure lists all pools of a cluster in the cluster too; a request that lists some of them must list their versions.
    listed = drifted(
        before,
        {
            ("weu-1-cluster", "ManagedCluster"): lambda inputs: inputs["agentPoolProfiles"].append(
                {"name": "apps"}
            )
        },
    )
    assert world.changes(listed, after(WEU, before=listed)) == {}
    run = after(changed(tags={"cost": "1"}), before=listed)
    assert world.changes(listed, run) == {"ManagedCluster weu-1-cluster": "update"}
    profiles = run.named("weu-1-cluster", "ManagedCluster").inputs["agentPoolProfiles"]
    assert [(profile["name"], profile.get("orchestratorVersion")) for profile in profiles] == [
        ("system", None)
    ]


def test_work_waits_until_the_pools_of_a_new_member_stand(before: world.Run) -> None:
    first, second = before.named("weu-1-not-ready"), before.named("weu-1-taints")
    assert first.inputs["spec"]["taints"] == [
        {"key": "fleet-components/not-ready", "effect": "NoSchedule"}
    ]
    assert second.inputs["spec"]["taints"] == []
    assert "weu-1-member" in first.after
    assert {"weu-1-not-ready", "weu-1-apps", "weu-1-cluster"} <= second.after
    assert first.inputs["metadata"]["annotations"] == second.inputs["metadata"]["annotations"]


def test_the_first_taint_is_not_touched_again(before: world.Run) -> None:
    kept = drifted(
        before,
        {
            ("weu-1-not-ready", "MemberClusterPatch"): lambda inputs: inputs["spec"].update(
                taints=[]
            )
        },
    )
    assert world.changes(kept, after(WEU, before=kept)) == {}
