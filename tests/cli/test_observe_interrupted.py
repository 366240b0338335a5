"""Observing takes time: what is waited for is said, and whoever interrupts it finds nothing half written."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fleet_components.cli import observe
from fleet_components.cli.command import fleet
from fleet_components.cli.interrupt import finished_first
from fleet_components.hub.folder.writing import write_observation
from fleet_components.live.hub import ask_hub
from fleet_components.live.observation import ask_members
from tests.cli.terminal import in_terminal, left_of
from tests.live.api_server import Api, api_server, drips, hangs
from tests.live.hubs import MEMBERS, kubefleet, reads
from tests.live.test_members import plain


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    with api_server() as found:
        kubefleet(found)
        Path("hub").write_text(found.kubeconfig())
        yield found


class Told:
    """A watch that remembers what it was told."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def __call__(self, doing: str) -> AbstractContextManager[object]:
        self.all.append(doing)
        return nullcontext()


def test_what_a_hub_is_waited_for_is_said(hub: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch)
    told = Told()
    ask_hub(hub.kubeconfig(), watch=told)
    assert told.all[0] == "asking the hub what it serves"
    assert (
        told.all[1]
        == "asking the hub: 0 of 2 lists, 0 objects, waiting for MemberCluster, ClusterResourcePlacement"
    )
    assert told.all[3] == "asking the hub: 0 of 2 lists, 3 objects, waiting for ConfigMap, Secret"


def test_which_members_are_waited_for_is_said(hub: Api) -> None:
    told = Told()
    text = plain(hub).kubeconfig()
    ask_members({"east": text, "west": text}, watch=told)
    assert told.all[0] == "asking 2 members: 0 answered, waiting for east, west"
    assert told.all[1].startswith("asking 2 members: 1 answered, waiting for ")


@pytest.mark.long
@pytest.mark.parametrize("slow", [hangs, drips])
def test_ctrl_c_while_a_hub_is_slow(hub: Api, slow: Any, tmp_path: Path) -> None:
    hub.answers[MEMBERS] = slow(hub)
    status, told, _ = in_terminal(
        "observe",
        "--hub",
        "hub",
        "--out",
        "out",
        where=tmp_path,
        interrupted_at="waiting for MemberCluster",
    )
    assert (status, left_of(told)) == (1, "error: interrupted\n")
    assert not Path("out").exists()


def test_ctrl_c_while_it_is_written_waits_for_the_end(
    hub: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads(monkeypatch)

    def interrupted(*args: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return write_observation(*args, **options)

    monkeypatch.setattr(observe, "write_observation", interrupted)
    done = CliRunner().invoke(fleet, ["observe", "--hub", "hub", "--out", "out"])
    assert (done.exit_code, done.stderr) == (1, "error: interrupted\n")
    assert Path("out/observed/hub.yaml").exists()
    assert not list(Path("out").glob(".fleet-observe-*"))


def test_afterwards_ctrl_c_is_heard_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with finished_first():
        pass
    assert signal.getsignal(signal.SIGINT) is before
