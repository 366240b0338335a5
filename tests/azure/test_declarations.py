"""A whole fleet in YAML: hub, members and workloads, provisioned and placed by one program."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import Any, ClassVar

import pulumi
import pytest
from pulumi.runtime import MockCallArgs

pytest.importorskip("pulumi_azure_native")

import pulumi_azure_native as azure_native

from fleet_components import Fleet, FleetArgs, read_source
from fleet_components.azure import AzureFleet, AzureFleetArgs, AzureHubArgs
from fleet_components.azure.declarations.unobserved import provision
from fleet_components.content.load import load_text
from fleet_components.plan.source import gather
from fleet_components.testing import FleetMocks, run_program
from tests.azure import arm, world
from tests.azure.build import GUID, aks

STACK = Path(__file__).parents[2] / "stacks" / "azure"
HUB = """\
apiVersion: fleet-components/v1
kind: Hub
metadata: {name: shop}
spec:
  resourceGroup: rg
  region: westeurope
  kind: private
  network: {fleetRp: 99999999-8888-7777-6666-555555555555, agents: 192.168.8.0/24}
  login: {mode: msi}
---
apiVersion: fleet-components/v1
kind: Members
metadata: {name: none}
spec: {members: []}
"""
UPGRADES = """\
---
apiVersion: fleet-components/v1
kind: Upgrades
metadata: {name: shop}
spec:
  profiles:
  - {name: stable}
"""


def declared(text: str) -> world.Run:
    return world.run(
        lambda: AzureFleet.from_manifests("shop", load_text(text, "fleet.yaml"), AzureFleetArgs())
    )


def test_the_hub_is_the_declared_one() -> None:
    run = declared(HUB)
    assert run.error is None
    assert run.named("shop-fleet").inputs["resourceName"] == "shop"
    assert run.named("shop-agents", "Subnet").inputs["addressPrefix"] == "192.168.8.0/24"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: private", "kind: hidden", "fleet.yaml:7: Hub shop: spec.kind"),
        (
            "agents: 192.168.8.0/24",
            "agents: 10.9.8.0/24",
            "fleet.yaml:8: Hub shop: spec.network.agents",
        ),
        ("mode: msi", "mode: devicecode", "fleet.yaml:9: Hub shop: spec.login.mode"),
        (
            "region: westeurope",
            "region: westeurop",
            "fleet.yaml:6: Hub shop: spec.region: there is no region",
        ),
        (
            "resourceGroup: rg",
            "resourceGroup: RG\n  tags: {a/b: c}",
            "fleet.yaml:6: Hub shop: spec.tags[a/b]",
        ),
        ("region: westeurope", "regoin: westeurope", 'there is no field "regoin" (region)'),
        ("  resourceGroup: rg\n", "", "resourceGroup is missing"),
        ("  login: {mode: msi}\n", "  sizes: {}\n", 'there is no field "sizes"'),
    ],
)
def test_a_wrong_hub_is_named_with_its_line(old: str, new: str, words: str) -> None:
    assert old in HUB
    assert words in str(declared(HUB.replace(old, new)).error)


def test_two_hubs() -> None:
    assert "fleet.yaml:17: Hub shop: kind: there are two hubs" in str(
        declared(f"{HUB}---\n{HUB}").error
    )


def test_a_group_is_spelled_as_the_members_spell_it() -> None:
    members = """
---
apiVersion: fleet-components/v1
kind: Members
metadata: {name: shop}
spec:
  members:
  - {name: a, region: eastus, resourceGroup: Rg, systemPool: {name: system, vmSize: Standard_D4s_v5, count: 3}}
