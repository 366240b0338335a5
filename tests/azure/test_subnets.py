"""The identity of a cluster may use the subnets that it is put into; nothing that Azure adds is sent."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import ApiServer, AzureFleet, AzureFleetArgs, Network
from fleet_components.model.cluster import Taint
from tests.azure import world
from tests.azure.build import GUID, SYSTEM_POOL, aks, pool
from tests.azure.laws import Cloud, Refusal, principal

SUBNETS = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets"
NODES, APPS, PODS, SERVER = (f"{SUBNETS}/{name}" for name in ("nodes", "apps", "pods", "server"))
IDENTITY = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mine"
KUBENET = Network("kubenet", overlay=False, dataplane="azure", policy="calico")
EVERYWHERE: dict[str, Any] = {
    "network": Network(overlay=False),
    "subnet": NODES,
    "system_pool": attrs.evolve(SYSTEM_POOL, pod_subnet=PODS, max_pods=50),
    "pools": (pool(name="own", subnet=APPS, pod_subnet=f"{PODS}-own", max_pods=50),),
    "api_server": ApiServer(vnet_integration=True, subnet=SERVER),
}
CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"


def run(**fields: Any) -> world.Run:
    done = world.run(lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(**fields),))))
    assert done.error is None, done.error
    return done


def roles(done: world.Run) -> dict[str, tuple[str, str]]:
    """Scope and principal by name."""
    found = done.of_type("RoleAssignment")
    assert all(item.inputs["roleDefinitionId"].endswith(CONTRIBUTOR) for item in found)
    return {item.name: (item.inputs["scope"], item.inputs["principalId"]) for item in found}


@pytest.mark.parametrize("network", [KUBENET, Network()])
def test_a_user_assigned_identity_has_its_role_before_the_cluster_is_made(network: Network) -> None:
    done = run(
        network=network,
        subnet=NODES,
        pools=(pool(), pool(name="own", subnet=APPS)),
        identity=IDENTITY,
    )
    assert roles(done) == {
        "weu-1-subnet-network-contributor": (NODES, principal("mine")),
        "weu-1-own-subnet-network-contributor": (APPS, principal("mine")),
    }
    assert set(roles(done)) <= done.named("weu-1-cluster", "ManagedCluster").after


def test_it_has_one_on_every_subnet_that_the_cluster_names_and_waits_for_all() -> None:
    done = run(identity=IDENTITY, **EVERYWHERE)
    assert {
        name.removesuffix("-network-contributor"): scope for name, (scope, _) in roles(done).items()
    } == {
        "weu-1-subnet": NODES,
        "weu-1-own-subnet": APPS,
        "weu-1-system-pod-subnet": PODS,
        "weu-1-own-pod-subnet": f"{PODS}-own",
        "weu-1-api-server-subnet": SERVER,
    }
    waits = done.named("weu-1-subnet-roles", "RolesReach")
    assert waits.after >= set(roles(done))
    assert waits.inputs["minutes"] == 15
    assert (
        "Network Contributor for the identity of weu-1 on its api-server-subnet"
        in waits.inputs["roles"]
    )
    assert len(waits.inputs["roles"]) == len(roles(done))
    assert {"weu-1-subnet-roles", *roles(done)} <= done.named(
        "weu-1-cluster", "ManagedCluster"
    ).after


@pytest.mark.parametrize(
    "role", ["subnet", "own-subnet", "system-pod-subnet", "own-pod-subnet", "api-server-subnet"]
)
def test_a_cluster_that_lacks_one_of_them_is_refused(role: str) -> None:
    """So that the law behind all tests would object to a role that is forgotten."""
    done = run(identity=IDENTITY, **EVERYWHERE)
    things = {thing.id.lower(): thing for each in done.resources.values() if (thing := each.thing)}
    cloud = Cloud(things, existing=("/subscriptions/",), granted=(principal(IDENTITY),))
    (cluster,) = (thing for thing in things.values() if thing.kind == "ManagedCluster")
    (own,) = (thing for thing in things.values() if thing.kind == "AgentPool")
    cloud.put(cluster)
    cloud.put(own)
    without = attrs.evolve(
        cloud,
        things={
            key: each
            for key, each in things.items()
            if each.name != f"weu-1-{role}-network-contributor"
        },
    )
    with pytest.raises(Refusal, match="LinkedAuthorizationFailed"):
        without.put(own if role.startswith("own-") else cluster)
    forgotten = {
        urn: each
        for urn, each in done.resources.items()
        if each.name != f"weu-1-{role}-network-contributor"
    }
    assert any(
        "LinkedAuthorizationFailed" in each
        for each in world.objections(attrs.evolve(done, resources=forgotten))
    )


@pytest.mark.parametrize(
    "fields",
    [{"identity": IDENTITY, "role_wait": 0}, {"identity": IDENTITY, "subnet_roles": False}, {}],
)
def test_nothing_is_waited_for_where_nothing_can_be_too_early(fields: dict[str, Any]) -> None:
    """Without a wait, with roles from before, and with an identity that exists only after the cluster."""
    assert not run(subnet=NODES, **fields).of_type("RolesReach")


def test_the_wait_is_told_in_minutes_and_bounded() -> None:
    assert (
        run(subnet=NODES, identity=IDENTITY, role_wait=7)
        .named("weu-1-subnet-roles")
        .inputs["minutes"]
        == 7
    )
    for minutes in (-1, 61):
        refused = world.run(
            partial(AzureFleet, "shop", AzureFleetArgs(members=(aks(role_wait=minutes),)))
        )
        assert f"members.weu-1.roleWait: {minutes} minutes (0 to 60)" in str(refused.error)


def test_a_system_assigned_identity_gets_its_role_as_soon_as_it_exists() -> None:
    done = run(subnet=NODES)
    assert roles(done) == {"weu-1-subnet-network-contributor": (NODES, "system-weu-1")}
    assert "weu-1-cluster" in done.named("weu-1-subnet-network-contributor").after


def test_no_role_is_assigned_twice() -> None:
    """Azure refuses a second one, and compares IDs without case."""
    pools = (pool(subnet=NODES.replace("subnets", "Subnets")), pool(name="own", subnet=NODES))
    assert len(roles(run(subnet=NODES, pools=pools))) == 1
    assert roles(run(subnet=NODES, subnet_roles=False)) == {}
    assert roles(run()) == {}
    later: list[Any] = []

    def program() -> None:
        later.append(pulumi.Output.from_input(NODES))
        AzureFleet(
            "shop", AzureFleetArgs(members=(aks(subnet=later[0], pools=(pool(subnet=later[0]),)),))
        )

    assert len(roles(world.run(program))) == 1


def test_what_azure_adds_to_spot_nodes_is_not_sent() -> None:
    key = "kubernetes.azure.com/scalesetpriority"
    own = Taint("batch", "yes")
    spot = pool(spot=True, labels={key: "spot", "a": "b"}, taints=(Taint(key, "spot"), own))
    sent = run(pools=(spot,)).named("weu-1-apps", "AgentPool").inputs
    assert sent["nodeTaints"] == ["batch=yes:NoSchedule"]
    assert sent["nodeLabels"] == {"a": "b"}
    regular = pool(taints=(Taint(key, "spot"), own))
    assert run(pools=(regular,)).named("weu-1-apps", "AgentPool").inputs["nodeTaints"] == [
        f"{key}=spot:NoSchedule",
        "batch=yes:NoSchedule",
    ]
