"""Update runs over successive updates: each takes what there is when it begins, and is over at its end."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.testing import StackState
from tests.delivery.driver import Driver, InProcess
from tests.delivery.test_staged import ALL, CANARY, GROUP, released, staged
from tests.delivery.world import KubeFleetWorld

APPROVAL = {"type": "Approval"}


@pytest.fixture
def in_process() -> InProcess[KubeFleetWorld]:
    """Successive runs of one stack, without an engine."""
    return InProcess()


def run(name: str, **spec: Any) -> dict[str, Any]:
    """An update run of the shop, in the same stages."""
    whole = {
        "placementName": "shop",
        "stagedRolloutStrategyName": "careful",
        "state": "Run",
        **spec,
    }
    return {
        "apiVersion": GROUP,
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": name},
        "spec": whole,
    }


def approved(name: str, stage: str = "canary", status: str = "True") -> dict[str, Any]:
    """An approval request, as a hub makes it and somebody has approved it."""
    condition = {
        "type": "Approved",
        "status": status,
        "reason": "lgtm",
        "message": "",
        "observedGeneration": 1,
    }
    return {
        "apiVersion": GROUP,
        "kind": "ClusterApprovalRequest",
        "metadata": {"name": f"{name}-after-{stage}"},
        "spec": {"parentStageRollout": name, "targetStage": stage},
        "status": {"conditions": [condition]},
    }


def replaced(driver: Driver[KubeFleetWorld], *runs: dict[str, Any]) -> None:
    """Other runs in the source, with the same strategy."""
    driver.world.extra = [driver.world.extra[0], *runs]


def test_a_run_that_is_over_moves_nothing_more(driver: Driver[KubeFleetWorld]) -> None:
    released(driver)
    assert driver.up().ok
    assert driver.images() == ALL
    driver.world.image = "web:3"
    seen = driver.preview()
    assert seen.changes == {}
    assert "what is selected has changed since revision 1: a new update run takes it" in seen.text
    replaced(driver, run("go"), run("next"))
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:3")
    assert driver.preview().changes == {}


@pytest.mark.long
def test_what_changes_while_a_run_goes_on_is_no_part_of_it(driver: Driver[KubeFleetWorld]) -> None:
    released(driver, APPROVAL)
    assert driver.up().ok
    driver.world.image = "web:3"
    assert "update run go does not take it, a new one does" in driver.preview().text
    driver.world.config = {"approvals": "go-after-canary"}
    assert driver.up().ok
    assert driver.images() == ALL


def test_an_approval_is_of_one_run(driver: Driver[KubeFleetWorld]) -> None:
    released(driver, APPROVAL)
    driver.world.config = {"approvals": "go-after-canary"}
    assert driver.up().ok
    assert driver.images() == ALL
    driver.world.image = "web:3"
    replaced(driver, run("next"))
    assert "approval next-after-canary is missing" in driver.preview().text
    assert driver.up().ok
    replaced(driver, run("go"))
    held = driver.preview()
    assert "approval go-after-canary was given for an earlier run of that name" in held.text
    assert driver.up().ok
    assert driver.images() == {**ALL, "a": "web:3", "b": "web:3"}


@pytest.mark.long
def test_an_accepted_approval_cannot_be_withdrawn(in_process: InProcess[KubeFleetWorld]) -> None:
    released(in_process, APPROVAL)
    in_process.world.config = {"approvals": "go-after-canary"}
    assert not in_process.up(fails="c").ok
    in_process.world.config = {}
    assert in_process.up().ok
    assert in_process.images() == ALL


def test_an_approved_request_in_the_source_opens_its_gate(driver: Driver[KubeFleetWorld]) -> None:
    released(driver, APPROVAL)
    refused = approved("go", status="False")
    driver.world.extra = [*driver.world.extra, refused]
    assert driver.up().ok
    assert driver.images() == CANARY
    driver.world.extra = [*driver.world.extra[:-1], approved("go")]
    assert driver.up().ok
    assert driver.images() == ALL
    assert driver.preview().changes == {}


def test_a_rollback_restores_exactly_what_was(driver: Driver[KubeFleetWorld]) -> None:
    released(driver)
    assert driver.up().ok
    replaced(driver, run("go"), run("undo", resourceSnapshotIndex="0"))
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:1")
    assert driver.preview().changes == {}
    replaced(
        driver,
        run("go"),
        run("undo", resourceSnapshotIndex="0"),
        run("z-again", resourceSnapshotIndex="1"),
    )
    assert driver.up().ok
    assert driver.images() == ALL


@pytest.mark.long
@pytest.mark.parametrize(
    ("index", "text"),
    [
        ("7", "no resourceSnapshots with index `7` found for placement `/shop`"),
        ("00", "no resourceSnapshots with index `0` found for placement `/shop`"),
        ("x", "invalid resource snapshot index `x` provided, expected an integer >= 0"),
    ],
)
def test_an_index_that_is_not_there_fails_the_run(
    in_process: InProcess[KubeFleetWorld], index: str, text: str
) -> None:
    released(in_process)
    replaced(in_process, run("undo", resourceSnapshotIndex=index))
    in_process.world.image = "web:2"
    assert in_process.up().ok
    assert text in in_process.preview().text
    assert in_process.images() == dict.fromkeys("abcd", "web:1")
    in_process.world.image = "web:3"
    replaced(in_process, run("undo", resourceSnapshotIndex=index), run("go"))
    assert in_process.up().ok
    assert in_process.images() == dict.fromkeys("abcd", "web:3")


@pytest.mark.long
def test_the_first_run_may_name_the_index_of_what_is_selected(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    staged(in_process)
    replaced(in_process, run("go", resourceSnapshotIndex="0"))
    assert in_process.up().ok
    assert in_process.images() == dict.fromkeys("abcd", "web:1")
    in_process.world.image = "web:2"
    replaced(in_process, run("next", resourceSnapshotIndex="1"))
    assert in_process.up().ok
    assert in_process.images() == ALL
    assert in_process.preview().changes == {}


@pytest.mark.long
def test_as_many_revisions_are_kept_as_the_placement_says(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process)
    in_process.world.spec = {"revisionHistoryLimit": 2}
    for number in range(2, 5):
        in_process.world.image = f"web:{number}"
        replaced(in_process, run(f"r{number}"))
        assert in_process.up().ok
    replaced(in_process, run("undo", resourceSnapshotIndex="1"))
    assert "no resourceSnapshots with index `1`" in in_process.preview().text
    replaced(in_process, run("undo", resourceSnapshotIndex="2"))
    assert in_process.up().ok
    assert in_process.images() == dict.fromkeys("abcd", "web:3")


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"e": {"stage": "rest"}},
            "the number of clusters in index `1` stage has changed, new: 3, existing: 2",
        ),
        (
            {"d": {"stage": "none"}},
            "some clusters are not placed in any stage, total 1, showing up to 10: d",
        ),
        (
            {"c": {"stage": "canary"}},
            "the number of clusters in index `0` stage has changed, new: 3, existing: 2",
        ),
    ],
)
def test_other_clusters_end_a_run(
    in_process: InProcess[KubeFleetWorld], change: dict[str, Any], text: str
) -> None:
    released(in_process, APPROVAL)
    assert in_process.up().ok
    in_process.world.members |= change
    in_process.world.config = {"approvals": "go-after-canary"}
    seen = in_process.preview()
    assert "update run go has failed: cannot continue the updateRun: " in seen.text
    assert text in seen.text
    assert in_process.up().ok
    assert {name: image for name, image in in_process.images().items() if name in "abcd"} == CANARY
    replaced(in_process, run("go"))
    assert in_process.up().ok
    assert {name: image for name, image in in_process.images().items() if name in "abcd"} == CANARY


@pytest.mark.long
def test_a_newer_run_takes_the_clusters_over(in_process: InProcess[KubeFleetWorld]) -> None:
    released(in_process, APPROVAL)
    assert in_process.up().ok
    replaced(in_process, run("go"), run("undo", resourceSnapshotIndex="0"))
    in_process.world.config = {"approvals": "undo-after-canary,go-after-canary"}
    assert in_process.up().ok
    assert in_process.images() == dict.fromkeys("abcd", "web:1")
    assert in_process.preview().changes == {}


@pytest.mark.long
def test_of_several_new_runs_the_last_one_by_name_counts(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process)
    replaced(in_process, run("early"), run("late"))
    seen = in_process.preview().text
    assert "update run early fails: cannot continue the updateRun: " in seen
    assert "update run late of the same placement counts from now on" in seen
    assert in_process.up().ok
    assert in_process.images() == ALL
    assert "update run early fails" not in in_process.preview().text


@pytest.mark.long
def test_a_run_takes_its_content_when_it_is_initialized(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process)
    replaced(in_process, run("go", state="Initialize"))
    assert "update run go has state Initialize; Run lets it go on" in in_process.preview().text
    assert in_process.up().ok
    in_process.world.image = "web:3"
    replaced(in_process, run("go"))
    assert in_process.up().ok
    assert in_process.images() == ALL


def test_an_update_that_breaks_leaves_the_run_going_on(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process)
    assert not in_process.up(fails="c").ok
    in_process.world.image = "web:3"
    assert in_process.up().ok
    assert in_process.images() == ALL


@pytest.mark.long
def test_a_run_and_its_strategy_may_be_taken_out_once_it_is_over(
    driver: Driver[KubeFleetWorld],
) -> None:
    released(driver)
    assert driver.up().ok
    driver.world.extra = [driver.world.extra[1]]
    assert driver.preview().changes.keys() <= {"Placement shop"}  # which shows the stages
    driver.world.extra = []
    assert driver.up().ok
    assert driver.images() == ALL


@pytest.mark.long
def test_a_placement_is_staged_from_its_first_member_on(driver: Driver[KubeFleetWorld]) -> None:
    staged(driver, APPROVAL)
    assert driver.up().ok
    assert driver.images() == {"a": "web:1", "b": "web:1"}


@pytest.mark.long
def test_a_wait_begins_with_its_run_even_where_nothing_moves(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process, {"type": "TimedWait", "waitTime": "2h"})
    in_process.world.config = {"asOf": "2026-05-01T10:00:00Z"}
    assert in_process.up().ok
    assert in_process.images() == CANARY
    replaced(in_process, run("next"))
    in_process.world.config = {"asOf": "2026-05-01T13:00:00Z"}
    assert "until 2026-05-01T15:00:00+00:00" in in_process.preview().text
    assert in_process.up().ok
    assert in_process.images() == CANARY
    in_process.world.config = {"asOf": "2026-05-01T14:00:00Z"}
    assert in_process.preview().changes == {}
    in_process.world.config = {"asOf": "2026-05-01T15:00:00Z"}
    assert in_process.up().ok
    assert in_process.images() == ALL


@pytest.mark.long
def test_an_approval_that_was_not_used_goes_with_its_run(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process, APPROVAL)
    assert in_process.up().ok
    in_process.world.config = {"approvals": "go-after-canary"}
    replaced(in_process)
    assert in_process.up().ok
    in_process.world.image = "web:3"
    replaced(in_process, run("go"))
    assert (
        "approval go-after-canary was given for an earlier run of that name"
        in in_process.preview().text
    )
    assert in_process.up().ok
    assert in_process.images() == {**CANARY, "a": "web:3", "b": "web:3"}
    in_process.world.config = {}
    assert in_process.up().ok
    in_process.world.config = {"approvals": "go-after-canary"}
    assert in_process.up().ok
    assert in_process.images() == dict.fromkeys("abcd", "web:3")


@pytest.mark.long
def test_a_run_goes_on_where_a_member_could_not_be_left(
    in_process: InProcess[KubeFleetWorld],
) -> None:
    released(in_process)
    assert in_process.up().ok
    in_process.world.members["d"] = {"stage": "rest", "ends": "today"}
    term = {"labelSelector": {"matchExpressions": [{"key": "ends", "operator": "DoesNotExist"}]}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [term]}}
    in_process.world.policy = {
        "placementType": "PickAll",
        "affinity": {"clusterAffinity": required},
    }
    replaced(in_process, run("go"), run("next"))
    stood = in_process.state
    assert in_process.up().ok
    assert in_process.images().keys() == set("abc")
    in_process.state = _with_what_stood_on(in_process.state, stood, "d")
    assert in_process.images().keys() == set("abcd")
    assert in_process.up().ok
    assert in_process.images().keys() == set("abc")
    assert in_process.preview().changes == {}


def _with_what_stood_on(state: StackState, before: StackState, member: str) -> StackState:
    """The state after an update that could not delete what is on one member."""
    left = (resource for resource in before.resources.values() if f"@{member}" in resource.name)
    return StackState.of([*state.resources.values(), *left])
