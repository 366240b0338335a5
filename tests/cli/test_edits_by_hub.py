"""``fleet rollback``, ``drain`` and ``approve`` of what goes through a hub: files change, and a forecast is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_components.hub.folder.writing import write_observation
from fleet_components.testing import kubeconfig
from tests.cli.fleets import run
from tests.delivery.driver import InProcess
from tests.delivery.test_staged import staged
from tests.delivery.world import KubeFleetWorld
from tests.hub.folder.hubs import observed

FORECAST = "forecast of the hub of KubeFleet"


@pytest.fixture
def driver() -> InProcess:
    world = KubeFleetWorld(members={name: {} for name in "abc"})
    world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    world.config = {"delivery": "kubefleet", "kubeconfigs": None, "hub": kubeconfig("hub")}
    return InProcess(world)


def written(driver: InProcess, folder: Path) -> Path:
    """Write what the user has written, and the state of the stack beside it."""
    driver.world.write(folder / "fleet")
    resources = [
        {
            "urn": resource.urn,
            "type": resource.type,
            "custom": True,
            "inputs": dict(resource.inputs),
            "outputs": dict(resource.outputs),
        }
        for resource in driver.state.resources.values()
    ]
    (folder / "state.json").write_text(
        json.dumps({"version": 3, "deployment": {"resources": resources}})
    )
    return folder / "fleet"


def told(command: str, name: str, folder: Path, *args: object) -> Any:
    return run(command, name, folder, "--state", folder.parent / "state.json", *args)


def test_a_rollback_changes_the_files_and_shows_the_forecast(
    driver: InProcess, tmp_path: Path
) -> None:
    assert driver.up().ok
    driver.world.image = "web:2"
    assert driver.up().ok
    folder = written(driver, tmp_path)
    done = told("rollback", "shop", folder, "--to", 0, "--write")
    assert done.exit_code == 0, done.output
    assert FORECAST in done.output
    assert "image: web:1" in (folder / "fleet.yaml").read_text()


def test_a_drain_changes_the_files_and_shows_the_forecast(
    driver: InProcess, tmp_path: Path
) -> None:
    assert driver.up().ok
    folder = written(driver, tmp_path)
    done = told("drain", "b", folder, "--write")
    assert done.exit_code in (0, 3), done.output
    assert FORECAST in done.output
    assert "ClusterResourcePlacement/shop: leaves: a gets it" in done.output
    assert "key: drained" in (folder / "fleet.yaml").read_text()


def test_a_rollback_in_stages_says_that_the_hub_counts_snapshots_itself(
    driver: InProcess, tmp_path: Path
) -> None:
    assert driver.up().ok
    staged(driver)
    driver.world.image = "web:2"
    assert driver.up().ok
    folder = written(driver, tmp_path)
    done = told("rollback", "shop", folder, "--to", 0, "--write")
    assert done.exit_code == 0, done.output
    assert FORECAST in done.output
    assert 'resourceSnapshotIndex: "0"' in (folder / "shop-rollback-0.yaml").read_text()
    words = " ".join(done.output.split())
    assert "the hub counts its snapshots itself: see that its number 0 has this content" in words
    assert (
        "kubectl get clusterresourcesnapshots -l kubernetes-fleet.io/parent-CRP=shop -o yaml"
        in words
    )


def test_an_approval_names_the_command_that_gives_it_on_the_hub(
    driver: InProcess, tmp_path: Path
) -> None:
    driver.world.policy = {"placementType": "PickAll"}
    staged(driver, {"type": "Approval"})
    write_observation(tmp_path / "hub", observed(driver.world.documents()), update=False)
    done = run("approve", tmp_path / "hub", "go-after-canary")
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "fleet approve --hub KUBECONFIG go-after-canary --write gives it there" in words
