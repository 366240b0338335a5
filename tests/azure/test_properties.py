"""What the scheduler knows of a cluster before it exists."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.azure.declarations.unobserved import unobserved
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.member import JoinedMember
from fleet_components.azure.values.network import Network
from fleet_components.azure.values.properties import (
    Observation,
    allocatable_cpu,
    allocatable_memory,
    cpu_quantity,
    memory_quantity,
)
from fleet_components.azure.values.record import cluster_record
from fleet_components.azure.values.vm_size import SizeTable, built_in_sizes, parse_sizes, read_sizes
from fleet_components.content.load import load_text
from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.codec import decode, encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.scheduler.estimator import estimate
from tests.azure.build import GUID, SYSTEM_POOL, aks, pool

OWN_TABLE = """\
# prices-as-of: 2027-01-01
size,vcpus,memoryMiB,gpus,arch,westeurope
Standard_D4s_v5,4,16384,0,amd64,0.1
Standard_Tiny,1,1024,0,amd64,
"""


@pytest.fixture(scope="module")
def table() -> SizeTable:
    return built_in_sizes()


def record(table: SizeTable, **fields: Any) -> Cluster:
    member = aks(**fields)
    assert not list(member.problems(table))
    return cluster_record(member, table)


def test_the_built_in_table_has_sizes_and_prices(table: SizeTable) -> None:
    size = table.find("standard_d4S_V5")
    assert size
    assert (size.name, size.vcpus, size.memory_mib) == ("Standard_D4s_v5", 4, 16384)
    assert (size.prices["eastus"], size.prices["westeurope"]) == (0.192, 0.23)
    assert len(table) > 1300
    assert table.notes["sizes-as-of"] == "2026-03-05"
    assert table.prices_as_of == "2026-06-18"


def test_a_constrained_size_has_the_cpus_that_can_be_used(table: SizeTable) -> None:
    size = table.find("Standard_E16-4s_v3")
    assert size
    assert (size.vcpus, size.memory_mib) == (4, 131072)


@pytest.mark.parametrize(
    ("vcpus", "kept"),
    [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740), (3, 120)],
)
def test_kept_cpu_is_that_of_the_documentation(vcpus: int, kept: int) -> None:
    assert allocatable_cpu(vcpus) == vcpus * 1000 - kept


@pytest.mark.parametrize(
    ("memory", "pods", "allocatable"),
    [(8192, 30, 8192 - 650 - 100), (4096, 70, 4096 - 1024 - 100), (16384, 250, 16384 - 4096 - 100)],
)
def test_kept_memory_is_that_of_the_documentation(memory: int, pods: int, allocatable: int) -> None:
    assert allocatable_memory(memory, pods) == allocatable


@pytest.mark.parametrize(
    ("cpu", "mebibytes", "texts"),
    [
        (0, 0, ("0", "0")),
        (11580, 49152, ("11580m", "48Gi")),
        (12000, 49153, ("12", "49153Mi")),
        (12_000_000, 1024**2 * 3, ("12k", "3Ti")),
    ],
)
def test_amounts_are_canonical(cpu: int, mebibytes: int, texts: tuple[str, str]) -> None:
    assert (cpu_quantity(cpu), memory_quantity(mebibytes)) == texts


@settings(max_examples=50)
@given(st.integers(0, 10**12), st.integers(0, 10**9))
def test_amounts_keep_their_value(millicores: int, mebibytes: int) -> None:
    assert Fraction(parse_quantity(cpu_quantity(millicores)).nano, 10**9) == Fraction(
        millicores, 1000
    )
    assert parse_quantity(memory_quantity(mebibytes)).nano == mebibytes * 2**20 * 10**9


def test_properties_are_those_that_the_provider_would_report(table: SizeTable) -> None:
    found = record(
        table,
        pools=(
            pool(),
            pool(name="more", vm_size="Standard_D4s_v5", count=1, min_count=None, max_count=None),
        ),
    )
    # 4 nodes of 4 cores and 16 GiB at 0.23, 2 of 8 cores and 32 GiB at 0.46: USD 1.84 for 32 cores and 128 GiB.
    assert found.properties == {
        "kubernetes-fleet.io/node-count": "6",
        "kubernetes.azure.com/vm-sizes/Standard_D4s_v5/count": "4",
        "kubernetes.azure.com/vm-sizes/Standard_D8s_v5/count": "2",
        "kubernetes.azure.com/per-cpu-core-cost": "0.058",
        "kubernetes.azure.com/per-gb-memory-cost": "0.014",
    }
    assert found.usage.capacity == {"cpu": "32", "memory": "128Gi"}
    assert found.usage.allocatable == {
        "cpu": "31080m",
        "memory": f"{4 * (16384 - 4096 - 100) + 2 * (32768 - 5050 - 100)}Mi",
    }
    assert found.usage.available == {}
    assert found.zones == ("westeurope-1", "westeurope-2", "westeurope-3")


def test_the_scheduler_reads_them(table: SizeTable) -> None:
    inventory = Inventory([record(table)])
    for name, value in {
        "kubernetes-fleet.io/node-count": "3",
        "resources.kubernetes-fleet.io/total-cpu": "12",
        "resources.kubernetes-fleet.io/allocatable-cpu": "11580m",
        "resources.kubernetes-fleet.io/total-memory": "48Gi",
    }.items():
        assert inventory.property(name).values == (parse_quantity(value),)


def test_no_price_no_cost(table: SizeTable) -> None:
    assert table.notes["regions-without-prices"]
    somewhere = record(table, region="usgovvirginia")
    assert not [name for name in somewhere.properties if name.endswith("-cost")]
    own = record(table, region="nowhere", system_pool=attrs.evolve(SYSTEM_POOL, hourly_price=0.4))
    assert own.properties["kubernetes.azure.com/per-cpu-core-cost"] == "0.100"


def test_a_size_of_ones_own(table: SizeTable) -> None:
    found = record(
        table, system_pool=attrs.evolve(SYSTEM_POOL, vm_size="Standard_New", cpu="2", memory="8Gi")
    )
    assert found.usage.capacity == {"cpu": "6", "memory": "24Gi"}
    assert found.properties["kubernetes.azure.com/vm-sizes/Standard_New/count"] == "3"


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(OWN_TABLE)
    own = read_sizes(path)
    assert record(own).properties["kubernetes.azure.com/per-cpu-core-cost"] == "0.025"
    assert own.prices_as_of == "2027-01-01"
    assert list(aks(pools=(pool(),)).problems(own))  # it takes the place of the built-in one
    tiny = record(own, pools=(pool(vm_size="Standard_Tiny", zones=()),))
    assert "kubernetes.azure.com/per-cpu-core-cost" not in tiny.properties


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no header"),
        ("size,vcpus\n", "no header"),
        (OWN_TABLE.replace("4,16384", "four,16384"), "prices.csv:3: Standard_D4s_v5.vcpus"),
        (OWN_TABLE.replace("16384", "0"), '"0" is not a valid memoryMiB'),
        (OWN_TABLE.replace("0.1", "cheap"), '"cheap" is not a price'),
        (OWN_TABLE.replace("4,16384", "\u00b2,16384"), "is not a valid vcpus"),
        (OWN_TABLE.replace("0.1", "\u00b2"), "is not a price"),
        (OWN_TABLE.replace(",amd64,0.1", ',"amd64,0.1'), "prices.csv:3: the row has 5 columns"),
        (OWN_TABLE.replace(",amd64,0.1", ",0.1"), "5 columns, the header 6"),
    ],
)
def test_a_wrong_table(text: str, words: str) -> None:
    with pytest.raises(FleetError) as refused:
        parse_sizes(text, "prices.csv")
    assert words in str(refused.value)


def test_a_missing_table() -> None:
    with pytest.raises(FleetError, match="cannot read the table"):
        read_sizes("not-there.csv")


@pytest.mark.parametrize(
    ("network", "pods"),
    [(Network(), 250), (Network(overlay=False, dataplane="azure", policy="azure"), 30)],
)
def test_pods_per_node_follow_the_network(table: SizeTable, network: Network, pods: int) -> None:
    assert record(table, network=network).usage.allocatable["memory"] == memory_quantity(
        3 * allocatable_memory(16384, pods)
    )


def test_automatic_labels(table: SizeTable) -> None:
    found = record(table, labels={"tier": "gold"}, subscription=GUID, cluster_name="AKS-1")
    assert found.labels == {
        "tier": "gold",
        "fleet.azure.com/location": "westeurope",
        "fleet.azure.com/resource-group": "rg",
        "fleet.azure.com/subscription-id": GUID,
        "fleet.azure.com/cluster-name": "AKS-1",
        "fleet.azure.com/member-name": "weu-1",
    }
    assert "fleet.azure.com/subscription-id" not in record(table).labels


def test_karmada_counts_the_free_nodes_of_the_pools_by_grade(table: SizeTable) -> None:
    """Of each node 3860m and 12.2 GiB are left: the second grade, whose nodes have room for what 1 cpu and 4 GiB hold."""
    inventory = Inventory([record(table)])
    (summary,) = (cluster.resource_summary for cluster in inventory.clusters)
    assert summary
    assert {grade: count for grade, count in (summary.nodes_by_grade or {}).items() if count} == {
        1: 3
    }
    assert estimate(inventory, {"cpu": "500m", "memory": "1Gi"}) == [6]
    assert estimate(inventory, {"cpu": "1500m"}) == [0]
    assert estimate(inventory, None) == [750]
    observed = record(table, observed=Observation(available={"cpu": "2"}))
    assert observed.resource_summary is None, "a sum tells nothing of nodes"


def test_a_joined_cluster(table: SizeTable) -> None:
    arc = f"/subscriptions/{GUID}/resourceGroups/edge/providers/Microsoft.Kubernetes/connectedClusters/shop-1"
    known = JoinedMember(
        name="edge", region="eastus", cluster_id=arc, kubeconfig_file="x", taints=(Taint("slow"),)
    )
    found = cluster_record(known, table)
    assert found.labels["fleet.azure.com/cluster-name"] == "shop-1"
    assert found.taints == (Taint("slow"),)
    assert found.properties == {}
    elsewhere = cluster_record(
        JoinedMember(name="kind", region="here", kubeconfig_file="x", pools=(pool(),)), table
    )
    assert elsewhere.labels == {}
    assert elsewhere.usage.capacity == {"cpu": "16", "memory": "64Gi"}


def test_records_pass_through_a_stack_export(table: SizeTable) -> None:
    found = record(table, labels={"a": "b"}, taints=(Taint("c", "d"),), pools=(pool(),))
    assert decode(Cluster, encode(found)) == found


POLICY = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: batch}
spec:
  policy:
    placementType: PickN
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
          - propertySelector:
              matchExpressions:
              - name: resources.kubernetes-fleet.io/available-cpu
                operator: Ge
                values: ["4"]
              - name: resources.kubernetes-fleet.io/total-cpu
                operator: Ge
                values: ["4"]
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 20
          preference:
            propertySorter:
              name: kubernetes.azure.com/vm-sizes/Standard_NC6/capacity
              sortOrder: Descending
"""


