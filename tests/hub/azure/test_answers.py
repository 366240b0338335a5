"""Answers of the resource API as a fleet, and the file that keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.hub.azure.answers import PARTS, fleet_resource
from fleet_components.hub.azure.fleet_resource import (
    JoinedCluster,
    StrategyStage,
    azure_file,
    read_azure_file,
)
from fleet_components.model.problem import FleetError
from tests.hub.azure.resources import FLEET, cluster, fleet, member, profile, run, stage, strategy

STAGES = (
    stage("canary", "Completed", {"m1": "Completed"}),
    stage("rest", "Running", {"m3": "NotStarted", "m2": "Running"}, gate="night watch"),
)
LISTS = {
    "members": [
        member("m2", "rest", tier="prod"),
        member("m1", "canary"),
        member("m4", state="Failed", error="no\nway"),
    ],
    "updateRuns": [
        run("second", "Running", *STAGES, updateStrategyId=f"{FLEET}/updateStrategies/slow"),
        run(
            "first",
            "Completed",
            *STAGES,
            autoUpgradeProfileId=f"{FLEET}/autoUpgradeProfiles/stable",
        ),
    ],
    "updateStrategies": [strategy("slow")],
    "autoUpgradeProfiles": [profile("stable")],
}
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "properties", "status", "stages", "groups", "state"]), inner
        )
    ),
    max_leaves=12,
)


def test_a_fleet_is_read() -> None:
    found = fleet_resource(FLEET, fleet(), LISTS, {})
    assert (found.name, found.state, found.has_hub, found.hub_version) == (
        "shop",
        "Succeeded",
        True,
        "1.33.2",
    )
    assert found.members == (
        JoinedCluster("m1", cluster("m1"), "canary"),
        JoinedCluster("m2", cluster("m2"), "rest", {"tier": "prod"}),
        JoinedCluster("m4", cluster("m4"), state="Failed", error="Bad: no way"),
    )
    first, second = found.runs
    assert (first.state, first.profile, first.stages) == ("Completed", "stable", ())
    assert (second.upgrade, second.strategy, second.started) == (
        "Full to 1.33.2",
        "slow",
        "2026-11-20T08:00:00Z",
    )
    assert dict(second.stages[1].members) == {"m2": "Running", "m3": "NotStarted"}
    assert [item.gates for item in second.stages] == [(), ("night watch",)]
    assert found.strategies[0].stages == (StrategyStage("canary", ("first", "second"), 60),)
    assert (found.profiles[0].channel, found.profiles[0].strategy) == ("Stable", "slow")


def test_the_file_is_the_same_in_whatever_order_azure_answers() -> None:
    turned = {part: list(reversed(elements)) for part, elements in LISTS.items()}
    text = azure_file(fleet_resource(FLEET, fleet(), LISTS, {"members": "Azure refuses"}))
    assert text == azure_file(fleet_resource(FLEET, fleet(), turned, {"members": "Azure refuses"}))
    assert read_azure_file(text) == fleet_resource(
        FLEET, fleet(), LISTS, {"members": "Azure refuses"}
    )
    assert text.startswith("apiVersion: fleet-components/v1\nkind: FleetResource\n")


def test_a_fleet_without_a_hub_stays_one_in_the_file() -> None:
    found = fleet_resource(FLEET, fleet(hub=False), {}, {})
    assert not read_azure_file(azure_file(found)).has_hub


@pytest.mark.parametrize(
    "text", ["runs: 1", "{", "- a", "runs: [{state: Running}]", "members: [{name: [a]}]"]
)
def test_a_file_that_somebody_has_broken_is_named(text: str) -> None:
    with pytest.raises(FleetError) as caught:
        read_azure_file(text, "dir/observed/azure.yaml")
    assert "dir/observed/azure.yaml" in str(caught.value)


@given(JSON, st.dictionaries(st.sampled_from(PARTS), st.lists(JSON, max_size=3)))
def test_no_answer_is_too_odd_to_be_read_and_kept(answer: Any, lists: dict[str, list[Any]]) -> None:
    found = fleet_resource(FLEET, answer if isinstance(answer, dict) else {}, lists, {})
    assert read_azure_file(azure_file(found)) == found
