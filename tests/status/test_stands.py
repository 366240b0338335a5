"""What ``fleet status`` calls a member: what waits for an approval, is missing, is left over or was not deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components.plan.state import StackState
from tests.cli.fleets import run
from tests.delivery.driver import InProcess
from tests.delivery.test_staged import staged
from tests.delivery.world import KubeFleetWorld
from tests.status.stacks import Stack, broke

APPROVAL = "approval go-after-canary is missing"
MISSING = 'deployments.apps "web" not found'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def status(stack: Stack, folder: Path, *options: str) -> Any:
    """The screen, with an exit status that says whether all is as decided."""
    stack.write(folder)
    events = ("--events", "events.jsonl") if len(stack.events) > 1 else ()
    return run("status", "fleet", "--state", "state.json", *events, "--detailed-exitcode", *options)


def settled() -> Stack:
    driver = InProcess(KubeFleetWorld(members={name: {} for name in "abc"}))
    assert driver.up().ok
    return Stack(driver)


def test_what_waits_for_an_approval_is_held(folder: Path) -> None:
    driver = InProcess(KubeFleetWorld())
    assert driver.up().ok
    staged(driver, {"type": "Approval"})
    driver.world.image = "web:2"
    assert driver.up().ok
    found = status(Stack(driver), folder)
    assert found.exit_code == 2
    assert f"2 available, 2 held: {APPROVAL}" in found.stdout
    assert "2 of 4 as decided" in found.stdout
    rows = status(Stack(driver), folder, "--by", "member").stdout
    assert rows.count(APPROVAL) == 2
    assert run("status", "fleet", "--state", "state.json", "--strict").exit_code == 3
    driver.world.config = {"approvals": "go-after-canary"}
    assert driver.up().ok
    assert status(Stack(driver), folder).exit_code == 0


def test_a_new_placement_waits_for_an_approval(folder: Path) -> None:
    """Members that have nothing of it yet are held, too."""
    driver = InProcess(KubeFleetWorld())
    staged(driver, {"type": "Approval"})
    assert driver.up().ok
    assert driver.images().keys() == set("ab")
    found = status(Stack(driver), folder)
    assert found.exit_code == 2
    assert f"2 available, 2 held: {APPROVAL}" in found.stdout
    listed = json.loads(status(Stack(driver), folder, "-o", "json").stdout)
    (run,) = (item for item in listed["items"] if item["kind"] == "ClusterStagedUpdateRun")
    stages = {stage["stageName"]: stage for stage in run["status"]["stagesStatus"]}
    assert [cluster["clusterName"] for cluster in stages["canary"]["clusters"]] == ["a", "b"]
    assert "conditions" not in stages["rest"]


def test_without_an_update_run_members_stay_as_decided(folder: Path) -> None:
    driver = InProcess(KubeFleetWorld(strategy={"type": "External"}))
    staged(driver)
    assert driver.up().ok
    driver.world.extra, driver.world.image = [], "web:2"
    assert driver.up().ok
    assert status(Stack(driver), folder).exit_code == 0


def test_an_object_that_a_refresh_did_not_find_is_missing(folder: Path) -> None:
    stack = settled()
    gone = stack.deployment("b")
    left = {urn: resource for urn, resource in stack.driver.state.resources.items() if urn != gone}
    stack.driver.state = StackState(left)
    found = status(stack, folder)
    assert found.exit_code == 2
    text = " ".join(found.stdout.split())
    assert (
        "Deployment shop/web on b is missing the state does not have it any more, as after a refresh"
        in text
    )
    assert "next: pulumi up begins with b" in text
    assert "mend: pulumi up --refresh brings back what somebody has deleted" in text
    assert "2 of 3 as decided" in text


def test_an_update_of_an_object_that_is_gone_from_its_member(folder: Path) -> None:
    """The engine says so in its events alone; the way on is a refresh."""
    stack = broke()
    stack.said("b", f"update of resource shop/web failed: {MISSING}")
    text = " ".join(status(stack, folder).stdout.split())
    assert f"Deployment shop/web on b is missing {MISSING}" in text
    assert "mend: pulumi up --refresh brings back what somebody has deleted" in text


def test_where_nobody_says_why_a_refresh_may_help(folder: Path) -> None:
    text = " ".join(status(broke(), folder).stdout.split())
    assert "the state does not say why" in text
    assert "pulumi up --refresh brings back what somebody has deleted there" in text


def test_another_object_that_is_not_found_is_no_missing_one(folder: Path) -> None:
    stack = broke()
    stack.said("b", 'update of resource shop/web failed: namespaces "shop" not found')
    text = status(stack, folder).stdout
    assert "is missing" not in text
    assert "--refresh" not in text


def test_what_was_deleted_to_be_replaced_is_gone(folder: Path) -> None:
    stack = broke()
    stack.gone = ["b"]
    found = status(stack, folder)
    assert found.exit_code == 2
    text = " ".join(found.stdout.split())
    assert (
        "it is gone: it was deleted to be replaced and not created; the next update creates it"
        in text
    )
    assert "next: pulumi up begins with b" in text


def leftover() -> Stack:
    """A stack whose last update was to delete a ConfigMap at its end, which it did not reach."""
    extra = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "more", "namespace": "shop"},
    }
    driver = InProcess(
        KubeFleetWorld(members={name: {} for name in "abc"}, extra=[{**extra, "data": {"a": "b"}}])
    )
    assert driver.up().ok
    before = driver.state.resources
    driver.world.extra = []
    assert driver.up().ok
    left = {urn: item for urn, item in before.items() if urn not in driver.state.resources}
    assert len(left) == 3
    driver.state = attrs.evolve(driver.state, resources={**driver.state.resources, **left})
    return Stack(driver)


def test_what_was_to_be_deleted_and_stands_is_leaving(folder: Path) -> None:
    found = status(leftover(), folder)
    assert found.exit_code == 2
    text = " ".join(found.stdout.split())
    assert (
        "3 leaving: some of its objects are not wanted any more; the next update deletes them"
        in text
    )
    assert "0 of 3 as decided" in text


def test_a_deletion_that_failed_is_not_as_decided(folder: Path) -> None:
    stack = leftover()
    urn = next(urn for urn in stack.driver.state.resources if urn.endswith("@b/shop/more"))
    words = 'configmaps "more" is forbidden: ValidatingAdmissionPolicy denied request: it stays'
    metadata = {"op": "delete", "urn": urn}
    stack.events += [
        {"resourcePreEvent": {"metadata": metadata}},
        {"diagnosticEvent": {"urn": urn, "severity": "error", "message": f"{words}\n"}},
        {"resOpFailedEvent": {"metadata": metadata}},
        {"summaryEvent": {"result": "failed"}},
    ]
    found = status(stack, folder)
    assert found.exit_code == 2
    text = " ".join(found.stdout.split())
    assert "ConfigMap shop/more on b was not deleted" in text
    assert words in text
    assert "mend: see what keeps it: a finalizer, a webhook, an admission policy" in text
    assert "pulumi up deletes ConfigMap shop/more on a" in text


def test_a_killed_deletion_is_not_as_decided(folder: Path) -> None:
    stack = leftover()
    urn = next(urn for urn in stack.driver.state.resources if urn.endswith("@b/shop/more"))
    source, state, _ = stack.write(folder)
    export = stack.export()
    export["deployment"]["pending_operations"] = [{"resource": {"urn": urn}, "type": "deleting"}]
    state.write_text(json.dumps(export))
    found = run("status", str(source), "--state", "state.json", "--detailed-exitcode")
    assert found.exit_code == 2
    text = " ".join(found.stdout.split())
    assert "ConfigMap shop/more on b was not deleted" in text
    assert "the next update deletes it again" in text


@pytest.mark.parametrize(
    ("where", "absent", "said"),
    [("shop/web", False, False), ("shop/web", True, True), ("shop/other", False, False)],
    ids=["the state has it by now", "it is still to come", "nobody wants it any more"],
)
def test_the_note_of_a_killed_creation_outlives_later_updates(
    folder: Path, where: str, absent: bool, said: bool
) -> None:
    """It tells of the last update only if the object is still to come."""
    stack = broke()
    assert stack.driver.up().ok
    source, state, _ = stack.write(folder)
    export = stack.export()["deployment"]
    urn = stack.deployment("b")
    note = {"resource": {"urn": urn.replace("shop/web", where)}, "type": "creating"}
    kept = [item for item in export["resources"] if not (absent and item["urn"] == urn)]
    state.write_text(
        json.dumps({"version": 3, "deployment": {"resources": kept, "pending_operations": [note]}})
    )
    found = run("status", str(source), "--state", "state.json", "--detailed-exitcode")
    assert found.exit_code == (2 if said else 0), found.stdout
    assert ("the last update was killed" in found.stdout) is said
    planned = run("plan", str(source), "--state", "state.json", "-o", "json").stdout
    contents = [entry for load in json.loads(planned)["subjects"] for entry in load["content"]]
    assert bool(contents) is said
