"""``fleet rollout`` without an engine: programs run in process in the place of the Pulumi CLI's updates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from rich.console import Console, Group

from fleet_components.automation import rollout
from fleet_components.automation.display import picture
from fleet_components.automation.engine import Engine
from fleet_components.automation.progress import UpdateProgress, UpdateStand
from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import gather
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.project import Project, read_project
from fleet_components.status.events import EngineEvent
from tests.cli.fleets import run
from tests.cli.test_looks import WIDTHS, golden
from tests.delivery.driver import InProcess, kubeconfigs
from tests.delivery.test_remainder import moving
from tests.delivery.test_staged import ALL, CANARY, released

PROGRAM = "import pulumi\nfrom fleet_components import Fleet\nFleet.from_config('dev')\n"


class InPlaceOfTheEngine:
    """Updates the stack of a driver by running the program of its world in process."""

    driver: InProcess
    times: list[datetime | None]

    def __init__(self, project: Project, stack: str, config: Path) -> None:
        self.stack = stack

    def state(self) -> StateFile:
        return StateFile("stack", self.driver.state)

    def hide(self, secrets: Iterable[str]) -> None:
        pass

    def update(self, seen: Any, as_of: datetime | None) -> str:
        self.times.append(as_of)
        outcome = self.driver.up()
        return "" if outcome.ok else outcome.text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rollout, "Engine", InPlaceOfTheEngine)
    InPlaceOfTheEngine.times = []
    return tmp_path


def rolled_out(driver: InProcess, *options: str) -> tuple[int, dict[str, Any]]:
    result = driven(driver, "-o", "json", *options)
    return result.exit_code, json.loads(result.stdout)


def driven(driver: InProcess, *options: str) -> Result:
    folder = Path.cwd()
    InPlaceOfTheEngine.driver = driver
    driver.world.write(folder / "fleet")
    config = {
        "source": "fleet",
        "kubeconfigs": kubeconfigs(driver.world.members),
        **driver.world.config,
    }
    (folder / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (folder / "Pulumi.stack.yaml").write_text(
        yaml.safe_dump({"config": {f"fleet:{k}": v for k, v in config.items()}})
    )
    (folder / "__main__.py").write_text(PROGRAM)
    return run("rollout", ".", "--stack", "stack", "--yes", *options)


def test_a_second_call_goes_on_where_a_limit_stopped_the_first(project: Path) -> None:
    driver = moving({"maxUnavailable": 1, "maxSurge": 0}, members="ab", to="cd")
    status, first = rolled_out(driver, "--updates", "2", "--detailed-exitcode")
    assert (status, first["ending"], len(first["updates"])) == (2, "limit", 2)
    assert (
        first["words"][0]
        == "stopped after 2 updates, the most that was asked for; left: 1 more update"
    )
    status, second = rolled_out(driver, "--detailed-exitcode")
    assert (status, second["ending"], len(second["updates"])) == (0, "done", 1)
    assert sorted(driver.images()) == ["c", "d"]
    status, third = rolled_out(driver)
    assert (status, third["updates"], third["words"]) == (
        0,
        [],
        ["nothing to do: every member is as wanted"],
    )


def test_no_update_goes_past_an_approval(project: Path) -> None:
    driver = InProcess()
    released(driver, {"type": "Approval"})
    for updates in (1, 0):
        status, stopped = rolled_out(driver)
        assert (status, stopped["ending"], len(stopped["updates"])) == (0, "stopped", updates)
        assert stopped["remaining"]["approvals"] == ["go-after-canary"]
        assert driver.images() == CANARY
    driver.world.config = {"approvals": "go-after-canary"}
    assert rolled_out(driver)[1]["ending"] == "done"
    assert driver.images() == ALL


def test_the_time_is_handed_to_each_update(project: Path) -> None:
    driver = InProcess()
    released(driver, {"type": "TimedWait", "waitTime": "2h"})
    driver.world.config = {"asOf": "2026-05-01T10:00:00Z"}
    status, stopped = rolled_out(driver, "--as-of", "2026-05-01T10:00:00Z")
    assert (status, stopped["ending"]) == (0, "stopped")
    assert [time and time.isoformat() for time in InPlaceOfTheEngine.times] == [
        "2026-05-01T10:00:00+00:00"
    ]
    (wait,) = stopped["remaining"]["waits"]
    assert wait["until"] == "2026-05-01T12:00:00+00:00"
    assert stopped["words"][1].endswith("--as-of TIME after 2026-05-01T12:00:00+00:00")


def test_a_refused_plan_is_shown_and_not_begun(project: Path) -> None:
    driver = moving({"maxUnavailable": 4, "maxSurge": 0})
    driver.world.config = {"limit": 0.1}
    before = driver.images()
    result = driven(driver)
    assert result.exit_code == 3
    assert "refused: " in result.stdout
    assert result.stdout.splitlines()[-1] == "refused: nothing was updated"
    assert driver.images() == before


def test_an_update_that_changes_nothing_is_not_repeated(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = moving({"maxUnavailable": 1, "maxSurge": 0})
    monkeypatch.setattr(InPlaceOfTheEngine, "update", lambda *_: "")
    status, failed = rolled_out(driver)
    assert (status, failed["ending"]) == (1, "failed")
    assert failed["updates"][-1]["errors"] == [
        "the last update has succeeded, and the plan is the same as before it"
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_picture_fits_the_terminal(tmp_path: Path, width: int) -> None:
    driver = InProcess()
    driver.world.members = {f"member-of-a-large-fleet-{number:02}": {} for number in range(12)}
    driver.world.rolling = {"maxUnavailable": "100%"}
    driver.world.write(tmp_path)
    plan = plan_fleet(gather(tmp_path), Past(), Options(fleet="dev"))
    progress = UpdateProgress([plan], 1, "3")
    names = sorted(progress.moves)
    for name, event in zip(
        names, ("resOutputsEvent", "resourcePreEvent", "resOpFailedEvent"), strict=False
    ):
        list(progress.hear(_event(name, event)))
    assert progress.members(UpdateStand.FAILED) == ["member-of-a-large-fleet-02"]
    said = "[1/2] Waiting for app ReplicaSet be available (0/1 Pods available)"
    list(progress.hear(_said(names[1], said)))
    console = Console(width=width, color_system=None, record=True)
    with console.capture() as capture:
        console.print(Group(*picture(progress)))
    golden(
        f"rollout-{width}.txt", "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())
    )


def _event(target: str, kind: str) -> EngineEvent:
    types = "fleet:index:Fleet$fleet:index:Placement$fleet:index:Target$pulumi-python:dynamic/fleet:Binding"
    urn = f"urn:pulumi:stack::project::{types}::{target}"
    metadata = {"op": "create", "urn": urn, "type": "", "provider": ""}
    return _heard({kind: {"metadata": metadata, "status": 0, "steps": 0}})


def _said(target: str, text: str) -> EngineEvent:
    urn = f"urn:pulumi:stack::project::kubernetes:apps/v1:Deployment::{target}/shop/web"
    body = {
        "message": f"<{{%reset%}}>{text}",
        "color": "raw",
        "severity": "info#err",
        "urn": urn,
        "ephemeral": True,
    }
    return _heard({"diagnosticEvent": body})


def _heard(data: dict[str, Any]) -> EngineEvent:
    event = EngineEvent.of(json.dumps(data).encode())
    assert event
    return event


CLIS = {
    "too old": ("echo v3.1.0", "is of version"),
    "no such stack": (
        'case "$*" in *version) echo v3.272.0;; *) echo "error: no stack named \'stack\' found" >&2; exit 255;; esac',
        'the backend has no stack "stack"',
    ),
    "not logged in": (
        'case "$*" in *version) echo v3.272.0;; *) echo "error: PULUMI_ACCESS_TOKEN must be set" >&2; exit 255;; esac',
        "PULUMI_ACCESS_TOKEN must be set",
    ),
}


@pytest.mark.parametrize("name", CLIS)
def test_what_is_wrong_with_the_cli_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    script, words = CLIS[name]
    cli = tmp_path / "bin" / "pulumi"
    cli.parent.mkdir()
    cli.write_text(f"#!/bin/sh\n{script}\n")
    cli.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cli.parent}:/usr/bin:/bin")
    (tmp_path / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    with pytest.raises(FleetError, match=words) as raised:
        Engine(read_project(tmp_path), "stack", tmp_path / "Pulumi.stack.yaml").state()
    assert len(raised.value.problems) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--wait", "--as-of", "2026-05-01T10:00:00Z", "--yes"),
            "--wait and --as-of exclude each other",
        ),
        (("-o", "json"), "--yes begins without asking"),
        (("--yes", "--updates", "0"), "--updates"),
        (("--yes",), "is no Pulumi project"),
    ],
)
def test_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("rollout", ".", *options)
    assert result.exit_code == 1
    assert words in result.stderr
