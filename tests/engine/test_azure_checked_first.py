"""On the engine, without a preview: a refusal of one part of the fleet comes before any other part is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulumi_azure_native")

from tests.engine.driver import engine_or_skip
from tests.engine.test_azure import APPS, EUS, WEU, AzureStack, Outcome

SEA: dict[str, Any] = {"name": "sea-1", "region": "southeastasia", "resourceGroup": "rg-new"}
SUBNET = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/net/providers/Microsoft.Network"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> AzureStack:
    engine_or_skip()
    made = AzureStack(tmp_path_factory.mktemp("checked"))
    made.declare({**WEU, "kubernetesVersion": "1.31"}, EUS, hub="hubless")
    done = made.up()
    assert done.ok, done.text
    return made


def touched(outcome: Outcome) -> dict[str, str]:
    """What was done besides records of our own."""
    return {
        what: how
        for what, how in outcome.changes.items()
        if not what.startswith(("CreateOnly", "Barrier", "Azure", "Provisioned"))
    }


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"kubernetesVersion": "1.33"}, "kubernetesVersion cannot change from"),
        ({"kubernetesVersion": "1.30"}, "never back"),
        (
            {"kubernetesVersion": "1.31", "entra": None, "localAccounts": True},
            "entra cannot change from true to false",
        ),
        (
            {"kubernetesVersion": "1.31", "subnet": f"{SUBNET}/virtualNetworks/v/subnets/s"},
            "subnet cannot change",
        ),
        (
            {"kubernetesVersion": "1.31", "pools": [{**APPS, "maxPods": 60}]},
            "pools.apps.maxPods cannot change from nothing to 60",
        ),
    ],
)
def test_nothing_else_is_touched(stack: AzureStack, changed: dict[str, Any], text: str) -> None:
    """Another member would be added, with its resource group, and a third one be changed."""
    stack.declare(SEA, {**EUS, "tags": {"cost": "1"}}, {**WEU, **changed}, hub="hubless")
    outcome = stack.up()  # goes on without a preview, as the automation API always does
    assert not outcome.ok
    assert text in outcome.text
    assert touched(outcome) == {}


def test_what_is_taken_is_carried_out(stack: AzureStack) -> None:
    stack.declare({**WEU, "kubernetesVersion": "1.32"}, EUS, hub="hubless")
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert touched(outcome) == {
        "ManagedCluster weu-1-cluster": "update",
        "AgentPool weu-1-apps": "update",
    }


def test_a_private_hub_makes_no_network_before_it_is_refused(tmp_path: Path) -> None:
    engine_or_skip()
    stack = AzureStack(tmp_path)
    stack.declare({**EUS, "upgrades": "fleet"}, hub="public")
    assert stack.up().ok
    stack.declare({**EUS, "upgrades": "fleet"}, hub="private")
    outcome = stack.up()
    assert "hub.private cannot change" in outcome.text
    assert touched(outcome) == {}