def test_a_policy_that_needs_an_observation_is_told_so(table: SizeTable) -> None:
    (policy,) = load_text(POLICY, "batch.yaml")
    bare, seen = (
        aks("bare"),
        aks("seen", observed=Observation({"cpu": "8"}, {"Standard_NC6": 3})),
    )
    problems = [
        str(problem)
        for problem in unobserved(policy, [cluster_record(m, table) for m in (bare, seen)])
    ]
    assert [problem.split(" ")[0] for problem in problems] == ["batch.yaml:13:", "batch.yaml:23:"]
    assert all("of bare (" in problem for problem in problems)
    assert not list(unobserved(policy, [cluster_record(seen, table)]))
    assert cluster_record(seen, table).usage.available == {"cpu": "8"}


SUBSCRIPTION = "fleet.azure.com/subscription-id"


def asking(**spec: Any) -> Manifest:
    kind = {"apiVersion": "placement.kubernetes-fleet.io/v1", "kind": "ClusterResourcePlacement"}
    return Manifest(
        {**kind, "metadata": {"name": "p", "labels": {SUBSCRIPTION: "s"}}, "spec": spec}
    )


@pytest.mark.parametrize(
    ("spec", "asks"),
    [
        ({"policy": {"affinity": [{"labelSelector": {"matchLabels": {SUBSCRIPTION: "s"}}}]}}, True),
        (
            {
                "policy": {
                    "affinity": [
                        {"matchExpressions": [{"key": SUBSCRIPTION, "operator": "Exists"}]}
                    ]
                }
            },
            True,
        ),
        ({"policy": {"topologySpreadConstraints": [{"topologyKey": SUBSCRIPTION}]}}, True),
        ({"value": f"x-${{MEMBER-CLUSTER-LABEL-KEY-{SUBSCRIPTION}}}"}, True),
        (
            {
                "policy": {
                    "topologySpreadConstraints": [{"topologyKey": "fleet.azure.com/location"}]
                }
            },
            False,
        ),
    ],
)
def test_a_policy_that_asks_for_an_unknown_subscription_is_refused(
    spec: dict[str, Any], asks: bool, table: SizeTable
) -> None:
    bare = cluster_record(aks("bare"), table)
    without = attrs.evolve(
        bare, labels={key: value for key, value in bare.labels.items() if key != SUBSCRIPTION}
    )
    known = attrs.evolve(bare, labels={**bare.labels, SUBSCRIPTION: "s"})
    elsewhere = attrs.evolve(bare, labels={})
    found = [str(problem) for problem in unobserved(asking(**spec), [without, known, elsewhere])]
    assert [f'no declaration says "{SUBSCRIPTION}" of bare' in text for text in found] == [
        True
    ] * asks
    assert not list(unobserved(asking(**spec), [known, elsewhere]))


def test_members_are_values() -> None:
    assert aks() == aks()
    assert isinstance(aks(), AksMember)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        aks().tier = "Free"  # type: ignore[misc]
