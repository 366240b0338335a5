"""The identity of a cluster may use the subnets that its nodes are put into; nothing that Azure adds is sent."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import AzureFleet, AzureFleetArgs, Network
from fleet_components.model.cluster import Taint
from tests.azure import world
from tests.azure.build import GUID, aks, pool
from tests.azure.laws import principal

SUBNETS = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets"
NODES, APPS = f"{SUBNETS}/nodes", f"{SUBNETS}/apps"
IDENTITY = f"/subscriptions/{GUID}/resourceGroups/net/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mine"
KUBENET = Network("kubenet", overlay=False, dataplane="azure", policy="calico")
CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"


def run(**fields: Any) -> world.Run:
    done = world.run(lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(**fields),))))
    assert done.error is None, done.error
    return done


def roles(done: world.Run) -> dict[str, tuple[str, str]]:
    """Scope and principal by name."""
    found = done.of_type("RoleAssignment")
    assert all(one.inputs["roleDefinitionId"].endswith(CONTRIBUTOR) for one in found)
    return {one.name: (one.inputs["scope"], one.inputs["principalId"]) for one in found}


@pytest.mark.parametrize("network", [KUBENET, Network()])
def test_a_user_assigned_identity_has_its_role_before_the_cluster_is_made(network: Network) -> None:
    done = run(network=network, subnet=NODES, pools=(pool(), pool(name="own", subnet=APPS)), identity=IDENTITY)
    assert roles(done) == {
        "weu-1-subnet-network-contributor": (NODES, principal("mine")),
        "weu-1-own-subnet-network-contributor": (APPS, principal("mine")),
    }
    assert set(roles(done)) <= done.named("weu-1-cluster", "ManagedCluster").after


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
        AzureFleet("shop", AzureFleetArgs(members=(aks(subnet=later[0], pools=(pool(subnet=later[0]),)),)))

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
