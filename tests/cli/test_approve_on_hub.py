"""``fleet approve --hub``: what a hub waits for, what comes of an approval, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fleets import run
from tests.live.api_server import CANARY, Api, api_server, refuses, send

VERSION = "placement.kubernetes-fleet.io/v1"
ROOT = f"/apis/{VERSION}"
REQUESTS, RUNS = f"{ROOT}/clusterapprovalrequests", f"{ROOT}/clusterstagedupdateruns"
STATUS = f"PATCH {REQUESTS}/go-after-canary/status"
APPROVED = {"type": "Approved", "status": "True", "observedGeneration": 1}


@pytest.fixture
def hub() -> Iterator[Api]:
    with api_server() as api:
        names = {
            "clusterapprovalrequests": "ClusterApprovalRequest",
            "clusterapprovalrequests/status": "ClusterApprovalRequest",
            "clusterstagedupdateruns": "ClusterStagedUpdateRun",
        }
        api.objects[ROOT] = {
            "resources": [
                {"name": name, "kind": kind, "namespaced": False} for name, kind in names.items()
            ]
        }
        api.lists[RUNS] = [update_run()]
        api.lists[REQUESTS] = [request("go-after-canary", "canary")]
        Path("hub.kubeconfig").write_text(api.kubeconfig())
        yield api


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def takes(handler: BaseHTTPRequestHandler) -> None:
    """Take a change."""
    send(handler, 200, {})


def request(name: str, stage: str, *conditions: Any, **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "generation": 1, "resourceVersion": "7", **metadata},
        "spec": {"parentStageRollout": "go", "targetStage": stage},
        "status": {"conditions": list(conditions)},
    }


def update_run(*conditions: Any, state: str = "Run") -> dict[str, Any]:
    task = {"type": "Approval", "approvalRequestName": "go-after-canary"}
    stages = [
        {"stageName": "canary", "clusters": [{"clusterName": "a"}], "afterStageTaskStatus": [task]},
        {"stageName": "none", "clusters": []},
        {
            "stageName": "prod",
            "clusters": [{"clusterName": "b"}, {"clusterName": "c"}],
            "beforeStageTaskStatus": [
                {"type": "Approval", "approvalRequestName": "go-before-prod"}
            ],
        },
    ]
    status = {
        "conditions": list(conditions),
        "stagesStatus": stages,
        "resourceSnapshotIndexUsed": "3",
    }
    spec = {"placementName": "shop", "state": state}
    return {"metadata": {"name": "go"}, "spec": spec, "status": status}


def approve(*args: str, status: int = 0) -> str:
    done = run("approve", "--hub", "hub.kubeconfig", *args)
    assert done.exit_code == status, done.output
    assert CANARY not in done.output
    return str(done.stderr if status else done.stdout)


def test_it_lists_what_is_waited_for_and_what_then_happens(hub: Api) -> None:
    assert approve() == (
        "go-after-canary: stage canary of run go, which rolls out shop: then stage prod asks for go-before-prod; "
        "stage prod begins: b, c get snapshot 3 of the hub\n"
    )


def test_nothing_is_approved_without_write(hub: Api) -> None:
    assert approve("go-after-canary").endswith("not approved, without --write\n")
    assert {method for method, _ in hub.asked} == {"GET"}


def test_it_is_approved_for_the_generation_that_was_read(hub: Api) -> None:
    hub.answers[STATUS] = takes
    assert approve("go-after-canary", "--write").endswith("approved on the hub: go-after-canary\n")
    (patch,) = hub.bodies
    (condition,) = patch["status"]["conditions"]
    assert condition.items() >= APPROVED.items()
    assert patch["metadata"] == {"resourceVersion": "7"}


def test_an_approval_of_another_generation_does_not_count(hub: Api) -> None:
    stale = {**APPROVED, "observedGeneration": 2}
    other = {"type": "Seen", "status": "True"}
    hub.lists[REQUESTS] = [request("go-after-canary", "canary", stale, other)]
    hub.answers[STATUS] = takes
    assert "approved on the hub" in approve("go-after-canary", "--write")
    assert [body["type"] for body in hub.bodies[0]["status"]["conditions"]] == ["Seen", "Approved"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (request("go-after-canary", "canary", APPROVED), "go-after-canary: is given already"),
        (
            request(
                "go-after-canary",
                "canary",
                APPROVED,
                {"type": "ApprovalAccepted", "status": "True"},
            ),
            "go-after-canary: was given, and the run has gone on",
        ),
        (
            request("go-after-canary", "canary", deletionTimestamp="2026-01-01T00:00:00Z"),
            "is being deleted",
        ),
        (
            request("go-after-test", "test"),
            'no update run of the hub asks for the approval "go-after-canary"',
        ),
    ],
)
def test_what_is_not_waited_for_is_refused(found: dict[str, Any], said: str, hub: Api) -> None:
    hub.lists[REQUESTS] = [found]
    assert said in approve("go-after-canary", "--write", status=1)
    assert hub.bodies == []


@pytest.mark.parametrize("status", ["True", "False"])
def test_what_a_run_that_is_over_asked_for_is_refused(status: str, hub: Api) -> None:
    hub.lists[RUNS] = [
        update_run({"type": "Succeeded", "status": status, "reason": "UpdateRunFailed"})
    ]
    assert approve() == "no approval is waited for on the hub\n"
    assert "its update run has ended: UpdateRunFailed" in approve(
        "go-after-canary", "--write", status=1
    )
    hub.lists[RUNS] = []
    assert "its update run is gone" in approve("go-after-canary", "--write", status=1)


def test_a_run_that_is_stopped_goes_on_later(hub: Api) -> None:
    hub.lists[RUNS] = [update_run(state="Stop")]
    assert "the run is stopped: it goes on once its state is Run" in approve()


def test_the_last_stage_leads_to_the_end(hub: Api) -> None:
    last = update_run()
    last["status"]["stagesStatus"].pop()
    last["status"]["stagesStatus"][0]["afterStageTaskStatus"].append({"type": "TimedWait"})
    last["status"]["deletionStageStatus"] = {"clusters": [{"clusterName": "d"}]}
    hub.lists[RUNS] = [last]
    assert "once the wait of stage canary is over, too; the run ends: d is emptied\n" in approve()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (409, "has been changed on the hub meanwhile"),
        (403, "does not take the approval: 403 Forbidden"),
    ],
)
def test_a_hub_that_refuses_is_told(code: int, said: str, hub: Api) -> None:
    hub.answers[STATUS] = refuses(code)
    assert said in approve("go-after-canary", "--write", status=1)


def test_a_cluster_without_such_requests_is_no_hub(hub: Api) -> None:
    del hub.objects[ROOT]
    assert "the hub: does not serve approvals of update runs" in approve(status=1)


def test_what_is_for_a_plan_is_not_for_a_hub(hub: Api) -> None:
    assert "without --state" in approve("--state", "x", status=1)
    assert "missing argument DIR" in run("approve").stderr
