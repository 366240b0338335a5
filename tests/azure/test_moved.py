"""Versions and node counts that Azure moves: what stands is sent, and only when something else is."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

pytest.importorskip("pulumi_azure_native")

from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime import MockCallArgs

from fleet_components.azure import AzureFleet, AzureFleetArgs
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.kubernetes_version import is_older
from fleet_components.azure.values.standing import (
    StandingCluster,
    StandingPool,
    cluster_setbacks,
    pool_setbacks,
)
from fleet_components.components.past import read_past
from fleet_components.plan.state import StackState
from fleet_components.testing import FleetMocks
from fleet_components.testing.mocks import OWN_OUTPUTS
from tests.azure import arm, world
from tests.azure.build import SYSTEM_POOL, aks, pool

LATER = "1.34.1"
SYSTEM = attrs.evolve(SYSTEM_POOL, count=None, min_count=3, max_count=9)
BY_FLEET = aks(upgrades="fleet", kubernetes_version="1.33.2", system_pool=SYSTEM, pools=(pool(),))
MOVED: dict[str, dict[str, Any]] = {
    "weu-1": {"kubernetesVersion": LATER, "currentKubernetesVersion": LATER},
    "system": {"orchestratorVersion": LATER, "count": 7},
    "apps": {"orchestratorVersion": LATER, "count": 5},
}


def run(member: AksMember, before: world.Run | None = None) -> world.Run:
    made = world.run(
        lambda: AzureFleet("shop", AzureFleetArgs(members=(member,))), before, moved=MOVED
    )
    assert made.error is None
    return made


@pytest.mark.parametrize(
    "fields", [{}, {"upgrades": "pulumi", "kubernetes_version": None}], ids=["fleet", "default"]
)
def test_a_change_sends_what_stands(fields: dict[str, Any]) -> None:
    member = attrs.evolve(BY_FLEET, **fields)
    before = run(member)
    assert world.changes(before, run(member, before)) == {}
    changed = run(attrs.evolve(member, tags={"cost": "1"}, pools=(pool(max_count=20),)), before)
    cluster, apps = changed.named("weu-1-cluster"), changed.named("weu-1-apps")
    (profile,) = cluster.inputs["agentPoolProfiles"]
    assert (cluster.inputs["kubernetesVersion"], profile["count"], apps.inputs["count"]) == (
        LATER,
        7,
        5,
    )
    assert "orchestratorVersion" not in profile
    assert "orchestratorVersion" not in apps.inputs
    assert (cluster.ignored, apps.ignored) == ((), ())
    assert [arm.request_of(resource).errors() for resource in (cluster, apps)] == [[], []]


def test_every_run_reads_the_state_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, call = [], world.Azure.call

    def counted(azure: world.Azure, args: MockCallArgs) -> Any:
        read.extend([azure] if args.token == OWN_OUTPUTS else [])
        return call(azure, args)

    def program() -> None:
        AzureFleet("shop", AzureFleetArgs(members=(BY_FLEET,)))
        read_past("shop")

    monkeypatch.setattr(world.Azure, "call", counted)
    assert world.run(program, world.run(program)).error is None
    assert len(read) == len(set(read)) == 2


def test_only_what_changed_is_sent_with_what_stands() -> None:
    before = run(BY_FLEET)
    changed = run(attrs.evolve(BY_FLEET, pools=(pool(max_count=20),)), before)
    assert world.changes(before, changed) == {"AgentPool weu-1-apps": "update"}
    fields = (
        "agentPoolProfiles[0].count",
        "agentPoolProfiles[0].orchestratorVersion",
        "kubernetesVersion",
    )
    assert changed.named("weu-1-cluster").ignored == fields


def test_a_state_that_knows_no_request_takes_what_stands() -> None:
    # Such as the state of a release that kept no digests.
    forgotten = attrs.evolve(run(BY_FLEET), components={})
    assert run(BY_FLEET, forgotten).named("weu-1-apps").inputs["count"] == 5


def test_a_fixed_number_of_nodes_is_the_declared_one() -> None:
    before = run(BY_FLEET)
    fixed = run(
        attrs.evolve(BY_FLEET, pools=(pool(count=4, min_count=None, max_count=None),)), before
    )
    assert fixed.named("weu-1-apps").inputs["count"] == 4


def test_with_one_pool_alone_its_version_goes_with_the_cluster() -> None:
    alone = aks(kubernetes_version="1.33.2")
    (profile,) = run(alone).named("weu-1-cluster").inputs["agentPoolProfiles"]
    assert profile["orchestratorVersion"] == "1.33.2"
    (profile,) = (
        run(attrs.evolve(alone, pools=(pool(),))).named("weu-1-cluster").inputs["agentPoolProfiles"]
    )
    assert "orchestratorVersion" not in profile


def test_an_upgrade_lists_all_pools_with_their_version() -> None:
    member = attrs.evolve(BY_FLEET, upgrades="pulumi")
    upgraded = run(attrs.evolve(member, kubernetes_version="1.34.9"), run(member))
    profiles = upgraded.named("weu-1-cluster").inputs["agentPoolProfiles"]
    listed = [(each["name"], each["orchestratorVersion"], each["count"]) for each in profiles]
    assert listed == [("system", "1.34.9", 7), ("apps", "1.34.9", 5)]
    assert arm.request_of(upgraded.named("weu-1-cluster")).errors() == []
    # The next run lists the first pool again, and the state's list stays as it is.
    assert (
        world.changes(upgraded, run(attrs.evolve(member, kubernetes_version="1.34.9"), upgraded))
        == {}
    )


def test_a_plan_takes_for_standing_what_the_state_says() -> None:
    cluster = {
        "urn": "urn:pulumi:dev::shop::azure-native:containerservice:ManagedCluster::weu-1-cluster",
        "type": "azure-native:containerservice:ManagedCluster",
        "custom": True,
        "inputs": {"resourceGroupName": "rg", "resourceName": "weu-1"},
        "outputs": {"kubernetesVersion": LATER},
    }
    state = StackState.from_export({"version": 3, "deployment": {"resources": [cluster]}})
    token = "azure-native:containerservice:getManagedCluster"

    def asked(name: str) -> Any:
        args = {"resourceGroupName": "rg", "resourceName": name}
        return FleetMocks(state).call(MockCallArgs(token, args, ""))[0]

    assert asked("weu-1") == {"kubernetesVersion": LATER}
    assert asked("eus-1") == {}


VERSIONS = st.tuples(st.integers(1, 2), st.integers(20, 40), st.integers(0, 20))


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@given(VERSIONS, VERSIONS)
def test_versions_compare_as_numbers(asked: tuple[int, ...], stands: tuple[int, ...]) -> None:
    assert is_older(dotted(asked), dotted(stands)) == (asked < stands)
    assert is_older(dotted(asked[:2]), dotted(stands)) == (asked[:2] < stands[:2])


@given(VERSIONS, st.integers(1, 9), VERSIONS, st.integers(1, 9), st.booleans())
def test_a_setback_is_an_older_version_or_another_number_of_scaled_nodes(
    asked: tuple[int, ...], nodes: int, stands: tuple[int, ...], standing: int, autoscaled: bool
) -> None:
    request = {
        "orchestratorVersion": dotted(asked),
        "count": nodes,
        "enableAutoScaling": autoscaled,
    }
    found = list(pool_setbacks("node pool apps", request, StandingPool(standing, dotted(stands))))
    assert len(found) == (asked < stands) + (autoscaled and nodes != standing)
    cluster = StandingCluster(
        dotted(stands), dotted(stands), {"apps": StandingPool(standing, dotted(stands))}
    )
    assert (
        list(cluster_setbacks({"agentPoolProfiles": [{"name": "apps", **request}]}, cluster))
        == found
    )


def test_a_pool_that_was_removed_is_not_created_again_by_a_request_for_the_cluster() -> None:
    gone = list(
        cluster_setbacks(
            {"agentPoolProfiles": [{"name": "gone"}]}, StandingCluster(LATER, LATER, {})
        )
    )
    assert gone == ["node pool gone stands no longer, and this update would create it again"]
