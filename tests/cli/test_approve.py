"""``fleet approve``: the objects that it writes, and what it says that they let happen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.fleets import plan, run
from tests.cli.test_rollback import told
from tests.delivery.driver import InProcess
from tests.delivery.test_staged import GROUP, staged

NAME = "go-after-canary"


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Two stages, of which the first one runs and the second one waits for an approval."""
    driver = InProcess()
    staged(driver, {"type": "Approval"})
    driver.world.write(tmp_path / "fleet")
    told(tmp_path / "fleet", tmp_path / "state.json")
    return tmp_path / "fleet"


def approved(folder: Path, *args: object) -> Any:
    return run("approve", folder, *args, "--state", folder.parent / "state.json")


def test_it_lists_what_is_asked_for(fleet: Path) -> None:
    assert (
        approved(fleet).stdout
        == f"{NAME}: c, d wait for it (ClusterResourcePlacement/shop, stage canary)\n"
    )
    assert run("plan", fleet, "--strict").exit_code == 0


def test_it_writes_an_approved_request_and_says_what_moves(fleet: Path) -> None:
    shown = approved(fleet, NAME)
    assert shown.exit_code == 0, shown.output
    assert "ClusterResourcePlacement/shop: stage rest of go: revision 0: c, d\n" in shown.output
    assert f"+  name: {NAME}" in shown.output
    file = fleet / "approvals" / f"{NAME}.yaml"
    assert not file.exists()
    done = approved(fleet, NAME, "--write", "--strict")
    assert done.exit_code == 0, done.output
    assert yaml.safe_load(file.read_text()) == {
        "apiVersion": GROUP,
        "kind": "ClusterApprovalRequest",
        "metadata": {"name": NAME},
        "spec": {"parentStageRollout": "go", "targetStage": "canary"},
        "status": {
            "conditions": [
                {
                    "type": "Approved",
                    "status": "True",
                    "reason": "ApprovedByPullRequest",
                    "message": "approved in the source of the fleet",
                }
            ]
        },
    }
    planned = run("plan", fleet, "--state", fleet.parent / "state.json")
    assert planned.output in done.output
    (subject,) = plan(fleet, "--state", fleet.parent / "state.json")["subjects"]
    assert {item["name"] for item in subject["clusters"] if item["change"] == "joins"} == {"c", "d"}
    again = approved(fleet, NAME)
    assert f"{NAME} is given already\n" in again.output
    assert "no file has to change" in again.output
    assert approved(fleet).stdout == "no approval is asked for\n"


def test_a_request_of_a_hub_is_approved_where_it_is(fleet: Path) -> None:
    request = f"""\
# exported
apiVersion: {GROUP}
kind: ClusterApprovalRequest
metadata: {{name: {NAME}}}
spec: {{parentStageRollout: go, targetStage: canary}}  # by the hub
"""
    (fleet / "request.yaml").write_text(request)
    assert approved(fleet, NAME, "--write").exit_code == 0
    text = (fleet / "request.yaml").read_text()
    assert text.startswith("# exported\n")
    assert "# by the hub\n" in text
    assert "type: Approved" in text
    assert not (fleet / "approvals").exists()
    assert approved(fleet).stdout == "no approval is asked for\n"


def test_a_name_that_nobody_asks_for_is_refused_with_the_one_that_was_meant(fleet: Path) -> None:
    result = approved(fleet, "go-after-canry", NAME, "--write")
    assert result.exit_code == 1
    assert result.stderr == (
        'error: no update run asks for the approval "go-after-canry"\n'
        f"  hint: did you mean {NAME}? asked for is: {NAME}\n"
    )
    assert not (fleet / "approvals").exists()
    assert run("approve", fleet.parent / "none", NAME).exit_code == 1


def test_a_run_in_a_namespace_is_named_with_it(tmp_path: Path) -> None:
    driver = InProcess()
    staged(driver, {"type": "Approval"})
    driver.world.write(tmp_path / "fleet")
    file = tmp_path / "fleet" / "fleet.yaml"
    objects = []
    for item in yaml.safe_load_all(file.read_text()):
        kind = item["kind"].removeprefix("Cluster")
        if kind in ("ResourcePlacement", "StagedUpdateStrategy", "StagedUpdateRun"):
            item = {
                **item,
                "kind": kind,
                "metadata": {"name": item["metadata"]["name"], "namespace": "shop"},
            }
        if kind == "ResourcePlacement":
            workload = {"group": "apps", "version": "v1", "kind": "Deployment", "labelSelector": {}}
            item["spec"]["resourceSelectors"] = [workload]
        objects.append(item)
    file.write_text(yaml.safe_dump_all(objects))
    listed = run("approve", tmp_path / "fleet")
    assert (
        listed.stdout
        == f"shop/{NAME}: c, d wait for it (ResourcePlacement/shop/shop, stage canary)\n"
    )
    assert run("approve", tmp_path / "fleet", NAME).exit_code == 1
    done = run("approve", tmp_path / "fleet", f"shop/{NAME}", "--write")
    assert "ResourcePlacement/shop/shop: stage rest of go: revision 0: c, d\n" in done.output
    written = yaml.safe_load((tmp_path / "fleet" / "approvals" / f"{NAME}.yaml").read_text())
    assert (written["kind"], written["metadata"]) == (
        "ApprovalRequest",
        {"name": NAME, "namespace": "shop"},
    )


def test_a_fleet_in_one_file_gets_its_approval_there(fleet: Path) -> None:
    file = fleet / "fleet.yaml"
    before = file.read_text()
    assert run("approve", file, NAME, "--write").exit_code == 0
    assert file.read_text().startswith(before)
    assert run("approve", file).stdout == "no approval is asked for\n"
