"""Commands on a stack whose placements go through a hub: what it does needs no further updates, and is not claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_components.testing import kubeconfig
from tests.cli.fleets import run
from tests.cli.test_rollout import driven, project, rolled_out
from tests.delivery.driver import InProcess
from tests.delivery.test_staged import released
from tests.delivery.world import KubeFleetWorld
from tests.status.stacks import Stack

__all__ = ["project"]
SAID = "what goes through the hub is carried out there, without further updates: fleet status . --stack stack --hub KUBE"


@pytest.fixture
def driver() -> InProcess:
    """Two stages of which the second waits for an approval, on a hub."""
    driver = InProcess(
        KubeFleetWorld(
            config={"delivery": "kubefleet", "kubeconfigs": None, "hub": kubeconfig("hub")}
        )
    )
    released(driver, {"type": "Approval"})
    return driver


def test_one_update_tells_the_hub_everything(project: Path, driver: InProcess) -> None:
    told = driven(driver)
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    assert lines[-4:-1] == [
        "update 1 of 1: what the hub carries out goes to it",
        "update 1 of 1: done",
        "nothing is left for updates to do after 1 update",
    ]
    assert lines[-1].startswith(SAID)
    assert "left: approval go-after-canary is needed on the hub" in told.stdout
    again = driven(driver)
    assert again.stdout.splitlines()[0] == "nothing is left for updates to do"


def test_what_the_hub_has_left_is_nothing_for_updates(project: Path, driver: InProcess) -> None:
    driver.world.strategy = {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    driver.world.extra = []
    status, document = rolled_out(driver, "--detailed-exitcode")
    assert (status, document["ending"]) == (0, "done"), document
    assert len(document["updates"]) == 1
    assert document["remaining"] == {
        "updates": 0,
        "endless": False,
        "approvals": [],
        "waits": [],
        "held": [],
        "words": None,
    }
    assert document["updates"][0]["members"] == {"done": [], "failed": [], "begun": [], "ahead": []}


def test_a_member_that_is_drained_is_forecast(project: Path, driver: InProcess) -> None:
    assert driven(driver).exit_code == 0
    Stack(driver).write(project)
    told = run("drain", "a", "fleet", "--state", "state.json")
    assert told.exit_code == 0, told.output
    assert "forecast of the hub of KubeFleet" in told.stdout


def test_drift_says_that_the_hub_looks_after_it(project: Path, driver: InProcess) -> None:
    assert driven(driver).exit_code == 0
    Stack(driver).write(project)
    told = run("drift", "fleet", "--state", "state.json")
    assert told.exit_code == 0, told.output
    assert (
        told.stderr
        == "not asked for: ClusterResourcePlacement/shop, which a hub looks after: fleet status --hub\n"
    )
