"""Each kind of hub with members of every form comes through every door that runs or plans a program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import set_mocks
from pulumi.runtime.settings import set_root_resource
from pulumi.runtime.stack import run_in_stack

from fleet_components import Fleet
from fleet_components.azure import AzureFleet, AzureFleetArgs
from fleet_components.testing import FleetMocks, run_program
from fleet_components.testing.azure import resource_id
from fleet_components.testing.mocks import computed
from fleet_components.testing.program import end_loop, reset_runtime
from tests.azure.forms import HUBS, IDENTITY, MEMBERS, write_fleet
from tests.azure.world import SdkMonitor
from tests.cli.fleets import SHOP, export, plan, run, write

pytestmark = pytest.mark.long

PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors:
  - {group: "", version: v1, kind: Namespace, name: shop}
"""
PROGRAM = """\
import pulumi
from fleet_components import Fleet

fleet = Fleet.from_config("shop")
"""
MAP_OF_IDENTITIES = "userAssignedIdentities"


@pytest.fixture(params=HUBS)
def declared(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The directory of a fleet with a placement on all of its members."""
    return write(
        write_fleet(tmp_path / "fleet", request.param),
        {"shop.yaml": SHOP, "placement.yaml": PLACEMENT},
    )


@pytest.fixture
def project(declared: Path) -> Path:
    files = {
        "Pulumi.yaml": "name: web\nruntime: python\n",
        "__main__.py": PROGRAM,
        "Pulumi.dev.yaml": f"config:\n  fleet:source: {declared}\n",
    }
    return write(declared.parent / "project", files)


@pytest.mark.parametrize("preview", [True, False])
def test_run_program(declared: Path, preview: bool) -> None:
    done = run_program(lambda: make(declared), preview=preview)
    assert done.error is None, done.error
    # What an output was made of is still there as it was given.
    cluster = done.inputs("identity-cluster", "ManagedCluster")
    assert cluster["identity"][MAP_OF_IDENTITIES] == [IDENTITY]
    again = run_program(lambda: make(declared), state=done.state(), preview=preview)
    assert again.error is None, again.error
    assert again.state() == done.state()


def test_the_mocks_of_a_user(declared: Path, loop: asyncio.AbstractEventLoop) -> None:
    """They serve any monitor, that of the SDK among them."""
    seen: dict[str, Any] = {}

    def program() -> None:
        for name, member in make(declared).members.items():
            member.kubeconfig.apply(partial(seen.__setitem__, name))

    monitor = SdkMonitor(FleetMocks())
    set_mocks(monitor.mocks, preview=False, monitor=monitor)
    set_root_resource(None)  # type: ignore[arg-type]
    loop.run_until_complete(run_in_stack(program))
    assert seen.keys() == {member["name"] for member in MEMBERS}
    assert all("clusters" in text for text in seen.values())


def test_components_that_are_made_before_a_loop_runs(
    declared: Path, loop: asyncio.AbstractEventLoop
) -> None:
    """As in a unit test whose modules make them while they are imported."""
    monitor = SdkMonitor(FleetMocks())
    set_mocks(monitor.mocks, preview=False, monitor=monitor)
    kubeconfigs = pulumi.Output.all(**make(declared).kubeconfigs)
    found = loop.run_until_complete(kubeconfigs.future())
    assert found is not None
    assert found.keys() == {member["name"] for member in MEMBERS}


@pytest.mark.parametrize(
    "words", [("plan", "-o", "json"), ("explain",)], ids=lambda words: words[0]
)
def test_a_directory(declared: Path, words: tuple[str, ...]) -> None:
    assert run(words[0], declared, *words[1:]).exit_code == 0


def test_a_render(declared: Path, tmp_path: Path) -> None:
    result = run("render", declared, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output


def test_a_project(project: Path, tmp_path: Path) -> None:
    document = plan(project)
    assert document["members"] == len(MEMBERS)
    assert {item["change"] for item in document["resources"]} == {"create"}
    for words in (("explain", project), ("render", project, "--out", tmp_path / "out")):
        result = run(*words)
        assert result.exit_code == 0, result.output


def test_a_project_that_stands(project: Path, declared: Path, tmp_path: Path) -> None:
    """What Azure returned stands in the state in Azure's form: of identities a map."""

    document = plan(project, "--state", saved(declared, tmp_path))
    assert {
        item["name"]: item["differences"]
        for item in document["resources"]
        if item["change"] != "same"
    } == {}


def make(declared: Path) -> AzureFleet:
    return AzureFleet.from_file("shop", declared, AzureFleetArgs())


def saved(declared: Path, folder: Path) -> Path:
    """The export of the stack after an update, with outputs as Azure gives them."""
    config = {"fleet:source": str(declared)}
    done = run_program(
        lambda: Fleet.from_config("shop"), project="web", stack="dev", config=config, preview=False
    )
    assert done.error is None, done.error
    data = export(done, encrypted=True)
    for item in data["deployment"]["resources"]:
        name = item["urn"].rpartition("::")[2]
        item["id"] = resource_id(item["type"], name, item.get("inputs", {})) or item.get("id", "")
        item["outputs"] = {
            **item.get("outputs", {}),
            **computed(item["type"], name, item.get("outputs", {})),
        }
        identity = item["outputs"].get("identity") or {}
        if MAP_OF_IDENTITIES in identity:
            ids = identity[MAP_OF_IDENTITIES]
            identity[MAP_OF_IDENTITIES] = {
                each: {"principalId": "p", "clientId": "c"} for each in ids
            }
    file = folder / "state.json"
    file.write_text(json.dumps(data))
    return file


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    reset_runtime()
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield made
    end_loop(made)
