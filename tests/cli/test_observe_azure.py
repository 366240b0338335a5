"""``fleet observe --azure``: the hub of a fleet, and what the resource API tells besides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components.hub.azure.fleet_resource import AZURE_FILE, read_azure_file
from fleet_components.hub.folder.header import time_text
from fleet_components.hub.listing import Listing
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import run
from tests.hub.azure.resources import FLEET, fleet, member, stage
from tests.hub.azure.resources import run as update_run
from tests.hub.folder.hubs import AS_OF, kubefleet, later, observed, texts
from tests.live.api_server import Api
from tests.live.azure_standin import CANARY, refuses, resource_api

NAMES = ("amsterdam", "dublin", "iowa", "virginia")
RUNNING = update_run(
    "r1", "Running", stage("all", "Running", {"amsterdam": "Running", "dublin": "NotStarted"})
)


@attrs.define
class Hub:
    """A hub whose answers are known.

    Attributes:
        observation: what is observed of it.
        kubeconfigs: the kubeconfigs by which it was asked.
    """

    observation: Any
    kubeconfigs: list[str] = attrs.field(factory=list)

    def ask(self, kubeconfig: str, **_: Any) -> Listing:
        """Answer."""
        self.kubeconfigs.append(kubeconfig)
        return Listing(SYSTEMS["kubefleet"], AS_OF)


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with resource_api(monkeypatch) as found:
        found.objects[f"{FLEET}/members"] = {"value": [member(name, "canary") for name in NAMES]}
        yield found


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    found = Hub(observed(kubefleet()))
    monkeypatch.setattr("fleet_components.cli.observe.ask_hub", found.ask)
    monkeypatch.setattr("fleet_components.cli.observe.read_hub", lambda _: found.observation)
    return found


def test_a_fleet_is_observed_through_its_hub(azure: Api, hub: Hub, tmp_path: Path) -> None:
    out = tmp_path / "out"
    azure.objects[f"{FLEET}/members"]["value"].append(member("joining", state="Joining"))
    result = run("observe", "--azure", FLEET, "--out", out)
    assert result.exit_code == 0, result.output
    assert "member joining of fleet shop is not on the hub: its state is Joining" in " ".join(
        result.output.split()
    )
    (kubeconfig,) = hub.kubeconfigs
    assert "azurecli" in kubeconfig
    found = read_azure_file((out / AZURE_FILE).read_text())
    assert [item.name for item in found.members] == [
        "amsterdam",
        "dublin",
        "iowa",
        "joining",
        "virginia",
    ]
    assert CANARY not in result.output + "".join(texts(out).values())
    assert "kubelogin" not in "".join(texts(out).values())
    planned = run("plan", out, "--detailed-exitcode")
    assert planned.exit_code == 0, planned.output


def test_a_plan_is_warned_of_an_update_run_where_it_changes_something(
    azure: Api, hub: Hub, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    azure.objects[f"{FLEET}/updateRuns"] = {"value": [RUNNING]}
    assert run("observe", "--azure", FLEET, "--out", out).exit_code == 0
    assert "update run" not in run("plan", out).output
    for file in (out / "policies").rglob("*.yaml"):
        file.write_text(file.read_text().replace("numberOfClusters: 2", "numberOfClusters: 1"))
    told = " ".join(run("plan", out).output.split())
    assert "update run r1 (Full to 1.33.2)" in told
    assert "where this plan changes objects" in told


def test_where_azure_is_not_asked_its_record_counts_with_its_own_time(
    azure: Api, hub: Hub, tmp_path: Path
) -> None:
    out, file = tmp_path / "out", tmp_path / "hub"
    azure.objects[f"{FLEET}/updateRuns"] = {"value": [RUNNING]}
    assert run("observe", "--azure", FLEET, "--out", out).exit_code == 0
    told, first = (out / AZURE_FILE).read_text(), time_text(hub.observation.as_of)
    file.write_text(_kubeconfig())
    hub.observation = later(hub.observation)
    for _ in range(2):
        result = run("observe", "--hub", file, "--out", out, "--update")
        assert result.exit_code == 0, result.output
        assert (
            f"Azure was not asked: --azure RESOURCE_ID asks it; remove {AZURE_FILE} if"
            in _in_one_line(result.output)
        )
        assert f"its record of {first} counts" in _in_one_line(result.output)
        assert (out / AZURE_FILE).read_text() == told
    assert "Azure" not in run("plan", out).output
    for policy in (out / "policies").rglob("*.yaml"):
        policy.write_text(policy.read_text().replace("numberOfClusters: 2", "numberOfClusters: 1"))
    planned = _in_one_line(run("plan", out).output)
    assert f"Azure was not asked when the hub was observed; its record is of {first}" in planned
    assert "update run r1 (Full to 1.33.2)" in planned
    hub.observation = later(hub.observation, as_of=hub.observation.as_of + timedelta(hours=1))
    assert run("observe", "--azure", FLEET, "--out", out, "--update").exit_code == 0
    assert "azure" not in (out / "observed/hub.yaml").read_text()
    assert "Azure was not asked" not in _in_one_line(run("plan", out).output)


def test_a_record_of_azure_that_nobody_can_read_does_not_stay(
    azure: Api, hub: Hub, tmp_path: Path
) -> None:
    out, file = tmp_path / "out", tmp_path / "hub"
    assert run("observe", "--azure", FLEET, "--out", out).exit_code == 0
    (out / AZURE_FILE).write_text("<<<<<<< HEAD\n")
    file.write_text(_kubeconfig())
    result = run("observe", "--hub", file, "--out", out, "--update")
    assert result.exit_code == 0, result.output
    assert f"{AZURE_FILE} is damaged and removed" in _in_one_line(result.output)
    assert not (out / AZURE_FILE).exists()


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_fleet_without_a_hub(azure: Api, tmp_path: Path) -> None:
    out = tmp_path / "out"
    azure.objects[FLEET] = fleet(hub=False)
    result = run("observe", "--azure", FLEET, "--out", out)
    assert result.exit_code == 0, result.output
    assert "fleet shop has no hub: it groups clusters for upgrades alone" in " ".join(
        result.output.split()
    )
    assert {path for path in texts(out) if path.startswith("members/")} == {
        f"members/{name}.yaml" for name in NAMES
    }
    assert run("plan", out).exit_code == 0, run("plan", out).output


def test_what_azure_does_not_let_be_read_is_told_and_refused_by_strict(
    azure: Api, hub: Hub, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    azure.answers[f"{FLEET}/updateRuns"] = refuses(403, "AuthorizationFailed", "no")
    strict = run("observe", "--azure", FLEET, "--out", out, "--strict")
    assert strict.exit_code == 3
    assert not out.exists()
    result = run("observe", "--azure", FLEET, "--out", out)
    assert result.exit_code == 0
    assert "updateRuns of fleet shop were not read: Azure refuses with 403" in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--azure", "shop"], "is not the resource ID of a fleet"),
        (["--azure", FLEET, "--hub", "x"], "give it or --hub"),
        (["--azure", FLEET, "--context", "x"], "--context is a part of --hub"),
        (["--hub", "x", "--azure-login", "msi"], "--azure-login is a part of --azure"),
        (["--azure", FLEET, "--azure-login", "devicecode"], "Invalid value for '--azure-login'"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, args: list[str], told: str) -> None:
    result = run("observe", *args, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert told in " ".join(result.output.split())


def _kubeconfig() -> str:
    return (
        "{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: u, user: {token: t}}]}"
    )
