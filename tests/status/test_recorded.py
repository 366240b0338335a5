"""What a stack knows of its objects: after updates that failed, were killed, or could not reach a member."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.model.problem import FleetError
from fleet_components.review.documents.statuses import api_list
from fleet_components.review.planning.past import parse_state
from fleet_components.review.planning.statuses import Statuses, statuses
from fleet_components.review.planning.survey import CommandLine
from fleet_components.rollout.rollout import Change
from fleet_components.status.events import parse_events
from fleet_components.status.recorded import words_of
from tests.delivery.driver import InProcess
from tests.delivery.test_evictions import eviction
from tests.delivery.test_staged import released
from tests.delivery.world import KubeFleetWorld
from tests.status.stacks import REFUSED, SAID, UNREACHABLE, UNREADY, Stack, broke

pytestmark = pytest.mark.long


def known(stack: Stack, folder: Path, *, events: bool = True) -> Statuses:
    source, state, log = stack.write(folder)
    command = CommandLine(state=parse_state(state.read_bytes(), "state.json"))
    return statuses([source], command, parse_events(log.read_bytes(), "events") if events else None)


def members(stack: Stack, folder: Path, *, events: bool = True) -> dict[str, ObservedMember]:
    (status,) = known(stack, folder, events=events).of
    return dict(status.observed)


def web(member: ObservedMember) -> ObservedObject:
    return next(data for key, data in member.objects.items() if key.kind == "Deployment")


def test_a_refused_object_is_told_by_the_state_alone(tmp_path: Path) -> None:
    stack = broke()
    stack.errors["b"] = [REFUSED]
    found = members(stack, tmp_path, events=False)
    assert [(web(found[name]).applied, web(found[name]).available) for name in "abc"] == [
        ("Applied", "Available"),
        ("ManifestApplyFailed", ""),
        ("", ""),
    ]
    assert web(found["b"]).error == SAID
    namespace = next(iter(found["b"].objects.values()))
    assert (namespace.key.kind, namespace.applied) == ("Namespace", "Applied")


def test_an_object_that_was_written_and_is_not_ready(tmp_path: Path) -> None:
    stack = broke()
    stack.driver.up(fails={"b"})
    sent = dict(stack.driver.state.resources[stack.deployment("a")].inputs)
    export = stack.export()
    for item in export["deployment"]["resources"]:
        if item["urn"] == stack.deployment("b"):
            item["inputs"], item["initErrors"] = sent, UNREADY
    state = parse_state(json.dumps(export).encode(), "state.json")
    source, _, _ = stack.write(tmp_path)
    (status,) = statuses([source], CommandLine(state=state)).of
    found = web(status.observed["b"])
    assert (found.applied, found.available, found.error) == (
        "Applied",
        "ManifestNotAvailableYet",
        "",
    )
    assert found.causes == (
        "'web' timed out waiting to be Ready",
        "Minimum number of live Pods was not attained",
    )


def test_words_of_an_earlier_update_are_told_as_such(tmp_path: Path) -> None:
    stack = broke()
    stack.errors["b"] = UNREADY
    found = web(members(stack, tmp_path, events=False)["b"])
    assert (found.applied, found.error, found.causes[0]) == ("", "", "when it was written last:")


def test_a_member_that_was_not_reached_is_known_by_the_events(tmp_path: Path) -> None:
    stack = broke()
    stack.said("b", UNREACHABLE)
    found = members(stack, tmp_path)
    assert found["b"].unreached == UNREACHABLE
    assert web(found["b"]).applied == ""
    assert [found[name].unreached for name in "ac"] == ["", ""]
    assert members(stack, tmp_path, events=False)["b"].unreached == ""


def test_a_killed_update_leaves_what_is_not_known(tmp_path: Path) -> None:
    stack = broke()
    stack.pending = ["b"]
    found = known(stack, tmp_path, events=False)
    assert found.interrupted
    causes = web(found.of[0].observed["b"]).causes
    assert causes == (
        "an update was killed while updating it: what is there is not known, and the next update writes it again",
    )


@pytest.mark.parametrize("events", [True, False])
def test_what_was_deleted_to_be_replaced_is_gone(tmp_path: Path, events: bool) -> None:
    stack = broke()
    stack.gone = ["b"]
    stack.said("b", REFUSED)
    found = web(members(stack, tmp_path, events=events)["b"])
    assert found.applied == "ManifestApplyFailed"
    assert found.available != "Available"
    assert found.error.endswith(
        "it was deleted to be replaced and not created; the next update creates it"
    )


def test_a_log_without_an_end_is_of_a_killed_update(tmp_path: Path) -> None:
    stack = broke()
    metadata = {"op": "update", "urn": stack.deployment("b")}
    waits = {
        "urn": metadata["urn"],
        "severity": "info",
        "message": "Waiting for app ReplicaSet to be available\n",
    }
    stack.events += [{"resourcePreEvent": {"metadata": metadata}}, {"diagnosticEvent": waits}]
    found = known(stack, tmp_path)
    assert found.interrupted
    assert web(found.of[0].observed["b"]).causes == ("Waiting for app ReplicaSet to be available",)


def test_what_the_last_update_did_to_each_member(tmp_path: Path) -> None:
    (status,) = known(broke(), tmp_path, events=False).of
    assert status.last is not None
    assert {name: entry.change for name, entry in status.last.entries.items()} == {
        "a": Change.KEEP,
        "b": Change.UPDATE,
        "c": Change.HELD,
    }
    assert not status.changed


def test_a_source_that_has_changed_since_is_said_so(tmp_path: Path) -> None:
    stack = broke()
    stack.errors["b"] = [REFUSED]
    stack.driver.world.image = "web:3"
    (status,) = known(stack, tmp_path, events=False).of
    assert status.changed
    assert web(status.observed["a"]).applied == "Applied"
    assert web(status.observed["b"]).error == SAID
    stack.driver.world.image = "web:2"
    term = {"labelSelector": {"matchLabels": {"no": "member"}}}
    affinity = {
        "clusterAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [term]}
        }
    }
    stack.driver.world.policy = {"placementType": "PickAll", "affinity": affinity}
    (status,) = known(stack, tmp_path, events=False).of
    assert status.changed
    assert status.last is not None
    assert set(status.observed) == {"a", "b", "c"}


def test_a_preview_before_the_update_does_not_count() -> None:
    shown = {"metadata": {"op": "update", "urn": "urn:pulumi:s::p::t::n"}, "planning": True}
    first = {
        "diagnosticEvent": {
            "urn": "urn:pulumi:s::p::t::n",
            "severity": "error",
            "message": "of the preview",
        }
    }
    log = [
        {"preludeEvent": {}},
        {"resourcePreEvent": shown},
        first,
        {"preludeEvent": {}},
        {"summaryEvent": {}},
    ]
    events = parse_events("\n".join(map(json.dumps, log)).encode(), "log")
    assert (events.begun, events.errors, events.ended) == (set(), {}, True)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"hello\n",
        b"{}",
        b"[1, 2]",
        b'{"deployment": {}}',
        b'"Event"',
        b"\xff\xfe",
        b"null\n" * 3,
    ],
    ids=["nothing", "prose", "a map", "a list", "a state", "a text", "no text", "nulls"],
)
def test_what_is_no_log_is_named(text: bytes) -> None:
    with pytest.raises(FleetError, match="log: has no events of the engine"):
        parse_events(text, "log")


@pytest.mark.parametrize(
    "event",
    [
        {"diagnosticEvent": None},
        {"diagnosticEvent": {"urn": 1, "message": [], "severity": {}}},
        {"resourcePreEvent": {"metadata": []}},
        {"resOpFailedEvent": {}},
        {"resOutputsEvent": {"metadata": {"op": 1, "urn": None}}},
    ],
    ids=json.dumps,
)
def test_a_damaged_event_is_passed_over(event: dict[str, Any], tmp_path: Path) -> None:
    stack = broke()
    stack.events.append(event)
    stack.said("b", REFUSED)
    assert web(members(stack, tmp_path)["b"]).error == SAID


def test_lines_of_others_and_a_cut_off_one_are_passed_over() -> None:
    events = parse_events(
        b'warning: something\n{"summaryEvent": {}}\n{"diagnosticEvent": {"urn', "log"
    )
    assert events.ended


def test_the_words_of_the_provider_are_taken_away() -> None:
    assert words_of(f"2 errors occurred:\n\t* {UNREADY[0]}\n\t* {UNREADY[1]}\n\n") == (
        "'web' timed out waiting to be Ready",
        "Minimum number of live Pods was not attained",
    )
    assert words_of(f"1 error occurred:\n\t* {REFUSED}\n") == (SAID,)


def test_a_report_tells_what_is_compared_only(tmp_path: Path) -> None:
    driver = InProcess(
        KubeFleetWorld(strategy={"type": "RollingUpdate", "applyStrategy": {"type": "ReportDiff"}})
    )
    assert driver.up().ok
    stack, said = Stack(driver), {"wanted": "1", "there": "5"}
    for item in driver.state.resources.values():
        if item.type.endswith(":Report") and not item.name.endswith("@d"):
            differences = (
                {}
                if item.name.endswith("@a")
                else {"Deployment shop/web": {"/spec/replicas": said}}
            )
            failures = {"Namespace shop": "it hangs"} if item.name.endswith("@c") else {}
            cast(dict[str, Any], item.outputs).update(
                differences=differences, failures=failures, degraded=[]
            )
    found = known(stack, tmp_path, events=False)
    compared = {
        name: [data.compared for data in member.objects.values()]
        for name, member in found.of[0].observed.items()
    }
    assert compared == {
        "a": ["NoDiffFound", "NoDiffFound"],
        "b": ["NoDiffFound", "FoundDiff"],
        "c": ["FailedToReportDiff", "FoundDiff"],
        "d": ["", ""],
    }
    status = api_list(found)["items"][0]["status"]
    differing = {
        entry["clusterName"]: [item["observedDiffs"] for item in entry.get("diffedPlacements", ())]
        for entry in status["placementStatuses"]
    }
    told = [[{"path": "/spec/replicas", "valueInHub": "1", "valueInMember": "5"}]]
    assert differing == {"a": [], "b": told, "c": [], "d": []}


def test_update_runs_and_evictions_are_told_in_the_form_of_the_api(tmp_path: Path) -> None:
    driver: InProcess[KubeFleetWorld] = InProcess()
    released(driver)
    assert driver.up().ok
    items = api_list(known(Stack(driver), tmp_path, events=False))["items"]
    (item,) = [item for item in items if item["kind"] == "ClusterStagedUpdateRun"]
    assert item["metadata"] == {"name": "go"}
    succeeded = {each["type"]: each["status"] for each in item["status"]["conditions"]}
    assert succeeded == {"Initialized": "True", "Progressing": "False", "Succeeded": "True"}
    driver = InProcess()
    assert driver.up().ok
    driver.world.extra = [eviction("away", "a")]
    assert driver.up().ok
    items = api_list(known(Stack(driver), tmp_path, events=False))["items"]
    (evicted,) = [item for item in items if item["kind"].endswith("Eviction")]
    assert [item["type"] for item in evicted["status"]["conditions"]] == ["Valid", "Executed"]
