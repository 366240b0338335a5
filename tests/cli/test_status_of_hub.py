"""``fleet status`` of what goes through a hub: what it has made of it, in every form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_components.hub.listing import Listing
from fleet_components.review.planning import asked as hub_asked
from fleet_components.systems.registry import SYSTEMS
from fleet_components.testing import kubeconfig
from tests.cli.fleets import run
from tests.delivery.driver import InProcess
from tests.delivery.world import KubeFleetWorld
from tests.status.stacks import Stack
from tests.status.test_on_hub import listing

BLOCKED = {
    "type": "RolloutStarted",
    "status": "False",
    "reason": "RolloutNotStartedYet",
    "message": "is blocked",
}


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    monkeypatch.chdir(tmp_path)
    world = KubeFleetWorld(
        members={"a": {}, "b": {}}, config={"delivery": "kubefleet", "kubeconfigs": None}
    )
    made = Stack(InProcess(world))
    assert made.driver.up().ok
    made.write(tmp_path)
    Path("hub.kubeconfig").write_text(kubeconfig("hub"))

    def answered(text: str, **_: Any) -> Listing:
        assert text == kubeconfig("hub")
        *members, shop = (
            document
            for document in world.documents()
            if document["kind"] in ("MemberCluster", "ClusterResourcePlacement")
        )
        metadata = {**shop["metadata"], "uid": "1", "generation": 1}
        status = {
            "conditions": [BLOCKED],
            "placementStatuses": [{"clusterName": "b", "conditions": [BLOCKED]}],
        }
        return listing(
            SYSTEMS["kubefleet"], {**shop, "metadata": metadata, "status": status}, *members
        )

    monkeypatch.setattr(hub_asked, "ask_hub", answered)
    return made


def told(*options: str, status: int = 0) -> str:
    result = run("status", "fleet", "--state", "state.json", *options)
    assert result.exit_code == status, result.output
    return str(result.stdout)


def test_without_the_hub_it_says_who_would_know(stack: Stack) -> None:
    text = told()
    assert "a hub carries out ClusterResourcePlacement shop: --hub KUBECONFIG asks it" in text
    assert "unrecorded" not in text
    assert "missing" not in text


def test_no_member_is_asked_for_what_a_hub_carries_out(stack: Stack) -> None:
    text = " ".join(told("--hub", "hub.kubeconfig", "--live").split())
    assert "0 of 2 as forecast" in text


def test_the_hub_stands_beside_the_forecast(stack: Stack) -> None:
    text = " ".join(told("--hub", "hub.kubeconfig").split())
    assert "ClusterResourcePlacement shop on the hub of KubeFleet" in text
    assert "b newest not there RolloutNotStartedYet: is blocked" in text
    assert "0 of 2 as forecast" in text
    told("--hub", "hub.kubeconfig", "--strict", status=3)
    assert "RolloutNotStartedYet" in told("--hub", "hub.kubeconfig", "-o", "markdown")
    assert (
        " a "
        not in " ".join(told("--hub", "hub.kubeconfig", "--member", "b").split())
        .split("why")[1]
        .split("cond")[0]
    )


def test_the_statuses_are_those_of_the_hub(stack: Stack) -> None:
    (item,) = json.loads(told("--hub", "hub.kubeconfig", "-o", "json"))["items"]
    assert (item["kind"], item["metadata"]) == ("ClusterResourcePlacement", {"name": "shop"})
    assert item["status"]["conditions"] == [BLOCKED]


def test_a_kubeconfig_that_is_none_is_refused_by_name(stack: Stack) -> None:
    Path("hub.kubeconfig").write_text("token: canary-7c")
    result = run("status", "fleet", "--state", "state.json", "--hub", "hub.kubeconfig")
    assert result.exit_code == 1
    assert "the hub" in result.output
    assert "canary" not in result.output
