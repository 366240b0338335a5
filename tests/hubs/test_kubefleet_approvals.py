"""``fleet approve --hub`` on a real KubeFleet hub: the update run that has asked goes on."""

from __future__ import annotations

import json

import pytest

from fleet_components.live.approvals import hub_approvals
from tests.cli.fleets import run
from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub
from tests.hubs.placements import PLACING, config, made, namespace, placement
from tests.hubs.processes import until
from tests.hubs.story import Story

pytestmark = pytest.mark.hubs


def test_a_run_goes_on_once_it_is_approved(story: Story, fleet: KubeFleetHub) -> None:
    stages: list[Document] = [
        {
            "name": "first",
            "labelSelector": {"matchLabels": {"ring": "1"}},
            "afterStageTasks": [{"type": "Approval"}],
        },
        {"name": "rest", "labelSelector": {"matchLabels": {"ring": "2"}}},
    ]
    stages = [{**stage, "maxConcurrency": "100%"} for stage in stages]
    strategy = made(PLACING, "ClusterStagedUpdateStrategy", "rings") | {"spec": {"stages": stages}}
    placed = placement("approved", strategy={"type": "External"})
    story.begin(namespace("approved"), config("c", "approved", a="1"), strategy, placed)
    spec = {"placementName": "approved", "stagedRolloutStrategyName": "rings", "state": "Run"}
    fleet.apply([made(PLACING, "ClusterStagedUpdateRun", "one") | {"spec": spec}])
    file, name = fleet.hub.kubeconfig, "one-after-first"
    until(
        lambda: any(approval.name == name for approval in hub_approvals(file.read_text(), 30)),
        "asked",
        90,
    )

    listed = run("approve", "--hub", str(file))
    assert listed.exit_code == 0, listed.output
    assert (
        f"{name}: stage first of run one, which rolls out approved: stage rest begins: east, north get"
        in listed.stdout
    )
    assert [fleet.members[item].get("cm", "c", "-n", "approved") for item in ("east", "north")] == [
        None,
        None,
    ]
    given = run("approve", "--hub", str(file), name, "--write")
    assert given.exit_code == 0, given.output
    until(lambda: "UpdateRunSucceeded" in text(fleet), "ended", 90)
    assert all(plane.get("cm", "c", "-n", "approved") for plane in fleet.members.values())
    again = run("approve", "--hub", str(file), name, "--write")
    assert again.exit_code == 1
    assert f"{name}: was given, and the run has gone on" in again.stderr


def text(fleet: KubeFleetHub) -> str:
    """The update run as text."""
    return json.dumps(fleet.hub.get("clusterstagedupdaterun", "one"))
