"""What other resources need of a fleet: issuers, identities, addresses, by member and as outputs of the stack."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    ApiServer,
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    HubNetwork,
)
from fleet_components.azure.components.kubeconfig import CreatedCluster
from fleet_components.azure.values.member import FleetMember, JoinedMember
from fleet_components.testing import run_program
from tests.azure import world
from tests.azure.answers import KUBELET
from tests.azure.build import GUID, aks

OWN = f"/subscriptions/{GUID}/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/own"
HUB = AzureHubArgs(resource_group="rg", region="westeurope")


def exported(*members: FleetMember, hub: AzureHubArgs | None = HUB) -> dict[str, Any]:
    def program() -> None:
        fleet = AzureFleet("shop", AzureFleetArgs(members=members, hub=hub))
        for key in ("clusters", "hub"):
            pulumi.export(key, fleet.exports.get(key))

    run = world.run(program)
    assert run.error is None, run.error
    return dict(run.outputs)


def test_everything_of_a_cluster_is_told_by_the_name_of_its_member() -> None:
    clusters = exported(aks(), aks("eus-1", region="eastus2"))["clusters"]
    cluster_id = clusters["weu-1"].pop("clusterId")
    assert cluster_id.endswith("/weu-1")
    assert clusters["weu-1"] == {
        "oidcIssuerUrl": "https://oidc/weu-1/",
        "kubeletClientId": KUBELET["clientId"],
        "kubeletObjectId": KUBELET["objectId"],
        "kubeletIdentityId": KUBELET["resourceId"],
        "principalId": "system-weu-1",
        "nodeResourceGroup": "MC_rg_weu-1_westeurope",
        "fqdn": "weu-1.hcp.westeurope.azmk8s.io",
        "privateFqdn": None,
    }
    assert clusters["eus-1"]["nodeResourceGroup"] == "MC_rg_eus-1_eastus2"


@pytest.mark.parametrize(
    ("member", "told"),
    [
        (aks(oidc_issuer=False, workload_identity=False), {"oidcIssuerUrl": None}),
        (aks(identity=OWN), {"principalId": "own-weu-1"}),
        (aks(node_resource_group="rg-nodes"), {"nodeResourceGroup": "rg-nodes"}),
        (
            aks(api_server=ApiServer(private=True)),
            {"fqdn": None, "privateFqdn": "weu-1.privatelink"},
        ),
    ],
)
def test_what_is_declared_decides_what_is_told(
    member: FleetMember, told: dict[str, str | None]
) -> None:
    found = exported(member)["clusters"]["weu-1"]
    assert {key: found[key] for key in told} == told


@pytest.mark.parametrize(
    ("fields", "fqdn", "principal"),
    [
        ({}, "hub.westeurope.azmk8s.io", "system-shop"),
        ({"kind": "hubless"}, None, "system-shop"),
        (
            {"kind": "private", "network": HubNetwork(fleet_rp=GUID)},
            "hub.westeurope.azmk8s.io",
            "own-shop",
        ),
    ],
)
def test_a_hub_tells_its_address_and_its_identity(
    fields: dict[str, Any], fqdn: str | None, principal: str
) -> None:
    hub = exported(aks(), hub=AzureHubArgs(resource_group="rg", region="westeurope", **fields))[
        "hub"
    ]
    assert hub.pop("fleetId").endswith("/shop")
    assert hub == {"fleetName": "shop", "fqdn": fqdn, "principalId": principal}


def test_a_cluster_that_was_there_has_no_resource_here() -> None:
    joined = JoinedMember(name="edge", region="westeurope", kubeconfig_file=__file__)
    found = exported(joined, aks(), hub=None)
    assert list(found["clusters"]) == ["weu-1"]
    assert found.get("hub") is None


def test_a_preview_promises_what_azure_will_add() -> None:
    """None would be refused by what is built on it, such as a federated credential without an issuer."""

    def program() -> None:
        fleet = AzureFleet("shop", AzureFleetArgs(members=(aks(),), hub=HUB))
        pulumi.CustomResource(
            "my:index:Credential", "credential", {"issuer": fleet.clusters["weu-1"].oidc_issuer_url}
        )
        for name, cluster in fleet.clusters.items():
            pulumi.export(f"{name}-issuer", cluster.oidc_issuer_url)
            pulumi.export(f"{name}-principal", cluster.principal_id)
        assert isinstance(fleet.hub, AzureHub)
        pulumi.export("hub", fleet.hub.fqdn)

    first = run_program(program, preview=True)
    assert first.error is None, first.error
    issuer = first.named("credential").inputs["issuer"]
    told = {key: first.outputs.get(key) for key in ("weu-1-issuer", "weu-1-principal", "hub")}
    assert set(told.values()) == {issuer}
    assert issuer is not None
    off = run_program(
        lambda: pulumi.export("off", issuer_of(aks(oidc_issuer=False, workload_identity=False)))
    )
    assert off.error is None, off.error
    assert off.outputs.get("off") is None


def issuer_of(member: FleetMember) -> pulumi.Output[str | None]:
    return (
        AzureFleet("shop", AzureFleetArgs(members=(member,))).clusters[member.name].oidc_issuer_url
    )


def test_the_resources_themselves_are_at_hand() -> None:
    made: list[AzureFleet] = []
    world.run(lambda: made.append(AzureFleet("shop", AzureFleetArgs(members=(aks(),), hub=HUB))))
    (fleet,) = made
    cluster, hub = fleet.clusters["weu-1"], fleet.hub
    assert isinstance(cluster, CreatedCluster)
    assert cluster is fleet.members["weu-1"].cluster
    assert cluster.resource.pulumi_resource_type == "azure-native:containerservice:ManagedCluster"
    assert isinstance(hub, AzureHub)
    assert hub.resource.pulumi_resource_name == "shop-fleet"
