"""Versions and node counts that Azure moves between updates: no later request sends older ones, without a refresh too."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulumi_azure_native")

from tests.engine.azure_store import Store
from tests.engine.driver import engine_or_skip
from tests.engine.test_azure import APPS, EUS, WEU, AzureStack

PROGRAM = """\
import pulumi

from fleet_components.azure import AzureFleet, AzureFleetArgs, AzureHubArgs

def tag(args):
    if args.type_.endswith((":ManagedCluster", ":AgentPool")):
        return pulumi.ResourceTransformResult(props={**args.props, "tags": {"from": "a transform"}}, opts=args.opts)

config = pulumi.Config("shop")
kind = config.require("hub")
if kind == "transformed":
    pulumi.runtime.register_resource_transform(tag)
hub = AzureHubArgs(resource_group="rg", region="westeurope", kind="public" if kind == "public" else "hubless")
AzureFleet.from_file("shop", "members.yaml", AzureFleetArgs(hub=hub))
"""
FIRST, LATER = "1.33.2", "1.34.1"
FLEET: dict[str, Any] = {**EUS, "upgrades": "fleet", "kubernetesVersion": FIRST}
PULUMI: dict[str, Any] = {**WEU, "kubernetesVersion": FIRST}
TAGGED = {"tags": {"cost": "1"}}
RESIZED = {"pools": [{**APPS, "maxCount": 20}]}
MOVED = {"version": LATER, "system": 4, "apps": 7}


class MovingStack(AzureStack):
    """A stack in an Azure that remembers, moves and judges."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, program=PROGRAM)
        plugin = folder / "plugins" / "pulumi-resource-azure-native"
        serves = f"azure-native {version('pulumi_azure_native')}"
        plugin.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -u -m tests.engine.azure_store {serves} "$@"\n'
        )
        self.azure = Store(self.standin)

    def declare(self, *members: Mapping[str, Any], hub: str = "hubless") -> None:
        super().declare(*members, hub=hub)

    def stands(self, cluster: str) -> dict[str, Any]:
        found: dict[str, Any] = self.azure.load()["clusters"][cluster]
        return {
            "version": found["version"],
            **{name: int(pool["count"]) for name, pool in found["pools"].items()},
        }

    def versions(self, cluster: str) -> dict[str, str]:
        pools = self.azure.load()["clusters"][cluster]["pools"]
        return {name: pool["orchestratorVersion"] for name, pool in pools.items()}

    def scaled(self) -> list[str]:
        found: list[str] = self.azure.load()["scaled"]
        return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[MovingStack, dict[str, Any]]:
    """A member of each kind, created; with the state and what stands then."""
    engine_or_skip()
    stack = MovingStack(tmp_path_factory.mktemp("moved"))
    stack.declare(FLEET, PULUMI, hub="hubless")
    first = stack.up()
    assert first.ok, first.text
    return stack, {"state": stack.stack.export_stack(), "azure": stack.azure.load()}


@pytest.fixture
def stack(made: tuple[MovingStack, dict[str, Any]]) -> MovingStack:
    """The stack as it was created; whatever the last test did is undone."""
    stack, kept = made
    stack.stack.import_stack(kept["state"])
    stack.azure.save(kept["azure"])
    return stack


def test_what_azure_moves_shows_nothing_and_later_changes_leave_it(stack: MovingStack) -> None:
    stack.azure.move("eus-1", LATER, system=4, apps=7)
    stack.declare(FLEET, PULUMI)
    unchanged = stack.up()
    assert unchanged.ok, unchanged.text
    assert unchanged.changes == {}

    stack.declare({**FLEET, **TAGGED}, PULUMI)
    tagged = stack.up()
    assert tagged.ok, tagged.text
    assert tagged.changes == {"ManagedCluster eus-1-cluster": "update"}

    stack.declare({**FLEET, **TAGGED, **RESIZED}, PULUMI)
    resized = stack.up()
    assert resized.ok, resized.text
    assert resized.changes == {"AgentPool eus-1-apps": "update"}
    assert stack.stands("eus-1") == MOVED
    assert stack.scaled() == []
    assert stack.up().changes == {}


@pytest.mark.parametrize("refreshed", [True, False], ids=["refreshed", "not refreshed"])
def test_moves_after_a_refresh_are_kept_as_well(stack: MovingStack, refreshed: bool) -> None:
    stack.azure.move("eus-1", "1.33.7", system=5, apps=9)
    if refreshed:
        stack.refresh({})
    stack.azure.move("eus-1", LATER, system=4, apps=7)
    stack.declare({**FLEET, **TAGGED, **RESIZED}, PULUMI)
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert stack.stands("eus-1") == MOVED
    assert stack.scaled() == []
    assert stack.azure.load()["clusters"]["eus-1"]["pools"]["apps"]["orchestratorVersion"] == LATER


