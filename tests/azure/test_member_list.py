"""Hundreds of members from one YAML list, with defaults for all and for each region."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_components.azure.declarations.members import read_member_lists
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.member import FleetMember, JoinedMember
from fleet_components.azure.values.network import ApiServer
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.vm_size import built_in_sizes
from fleet_components.content.load import load_text
from fleet_components.model.cluster import Taint
from fleet_components.model.problem import FleetError

LIST = """\
apiVersion: fleet-components/v1
kind: Members
metadata: {name: production}
spec:
  defaults:
    resourceGroup: rg-fleet
    tier: Free
    systemPool: {name: system, vmSize: Standard_D4s_v5, count: 3}
    labels: {env: production, owner: platform}
  regions:
    westeurope:
      resourceGroup: rg-weu
      labels: {geo: eu, owner: eu-team}
      tier: Standard
  members:
  - name: weu-1
    region: westeurope
    group: canary
    labels: {owner: shop}
    taints: [{key: gpu, value: "yes", effect: NoSchedule}]
    apiServer: {authorized: [203.0.113.0/24]}
    pools:
    - {name: apps, vmSize: Standard_D8s_v5, minCount: 2, maxCount: 10, zones: ["1", "2"]}
  - {name: eus-1, region: eastus}
  - {name: edge, region: westeurope, kubeconfigFile: edge.kubeconfig}
"""


def read(text: str) -> tuple[FleetMember, ...]:
    return read_member_lists(load_text(text, "members.yaml"), built_in_sizes())


def refusal(text: str) -> str:
    with pytest.raises(FleetError) as refused:
        read(text)
    return str(refused.value)


def test_fields_come_from_member_region_and_defaults() -> None:
    weu, eus, edge = read(LIST)
    assert weu == AksMember(
        name="weu-1",
        region="westeurope",
        resource_group="rg-weu",
        tier="Standard",
        group="canary",
        labels={"env": "production", "geo": "eu", "owner": "shop"},
        taints=(Taint("gpu", "yes"),),
        api_server=ApiServer(authorized=("203.0.113.0/24",)),
        system_pool=NodePool("system", "Standard_D4s_v5", count=3),
        pools=(NodePool("apps", "Standard_D8s_v5", min_count=2, max_count=10, zones=("1", "2")),),
    )
    assert isinstance(eus, AksMember)
    assert (eus.resource_group, eus.tier, eus.labels) == (
        "rg-fleet",
        "Free",
        {"env": "production", "owner": "platform"},
    )
    assert edge == JoinedMember(
        name="edge",
        region="westeurope",
        kubeconfig_file="edge.kubeconfig",
        labels={"env": "production", "geo": "eu", "owner": "eu-team"},
    )


def test_a_thousand_members() -> None:
    many = "".join(f"  - {{name: m-{i}, region: westeurope}}\n" for i in range(1000))
    members = read(LIST[: LIST.index("  - name: weu-1")] + many)
    assert len({member.name for member in members}) == 1000


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "group: canary",
            "grupp: canary",
            18,
            'members[0].grupp: there is no field "grupp" (group)',
        ),
        ("group: canary", "group: Canary", 18, "members[0].group"),
        ("group: canary", "group: 1", 18, "not text (write it in quotes)"),
        ("tier: Free", "tier: Gratis", 7, "defaults.tier"),
        ("tier: Standard", "teir: Standard", 14, "regions.westeurope.teir"),
        ("vmSize: Standard_D4s_v5", "vmSize: Standard_D4s", 8, "defaults.systemPool.vmSize"),
        ("count: 3}", "count: three}", 8, "not a whole number"),
        ("count: 3}", "count: true}", 8, "not a whole number"),
        ("geo: eu,", "geo: e u,", 13, "regions.westeurope.labels.geo"),
        ("owner: shop", "owner: s hop", 19, "members[0].labels.owner"),
        ("effect: NoSchedule", "effect: NoExecute", 20, "members[0].taints[0].effect"),
        ('zones: ["1", "2"]', "zones: [1]", 23, "members[0].pools[0].zones[0]"),
        ('zones: ["1", "2"]', "zones: all", 23, "not a list (begin each entry with a dash)"),
        ("minCount: 2, ", "", 23, "members[0].pools[0].count"),
        ("{name: eus-1, ", "{name: weu-1, ", 24, 'the member "weu-1" is declared twice'),
        (
            "    resourceGroup: rg-fleet\n",
            "",
            23,
            "members[1].resourceGroup: resourceGroup is missing",
        ),
        ("  regions:", "  region:", 10, "there is no field"),
        ("apiServer: {authorized", "apiServer: [authorized", 21, ""),
        ("region: eastus}", "region: eastuss}", 24, "members[1].region: there is no region"),
        (
            "region: eastus}",
            "region: westus, pools: [{name: p, vmSize: Standard_D4s_v5, count: 1, zones: ['1']}]}",
            24,
            "zones",
        ),
        (
            "vmSize: Standard_D4s_v5, count: 3",
            "vmSize: Standard_B4ms, count: 3",
            8,
            "defaults.systemPool.vmSize",
        ),
        (
            "vmSize: Standard_D8s_v5",
            "vmSize: Standard_HB368rs_v5",
            23,
            "members[0].pools[0].vmSize",
        ),
        ("maxCount: 10,", "maxCount: 254,", 16, "members[0].network.pods"),
        ("    tier: Free\n", "    tier: Free\n    tags: {a/b: c}\n", 8, "defaults.tags[a/b]"),
        (
            "    tier: Free\n",
            "    tier: Free\n    nodeResourceGroup: Rg-Fleet\n",
            8,
            "defaults.nodeResourceGroup",
        ),
        ("resourceGroup: rg-weu", "resourceGroup: RG-fleet", 6, "defaults.resourceGroup"),
        (
            "region: eastus}",
            "region: eastus, resourceGroup: rg-weu, clusterName: Weu-1}",
            24,
            "members[1].clusterName",
        ),
        (
            "apiServer: {authorized: [203.0.113.0/24]}",
            "apiServer: public",
            21,
            "not a map (write key: value)",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, line: int, words: str) -> None:
    assert old in LIST
    text = refusal(LIST.replace(old, new, 1))
    assert f"members.yaml:{line}:" in text
    assert words in text


def test_a_wrong_default_is_named_once() -> None:
    assert refusal(LIST.replace("vmSize: Standard_D4s_v5", "vmSize: X")).count("\n") == 0


@pytest.mark.parametrize(
    "spec", ["spec: {}", "spec: {members: null}", "spec: {members: {a: b}}", "data: {}"]
)
def test_no_members(spec: str) -> None:
    assert "there are no members" in refusal(LIST[: LIST.index("spec:")] + spec)


def test_a_fleet_from_a_file(tmp_path: Path) -> None:
    pytest.importorskip("pulumi_azure_native")
    from fleet_components.azure import AzureFleet, AzureFleetArgs, AzureHubArgs
    from tests.azure import world

    path = tmp_path / "members.yaml"
    hub = AzureHubArgs(resource_group="rg", region="westeurope")
    path.write_text(LIST[: LIST.index("  - {name: edge")])
    run = world.run(lambda: AzureFleet.from_file("shop", path, AzureFleetArgs(hub=hub)))
    assert run.error is None
    assert [cluster.name for cluster in run.of_type("ManagedCluster")] == [
        "eus-1-cluster",
        "weu-1-cluster",
    ]
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    error = world.run(lambda: AzureFleet.from_file("shop", path, AzureFleetArgs(hub=hub))).error
    assert "no fleet is declared there" in str(error)
