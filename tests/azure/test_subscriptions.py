"""Which subscription, and which provider, everything goes through: members may live elsewhere than their hub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")

from pulumi_azure_native import Provider

from fleet_components.azure import (
    AutoUpgrade,
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    AzureMember,
    AzureMemberArgs,
    HubNetwork,
    JoinedMember,
)
from fleet_components.content.load import load_text
from tests.azure import world
from tests.azure.build import RP, aks, pool

pytestmark = pytest.mark.long

HERE, THERE = world.SUBSCRIPTION, world.OTHER_SUBSCRIPTION
FAR = "aaaaaaaa-2222-3333-4444-555555555555"
CONFIG = {"azure-native:subscriptionId": HERE}
HUB = AzureHubArgs(resource_group="rg-hub", region="westeurope")
CLUSTER = "/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks-1"
JOINED = JoinedMember(name="old-1", region="eastus", cluster_id=f"/subscriptions/{THERE}{CLUSTER}")


def where(run: world.Run) -> Mapping[str, str]:
    """The subscription of everything in Azure, by Pulumi name."""
    assert run.error is None
    return {each.name: each.subscription for each in run.resources.values() if each.thing}


def asked(run: world.Run) -> Mapping[str, str]:
    """The subscription in which the kubeconfig of each fleet and cluster is asked for."""
    return {call.asked.rpartition("/")[2]: call.subscription for call in run.calls if call.asked}


def fleet(*members: Any, config: Mapping[str, str] = CONFIG, **fields: Any) -> world.Run:
    args = AzureFleetArgs(**{"members": members, "hub": HUB, **fields})
    return world.run(lambda: AzureFleet("shop", args), config=config)


def test_without_other_subscriptions_there_is_no_provider() -> None:
    run = fleet(aks(subscription=HERE), aks("eus-1"))
    assert not [each for each in run.resources.values() if each.type == world.PROVIDER]
    assert set(where(run).values()) == {HERE}


@pytest.mark.parametrize("config", [CONFIG, {}], ids=["configured", "of the Azure CLI"])
def test_a_member_in_another_subscription(config: Mapping[str, str]) -> None:
    run = fleet(
        aks(subscription=THERE.upper(), pools=(pool(),)),
        aks("weu-2", subscription=THERE),
        aks("eus-1"),
        config=config,
        profiles=(AutoUpgrade("stable"),),
    )
    places = where(run)
    there = {name for name, subscription in places.items() if subscription == THERE}
    assert there == {f"rg-{THERE}", "weu-1-cluster", "weu-1-apps", "weu-2-cluster"}
    assert {"rg", "rg-hub", "weu-1-member", "weu-2-member", "shop-profile-stable"} <= {
        *places
    } - there
    assert asked(run) == {"shop": HERE, "weu-1": THERE, "weu-2": THERE, "eus-1": HERE}
    (made,) = (each for each in run.resources.values() if each.type == world.PROVIDER)
    assert made.name == f"shop-{THERE}"
    assert (
        run.named("weu-1-member")
        .inputs["properties"]["clusterResourceId"]
        .startswith(f"/subscriptions/{THERE}/")
    )


def test_taints_of_a_member_elsewhere_go_to_the_hub() -> None:
    run = fleet(aks(subscription=THERE))
    patches = [
        each for each in run.resources.values() if each.name in ("weu-1-not-ready", "weu-1-taints")
    ]
    hub = next(urn for urn, each in run.resources.items() if each.name == "shop-hub")
    assert len(patches) == 2
    assert all(hub in patch.needs for patch in patches)


def test_its_provider_signs_in_as_the_default_one_does() -> None:
    login = {
        "tenantId": "ours",
        "clientId": "me",
        "clientSecret": "open sesame",
        "useOidc": "true",
        "environment": "usgovernment",
        "auxiliaryTenantIds": '["theirs"]',
    }
    run = fleet(
        aks(subscription=THERE),
        config={**CONFIG, **{f"azure-native:{key}": v for key, v in login.items()}},
    )
    given = run.named(f"shop-{THERE}").inputs
    assert given == {
        **login,
        "subscriptionId": THERE,
        "auxiliaryTenantIds": '["theirs"]',
        "useOidc": "true",
    }


def test_a_joined_cluster_is_looked_up_where_its_id_says() -> None:
    run = fleet(JOINED)
    assert asked(run) == {"shop": HERE, "aks-1": THERE}
    assert where(run)["old-1-member"] == HERE


SUBNET = "resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
MINE = "resourceGroups/net/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mine"


@pytest.mark.parametrize("identity", [HERE, THERE, FAR], ids=["here", "there", "far"])
@pytest.mark.parametrize("member", ["", HERE, THERE], ids=["undeclared", "here", "there"])
@pytest.mark.parametrize("alone", [True, False], ids=["member", "fleet"])
def test_an_identity_is_asked_for_where_its_id_says(
    identity: str, member: str, alone: bool
) -> None:
    declared = aks(
        subscription=member,
        subnet=f"/subscriptions/{HERE}/{SUBNET}",
        identity=f"/subscriptions/{identity}/{MINE}",
    )

    def program() -> None:
        if alone:
            AzureMember("weu-1", AzureMemberArgs(member=declared))
        else:
            AzureFleet("shop", AzureFleetArgs(members=(declared,)))

    run = world.run(program, config=CONFIG)
    assert [
        call.subscription for call in run.calls if call.token.endswith("getUserAssignedIdentity")
    ] == [identity]
    assert where(run)["weu-1-cluster"] == (member or HERE)
    made = [each.name for each in run.resources.values() if each.type == world.PROVIDER]
    owner = "weu-1" if alone else "shop"
    assert sorted(made) == sorted(
        {f"{owner}-{each}" for each in (member, identity) if each not in ("", HERE)}
    )


@pytest.mark.parametrize("given", [True, False])
def test_an_identity_behind_a_provider_of_ones_own(given: bool) -> None:
    """The provider is asked where it works; another one is not made behind its back."""
    declared = aks(
        subnet=f"/subscriptions/{HERE}/{SUBNET}", identity=f"/subscriptions/{FAR}/{MINE}"
    )

    def program() -> None:
        opts = pulumi.ResourceOptions(provider=Provider("there", subscription_id=THERE))
        providers = {FAR: Provider("far", subscription_id=FAR)} if given else {}
        AzureFleet("shop", AzureFleetArgs(members=(declared,), providers=providers), opts)

    run = world.run(program, config=CONFIG)
    if given:
        assert where(run)["weu-1-cluster"] == THERE
        assert [
            call.subscription
            for call in run.calls
            if call.token.endswith("getUserAssignedIdentity")
        ] == [FAR]
    else:
        words = f"the identity of weu-1: subscription: its provider works in subscription {THERE}, it is declared in {FAR}"
        assert words in str(run.error)


def test_a_kubeconfig_of_ones_own_asks_nobody() -> None:
    run = fleet(
        JoinedMember(name="o", region="eastus", cluster_id=JOINED.cluster_id, kubeconfig="x")
    )
    assert not [each for each in run.resources.values() if each.type == world.PROVIDER]
    assert asked(run) == {"shop": HERE}


def test_everything_follows_the_provider_of_the_fleet() -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions(provider=Provider("there", subscription_id=THERE))
        hub = AzureHubArgs(
            resource_group="rg", region="westeurope", kind="private", network=HubNetwork(**RP)
        )
        AzureFleet("shop", AzureFleetArgs(members=(aks(pools=(pool(),)),), hub=hub), opts)

    run = world.run(program, config=CONFIG)
    assert set(where(run).values()) == {THERE}
    assert set(asked(run).values()) == {THERE}


@pytest.mark.parametrize("hub_there", [True, False])
@pytest.mark.parametrize("member_there", [True, False])
def test_hub_and_member_each_follow_their_own_provider(hub_there: bool, member_there: bool) -> None:
    def program() -> None:
        there = pulumi.ResourceOptions(provider=Provider("there", subscription_id=THERE))
        hub = AzureHub("shop", HUB, there if hub_there else None)
        AzureMember(
            "weu-1", AzureMemberArgs(member=aks(), hub=hub), there if member_there else None
        )

    run = world.run(program, config=CONFIG)
    of_hub, of_member = THERE if hub_there else HERE, THERE if member_there else HERE
    assert where(run) == {"shop-fleet": of_hub, "weu-1-cluster": of_member, "weu-1-member": of_hub}
    assert asked(run) == {"shop": of_hub, "weu-1": of_member}


def test_a_member_alone_finds_its_subscription() -> None:
    run = world.run(
        lambda: AzureMember("weu-1", AzureMemberArgs(member=aks(subscription=THERE))), config=CONFIG
    )
    assert where(run) == {"weu-1-cluster": THERE}


def test_a_provider_that_works_elsewhere_is_refused() -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions(provider=Provider("here", subscription_id=HERE))
        AzureFleet("shop", AzureFleetArgs(members=(aks(subscription=THERE), JOINED), hub=HUB), opts)

    error = str(world.run(program).error)
    assert f"its provider works in subscription {HERE}, it is declared in {THERE}" in error
    assert "in an AzureFleet by providers" in error


def test_providers_of_ones_own() -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions(provider=Provider("here", subscription_id=HERE))
        there = Provider("there", subscription_id=THERE)
        members = (aks(subscription=THERE), JOINED)
        AzureFleet(
            "shop", AzureFleetArgs(members=members, hub=HUB, providers={THERE.upper(): there}), opts
        )

    run = world.run(program)
    assert where(run)["weu-1-cluster"] == THERE
    assert asked(run) == {"shop": HERE, "weu-1": THERE, "aks-1": THERE}


def test_a_provider_for_no_subscription() -> None:
    error = world.run(
        lambda: AzureFleet("shop", AzureFleetArgs(providers={"production": Provider("p")}))
    ).error
    assert '"production" is not a valid subscription ID' in str(error)


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        (HERE, THERE, True),
        (THERE, HERE, True),
        (HERE, "", False),
        ("", HERE, False),
        ("", THERE, True),
    ],
)
def test_a_member_stays_in_its_subscription(first: str, second: str, refused: bool) -> None:
    groups = frozenset({"rg"})  # those of the fleet are guarded by themselves
    before = fleet(aks(subscription=first), existing_resource_groups=groups)
    args = AzureFleetArgs(
        members=(aks(subscription=second),), hub=HUB, existing_resource_groups=groups
    )
    run = world.run(lambda: AzureFleet("shop", args), before, config=CONFIG)
    assert ("subscription cannot change from" in str(run.error)) == refused


def test_members_in_yaml_name_their_subscription() -> None:
    text = f"""\
apiVersion: fleet-components/v1
kind: Members
metadata: {{name: m}}
spec:
  defaults: {{resourceGroup: rg, systemPool: {{name: system, vmSize: Standard_D4s_v5, count: 3}}}}
  regions:
    eastus: {{subscription: {THERE}}}
  members:
  - {{name: weu-1, region: westeurope}}
  - {{name: eus-1, region: eastus}}
"""
    manifests = load_text(text, "members.yaml")
    run = world.run(
        lambda: AzureFleet.from_manifests("shop", manifests, AzureFleetArgs(hub=HUB)), config=CONFIG
    )
    places = where(run)
    assert (places["weu-1-cluster"], places["eus-1-cluster"]) == (HERE, THERE)
    wrong = load_text(text.replace(THERE, "production"), "members.yaml")
    error = world.run(
        lambda: AzureFleet.from_manifests("shop", wrong, AzureFleetArgs(hub=HUB))
    ).error
    assert "members.yaml:7:" in str(error)
    assert '"production" is not a valid subscription ID' in str(error)
