"""The stand-ins refuse what Azure refuses; a program that Azure could refuse is objected to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    AutoUpgrade,
    AzureFleet,
    AzureFleetArgs,
    AzureHubArgs,
    HubNetwork,
    Stage,
    Strategy,
)
from tests.azure import world
from tests.azure.build import GUID, RP, aks, pool
from tests.azure.laws import Cloud, Refusal, Thing

RINGS = Strategy("rings", (Stage("canary", ("canary",)),))


@pytest.fixture(scope="module")
def run() -> world.Run:
    hub = AzureHubArgs(
        resource_group="rg-hub", region="westeurope", kind="private", network=HubNetwork(**RP)
    )
    members = (aks(group="canary", pools=(pool(),)), aks("eus-1"))
    profiles = (AutoUpgrade("stable", strategy="rings"),)
    args = AzureFleetArgs(members=members, hub=hub, strategies=(RINGS,), profiles=profiles)
    return world.run(lambda: AzureFleet("shop", args))


@pytest.fixture
def cloud(run: world.Run) -> Cloud:
    """All of the fleet."""
    things = [thing for each in run.resources.values() if (thing := each.thing)]
    return Cloud({thing.id.lower(): thing for thing in things}, fleet_rp=GUID)


def named(cloud: Cloud, name: str) -> Thing:
    (found,) = (thing for thing in cloud.things.values() if thing.name == name)
    return found


def without(cloud: Cloud, *names: str) -> Cloud:
    return attrs.evolve(
        cloud, things={key: each for key, each in cloud.things.items() if each.name not in names}
    )


USED = {
    "rg": "weu-1-cluster",
    "rg-hub": "shop-fleet",
    "shop-vnet": "shop-agents",
    "shop-agents": "shop-fleet",
    "shop-api-server": "shop-fleet",
    "shop-identity": "shop-fleet",
    "shop-fleet": "weu-1-member",
    "weu-1-cluster": "weu-1-member",
    "shop-strategy-rings": "shop-profile-stable",
}


@pytest.mark.parametrize(("used", "user"), USED.items())
def test_what_is_used_is_neither_deleted_before_its_user_nor_made_after_it(
    cloud: Cloud, used: str, user: str
) -> None:
    thing = named(cloud, used)
    with pytest.raises(Refusal, match="InUse"):
        cloud.delete(thing.id)
    with pytest.raises(Refusal, match="NotFound"):
        without(cloud, used, user).put(named(cloud, user))
    users = [each.name for each in cloud.things.values() if thing.id in (each.parent, *each.uses)]
    alone = without(cloud, *users)
    alone.delete(thing.id.upper())
    assert thing.id.lower() not in alone.things


def test_everything_can_be_deleted_and_made_in_some_order(cloud: Cloud) -> None:
    things = tuple(cloud.things.values())
    in_some_order(things, lambda thing: cloud.delete(thing.id))
    assert not cloud.things
    in_some_order(things, cloud.put)
    assert len(cloud.things) == len(things)


def in_some_order(things: Iterable[Thing], act: Callable[[Thing], None]) -> None:
    """Do it with all of them, the refused ones again later, as long as that gets anywhere."""
    left = list(things)
    while left:
        refused = []
        for thing in left:
            try:
                act(thing)
            except Refusal:
                refused.append(thing)
        assert len(refused) < len(left), refused
        left = refused


@pytest.mark.parametrize("role", ["agents", "api-server", "fleet-rp"])
def test_a_private_hub_needs_each_of_its_roles(cloud: Cloud, role: str) -> None:
    fleet, assignment = named(cloud, "shop-fleet"), f"shop-{role}-network-contributor"
    cloud.put(fleet)
    with pytest.raises(Refusal, match="LinkedAuthorizationFailed"):
        without(cloud, assignment).put(fleet)
    late = attrs.evolve(cloud, ineffective=(named(cloud, assignment).id.lower(),))
    with pytest.raises(Refusal, match="LinkedAuthorizationFailed"):
        late.put(fleet)


def test_a_cluster_joins_once(cloud: Cloud) -> None:
    entry = named(cloud, "weu-1-member")
    again = attrs.evolve(entry, inputs={**entry.inputs, "resourceName": "again"})
    with pytest.raises(Refusal, match="ClusterAlreadyJoinedAnotherFleet"):
        cloud.put(again)


def test_credentials_are_of_a_hub_that_is_there_in_the_subscription_that_is_asked(
    cloud: Cloud,
) -> None:
    fleet = named(cloud, "shop-fleet")
    cloud.credentials(fleet.id)
    with pytest.raises(Refusal, match="ResourceNotFound"):
        cloud.credentials(fleet.id.replace(world.SUBSCRIPTION, world.OTHER_SUBSCRIPTION))
    hubless = attrs.evolve(fleet, inputs={**fleet.inputs, "properties": {}})
    cloud.things[fleet.id.lower()] = hubless
    with pytest.raises(Refusal, match="has no hub cluster"):
        cloud.credentials(fleet.id)


def test_a_subscription_that_is_not_registered(cloud: Cloud) -> None:
    elsewhere = attrs.evolve(cloud, registered=(world.OTHER_SUBSCRIPTION,))
    fleet = named(cloud, "shop-fleet")
    with pytest.raises(Refusal, match="SubscriptionNotFound"):
        elsewhere.put(fleet)
    with pytest.raises(Refusal, match="SubscriptionNotFound"):
        elsewhere.credentials(fleet.id)


@pytest.mark.parametrize("user", [*USED.values(), "weu-1-apps", "shop-strategy-rings"])
def test_a_program_that_leaves_the_order_to_luck_is_objected_to(run: world.Run, user: str) -> None:
    assert not list(world.objections(run))
    lucky = {
        urn: attrs.evolve(each, needs=frozenset()) if each.name == user else each
        for urn, each in run.resources.items()
    }
    assert list(world.objections(attrs.evolve(run, resources=lucky)))


def test_a_call_that_goes_astray_is_objected_to(run: world.Run) -> None:
    astray = tuple(attrs.evolve(call, subscription=world.OTHER_SUBSCRIPTION) for call in run.calls)
    assert any(
        "ResourceNotFound" in each for each in world.objections(attrs.evolve(run, calls=astray))
    )
