"""``fleet plan --live``: which members answer, and which clusters they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.fleets import run
from tests.delivery.driver import InProcess
from tests.delivery.world import KubeFleetWorld
from tests.live.api_server import Api, api_server
from tests.status.stacks import Stack


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, api: Api) -> Stack:
    """A stack whose member ``a`` is an API server, and whose others refuse every connection."""
    driver = InProcess(KubeFleetWorld(members={name: {} for name in "ab"}))
    assert driver.up().ok
    api.put("/api/v1/namespaces/kube-system", None)
    (folder / "a.yaml").write_text(api.kubeconfig())
    return Stack(driver)


def test_a_silent_member_is_a_warning_with_its_wave(folder: Path) -> None:
    with api_server() as api:
        stack = written(folder, api)
        stack.driver.world.image = "web:2"
        stack.write(folder)
        found = run(
            "plan",
            "fleet",
            "--state",
            "state.json",
            "--live",
            "--kubeconfig",
            "a=a.yaml",
            "-o",
            "json",
        )
    assert found.exit_code == 0, found.stderr
    (warning,) = [text for text in json.loads(found.stdout)["warnings"] if "answer" in text]
    assert warning.startswith(
        "member b: does not answer: the update breaks there, in wave 2 of shop"
    )
    strict = run("plan", "fleet", "--state", "state.json", "--live", "--strict")
    assert strict.exit_code == 3


def test_without_it_nobody_is_asked(folder: Path) -> None:
    with api_server() as api:
        stack = written(folder, api)
        stack.write(folder)
        assert "answer" not in run("plan", "fleet", "--state", "state.json", "-o", "json").stdout
        assert not api.asked
    wrong = run("plan", "fleet", "--state", "state.json", "--kubeconfig", "a=a.yaml")
    assert wrong.exit_code != 0
    assert "--kubeconfig is for --live" in wrong.stderr
