"""Stages, approvals, waits and budgets, over successive runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.fleets import plan, run
from tests.delivery.driver import Driver, InProcess

GROUP = "placement.kubernetes-fleet.io/v1beta1"


def staged(driver: Driver, *after_canary: dict[str, Any]) -> None:
    """Two stages: a and b first; then the rest, once the tasks are done."""
    world = driver.world
    world.members = {
        "a": {"stage": "canary"},
        "b": {"stage": "canary"},
        "c": {"stage": "rest"},
        "d": {"stage": "rest"},
    }
    world.strategy = {"type": "External"}
    stages = [
        {
            "name": "canary",
            "labelSelector": {"matchLabels": {"stage": "canary"}},
            "afterStageTasks": list(after_canary),
        },
        {"name": "rest", "labelSelector": {"matchLabels": {"stage": "rest"}}},
    ]
    metadata = {"name": "careful"}
    run = {"placementName": "shop", "stagedRolloutStrategyName": "careful", "state": "Run"}
    world.extra = [
        {
            "apiVersion": GROUP,
            "kind": "ClusterStagedUpdateStrategy",
            "metadata": metadata,
            "spec": {"stages": stages},
        },
        {
            "apiVersion": GROUP,
            "kind": "ClusterStagedUpdateRun",
            "metadata": {"name": "go"},
            "spec": run,
        },
    ]


def released(driver: Driver, *after_canary: dict[str, Any]) -> None:
    """Everything runs the first content; a second one is on its way in stages."""
    assert driver.up().ok
    staged(driver, *after_canary)
    driver.world.image = "web:2"


CANARY = {"a": "web:2", "b": "web:2", "c": "web:1", "d": "web:1"}
ALL = dict.fromkeys("abcd", "web:2")


def test_a_missing_approval_holds_and_a_given_one_goes_on(driver: Driver) -> None:
    released(driver, {"type": "Approval"})
    shown = driver.preview()
    assert (
        "held: c, d not updated (keep revision 0): approval go-after-canary is missing"
        in shown.text
    )
    assert driver.up().ok
    assert driver.images() == CANARY
    assert driver.preview().changes == {}
    driver.world.config = {"approvals": "go-after-canary"}
    assert driver.up().ok
    assert driver.order() == ["c", "d"]
    assert driver.images() == ALL
    assert driver.preview().changes == {}


def test_of_several_runs_that_wait_the_same_one_stays(driver: Driver) -> None:
    released(driver)
    (go,) = (data for data in driver.world.extra if data["kind"] == "ClusterStagedUpdateRun")
    for name in ("one", "two"):
        spec = {**go["spec"], "state": "Initialize"}
        driver.world.extra = [item for item in driver.world.extra if item is not go]
        driver.world.extra.append({**go, "metadata": {"name": name}, "spec": spec})
        assert driver.up().ok
        assert driver.preview().changes == {}


def test_a_long_wait_holds_until_it_is_over(driver: Driver) -> None:
    released(driver, {"type": "TimedWait", "waitTime": "2h"})
    driver.world.config = {"asOf": "2026-05-01T10:00:00Z"}
    assert driver.up().ok
    assert driver.images() == CANARY
    driver.world.config = {"asOf": "2026-05-01T11:30:00Z"}
    held = driver.preview()
    assert "held: c, d" in held.text
    assert "until 2026-05-01T12:00:00+00:00" in held.text
    driver.world.config = {"asOf": "2026-05-01T12:00:00Z"}
    assert driver.up().ok
    assert driver.images() == ALL


def test_a_short_wait_is_waited_out_in_the_update_alone(driver: Driver) -> None:
    released(driver, {"type": "TimedWait", "waitTime": "1s"})
    assert "wait 1 s" in driver.preview().text
    assert "waiting 1 s before the next wave" not in driver.preview().text
    done = driver.up()
    assert done.ok
    assert "waiting 1 s before the next wave" in done.text
    assert driver.images() == ALL
    assert driver.preview().changes == {}


def test_no_budget_holds_everybody(driver: Driver) -> None:
    driver.world.policy = {"placementType": "PickN", "numberOfClusters": 4}
    assert driver.up().ok
    driver.world.image = "web:2"
    driver.world.rolling = {"maxUnavailable": 0, "maxSurge": 1}
    assert "held: a, b, c, d" in driver.preview().text
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:1")
    assert driver.preview().changes == {}
    driver.world.rolling = {"maxUnavailable": 2, "maxSurge": 1}
    assert driver.up().ok
    assert driver.images() == ALL


@pytest.mark.parametrize("approval", ["go-before-canary", "go-after-rest"])
def test_an_approval_of_another_stage_opens_nothing(approval: str) -> None:
    from tests.delivery.driver import InProcess

    driver = InProcess()
    released(driver, {"type": "Approval"})
    driver.world.config = {"approvals": approval}
    assert driver.up().ok
    assert driver.images() == CANARY


def test_an_approval_that_nobody_asks_for_is_said() -> None:
    driver = InProcess()
    staged(driver, {"type": "Approval"})
    driver.world.config = {"approvals": "go-after-canary,go-after-canry"}
    (warning,) = [text for level, text in driver.run().messages if level == "warning"]
    assert warning == (
        'approvals: no update run asks for the approval "go-after-canry" '
        '(did you mean "go-after-canary"? asked for is: go-after-canary)'
    )


@pytest.mark.parametrize("where", ["fleet", "."])
def test_the_command_line_approves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A render remembers what was approved."""
    driver = InProcess()
    staged(driver, {"type": "Approval"})
    driver.world.write(tmp_path / "fleet")
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {fleet:source: fleet, fleet:render: out}\n")
    (tmp_path / "__main__.py").write_text(
        "from fleet_components import Fleet\nFleet.from_config('dev')\n"
    )
    monkeypatch.chdir(tmp_path)

    def held(*options: str) -> list[str]:
        (subject,) = plan(where, *options)["subjects"]
        return [item["name"] for item in subject["clusters"] if item["change"] == "held"]

    assert held() == ["c", "d"]
    assert held("--approve", "go-after-canary") == []
    assert run("render", where, "--out", "out", "--approve", "go-after-canary").exit_code == 0
    stack = "dev" if where == "." else "local"
    assert held("--state", f"out/{stack}/state.json") == []