"""
    text = str(declared(HUB + members).error)
    assert (
        'fleet.yaml:5: Hub shop: spec.resourceGroup: "Rg" and "rg" are one resource group for Azure'
        in text
    )
    assert declared(HUB + members.replace("Rg", "rg")).error is None


def test_a_hub_of_the_program_wins() -> None:
    args = AzureFleetArgs(
        hub=AzureHubArgs(resource_group="rg-own", region="eastus"), members=(aks(),)
    )
    run = world.run(lambda: AzureFleet.from_manifests("shop", load_text(HUB, "fleet.yaml"), args))
    assert run.named("shop-fleet").inputs["resourceGroupName"] == "rg-own"


@pytest.fixture(scope="module")
def sample() -> world.Run:
    def program() -> None:
        Fleet("azure", provision("shop", FleetArgs(source=read_source(STACK))))

    run = world.run(program)
    assert run.error is None
    return run


def test_a_program_makes_all_that_is_declared_beside_its_objects(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(HUB + UPGRADES)
    run = world.run(lambda: provision("shop", FleetArgs(source=read_source(tmp_path))))
    assert run.error is None
    assert run.named("shop-profile-stable").inputs["resourceName"].endswith("stable")
    assert run.resources.keys() == declared(HUB + UPGRADES).resources.keys()


def test_the_sample_fits_azures_schemas(sample: world.Run) -> None:
    requests = [
        arm.request_of(resource)
        for resource in sample.resources.values()
        if arm.has_schema(resource)
    ]
    assert {request.type: errors for request in requests if (errors := request.errors())} == {}
    assert [cluster.name for cluster in sample.of_type("ManagedCluster")] == [
        *("eus-1-cluster", "neu-1-cluster", "neu-batch-cluster", "weu-1-cluster")
    ]


def test_the_sample_is_placed_before_its_clusters_exist(sample: world.Run) -> None:
    where: dict[str, set[str]] = {}
    for resource in sample.of_type("Binding"):
        where.setdefault(resource.inputs["subject"], set()).add(resource.inputs["cluster"])
    # A core of the declared sizes costs least in eastus2, then in northeurope.
    assert where == {
        "ClusterResourcePlacement/shop": {"eus-1", "neu-1"},
        "ClusterResourcePlacement/agents": {"eus-1", "neu-1", "neu-batch", "weu-1"},
    }


class Asked(FleetMocks):
    """Notes through which provider Azure is asked."""

    asked: ClassVar[set[str]] = set()

    def call(self, args: MockCallArgs) -> Any:
        if args.token.startswith("azure-native:"):
            self.asked.add((args.provider or "").partition("::own::")[0])
        return super().call(args)


def test_the_resource_options_of_a_fleet_count_for_its_clusters() -> None:
    """Its parent and its providers, and what it waits for, wherever Azure is written to or asked."""

    def program() -> None:
        app = pulumi.ComponentResource("my:index:App", "app")
        own = azure_native.Provider("own", subscription_id="mine")
        first = pulumi.CustomResource("my:index:First", "first", {})
        opts = pulumi.ResourceOptions(
            parent=app, providers=[own], depends_on=[first], aliases=[pulumi.Alias(name="old")]
        )
        Fleet.from_config("azure", opts)

    Asked.asked.clear()
    run = run_program(program, config={"fleet:source": str(STACK)}, mocks=Asked, preview=False)
    assert run.error is None, run.error
    cloud = [
        registration
        for registration in run.registrations
        if registration.type.startswith("azure-native:")
    ]
    assert {item.provider.partition("::own::")[0] for item in cloud} == {
        run.named("own").urn.removesuffix("::own")
    }
    assert Asked.asked == {run.named("own").urn.removesuffix("::own")}
    made = run.named("azure", "AzureFleet")
    assert made.urn.endswith("::my:index:App$fleet:index:AzureFleet::azure")
    assert made.dependencies == (run.named("first").urn,)
    refused = run_program(
        lambda: Fleet.from_config("azure", pulumi.ResourceOptions(ignore_changes=["x"])),
        config={"fleet:source": str(STACK)},
    )
    assert "Fleet.opts.ignore_changes: is not for a fleet" in str(refused.error)
    assert refused.registrations == ()


def test_a_fleet_that_declares_nothing_is_left_alone() -> None:
    def program() -> None:
        args = FleetArgs(source=read_source(STACK / "shop.yaml", STACK / "placements.yaml"))
        assert provision("shop", args) is args

    assert world.run(program).error is None


ASKING = """\
{apiVersion: v1, kind: Namespace, metadata: {name: here}}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: here}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: here}]
  policy:
    placementType: PickAll
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
            - labelSelector: {matchLabels: {fleet.azure.com/subscription-id: SUBSCRIPTION}}
"""
CONFIGURED = {"azure-native:subscriptionId": GUID.upper()}
"""Azure's API, and so the label, has it in lower case."""


@pytest.fixture
def asking(tmp_path: Path) -> Path:
    """The sample, with a placement that asks for a subscription."""
    folder = Path(copytree(STACK, tmp_path / "fleet"))
    (folder / "asking.yaml").write_text(ASKING.replace("SUBSCRIPTION", GUID))
    return folder


@pytest.mark.parametrize("door", ["from the configuration", "provisioned by the program"])
@pytest.mark.parametrize(("config", "error"), [(CONFIGURED, ""), ({}, "no declaration says")])
def test_members_are_in_the_subscription_of_the_configuration(
    door: str, config: dict[str, str], error: str, asking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID", raising=False)

    def program() -> None:
        if door == "from the configuration":
            Fleet.from_config("azure")
        else:
            Fleet("azure", provision("shop", FleetArgs(source=gather(asking))))

    run = run_program(program, config={"fleet:source": str(asking), **config}, preview=False)
    assert error in str(run.error) if error else run.error is None, run.error
    bindings = [
        registration
        for registration in run.registrations
        if registration.type.endswith("fleet:Binding")
    ]
    picked = {
        binding.inputs["cluster"]
        for binding in bindings
        if binding.inputs["subject"].endswith("/here")
    }
    assert picked == (set() if error else {"eus-1", "neu-1", "weu-1"})


def test_a_provider_among_the_options_leaves_the_subscription_unknown(asking: Path) -> None:
    def program() -> None:
        own = azure_native.Provider("own", subscription_id=GUID)
        Fleet.from_config("azure", pulumi.ResourceOptions(providers=[own]))

    run = run_program(program, config={"fleet:source": str(asking), **CONFIGURED})
    assert "no declaration says" in str(run.error)