def test_a_failed_update_is_not_taken_for_the_last_request(stack: MovingStack) -> None:
    stack.azure.refuse("eus-1")
    stack.declare({**FLEET, **TAGGED}, PULUMI)
    assert not stack.up().ok
    stack.azure.refuse("")
    stack.azure.move("eus-1", LATER, system=4, apps=7)
    again = stack.up()
    assert again.ok, again.text
    assert stack.stands("eus-1") == MOVED
    assert stack.scaled() == []


def test_a_fixed_number_of_nodes_becomes_a_range_and_back(stack: MovingStack) -> None:
    fixed = {**APPS, "minCount": None, "maxCount": None, "count": 3}
    stack.declare({**FLEET, "pools": [fixed]}, PULUMI)
    assert stack.up().ok
    assert stack.stands("eus-1")["apps"] == 3
    stack.declare({**FLEET, "pools": [{**APPS, "minCount": 1}]}, PULUMI)
    assert stack.up().ok
    assert stack.stands("eus-1")["apps"] == 3
    stack.azure.move("eus-1", apps=6)
    stack.declare({**FLEET, "pools": [{**APPS, "minCount": 2}]}, PULUMI)
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert stack.stands("eus-1")["apps"] == 6
    assert stack.scaled() == []


@pytest.mark.parametrize(
    ("move", "text"),
    [
        (
            {"version": LATER},
            f"the control plane runs Kubernetes {LATER}, and this update would ask for {FIRST}",
        ),
        (
            {"system": 4},
            "node pool system has 4 nodes by autoscaling, and this update would ask for 3",
        ),
        ({"apps": 7}, "node pool apps has 7 nodes by autoscaling, and this update would ask for 2"),
    ],
    ids=["version", "first pool", "further pool"],
)
def test_a_transform_that_changes_a_request_is_refused_before_it_sets_anything_back(
    stack: MovingStack, move: dict[str, Any], text: str
) -> None:
    stack.azure.move("eus-1", **move)
    moved = stack.stands("eus-1")
    stack.declare(FLEET, PULUMI, hub="transformed")
    for outcome in (stack.preview(), stack.up()):
        assert not outcome.ok
        assert text in outcome.text
        assert "run pulumi refresh, then update again" in outcome.text
    stack.refresh({})
    done = stack.up()
    assert done.ok, done.text
    assert stack.stands("eus-1") == moved
    assert stack.scaled() == []


def test_a_hubless_fleet_gets_its_hub_in_one_update(stack: MovingStack) -> None:
    stack.declare(FLEET, PULUMI, hub="public")
    previewed = stack.preview()
    assert previewed.ok, previewed.text
    done = stack.up()
    assert done.ok, done.text
    assert done.changes == previewed.changes
    assert done.changes["Resource shop-fleet"] == "update"
    assert done.changes["MemberClusterPatch eus-1-taints"] == "create"
    assert stack.up().changes == {}


def test_a_version_that_somebody_moved_is_named(stack: MovingStack) -> None:
    stack.azure.move("weu-1", LATER)
    stack.declare(FLEET, {**PULUMI, **TAGGED})
    for outcome in (stack.preview(), stack.up()):
        assert not outcome.ok
        assert (
            f"the control plane runs Kubernetes {LATER}, and this update would ask for {FIRST}"
            in outcome.text
        )
        assert "declare the version that stands, or upgrades: fleet" in outcome.text
    stack.declare(FLEET, {**PULUMI, **TAGGED, "kubernetesVersion": LATER})
    done = stack.up()
    assert done.ok, done.text
    assert stack.stands("weu-1")["version"] == LATER


def test_a_new_version_reaches_all_pools_in_one_update(stack: MovingStack) -> None:
    stack.azure.move("weu-1", apps=5)
    stack.declare(FLEET, {**PULUMI, "kubernetesVersion": LATER})
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert stack.versions("weu-1") == {"system": LATER, "apps": LATER}
    assert stack.stands("weu-1") == {"version": LATER, "system": 3, "apps": 5}
    assert stack.scaled() == []
    assert stack.up().changes == {}
    # What the state lists now is not sent again: a pool that goes stays away.
    stack.declare(FLEET, {**PULUMI, "kubernetesVersion": LATER, "pools": []})
    assert set(stack.up().changes) == {"AgentPool weu-1-apps", "CreateOnly weu-1-create-only"}
    stack.declare(FLEET, {**PULUMI, "kubernetesVersion": LATER, "pools": [], **TAGGED})
    tagged = stack.up()
    assert tagged.ok, tagged.text
    assert stack.versions("weu-1") == {"system": LATER}


def test_a_new_version_beside_a_pool_that_nobody_declares_says_what_is_left_to_do(
    stack: MovingStack,
) -> None:
    stack.azure.add_pool("weu-1", "byhand", FIRST)
    stack.declare(FLEET, {**PULUMI, "kubernetesVersion": LATER})
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert "weu-1 has node pool byhand, which nobody declares" in outcome.text
    assert (
        f"az aks nodepool upgrade -g rg --cluster-name weu-1 -n system -k {LATER}" in outcome.text
    )
    assert stack.versions("weu-1") == {"system": FIRST, "apps": LATER, "byhand": FIRST}
