"""What follows from a fleet resource: notes on the hub, warnings about a plan, a fleet without a hub."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fleet_components.hub.azure.answers import fleet_resource
from fleet_components.hub.azure.fleet_resource import FleetResource, is_under_way
from fleet_components.hub.azure.remarks import hub_notes, members_only, run_warnings
from fleet_components.systems.registry import SYSTEMS
from tests.hub.azure.resources import FLEET, fleet, member, run, stage

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)


def read(
    answer: dict[str, Any] | None = None, unread: dict[str, str] | None = None, **lists: Any
) -> FleetResource:
    return fleet_resource(FLEET, answer or fleet(), lists, unread or {})


def test_a_fleet_and_its_hub_that_agree_need_no_note() -> None:
    assert (
        hub_notes(read(members=[member("m1"), member("m2", state="Updating")]), ["m1", "m2"]) == ()
    )


def test_members_of_one_side_alone_are_named_with_their_state() -> None:
    members = [
        member("m1"),
        member("m2", state="Joining"),
        member("m3", state="Failed", error="no route"),
    ]
    assert hub_notes(read(members=members), ["m1", "m3", "other"]) == (
        "member m2 of fleet shop is not on the hub: its state is Joining",
        "the state of member m3 of fleet shop is Failed (Bad: no route)",
        "member other of the hub is not a member of fleet shop",
    )


def test_what_was_not_read_is_told_and_nothing_is_concluded_from_it() -> None:
    found = read(unread={"members": "Azure refuses with 403 Forbidden"})
    assert hub_notes(found, ["m1"]) == (
        "members of fleet shop were not read: Azure refuses with 403 Forbidden",
    )


def test_a_fleet_that_is_being_made_says_so() -> None:
    assert hub_notes(read(fleet("Creating")), []) == ("fleet shop is Creating",)


def test_a_fleet_without_a_hub_has_members_alone() -> None:
    members = [member("m1", tier="prod"), member("m2", state="Leaving")]
    found = members_only(read(fleet(hub=False), members=members), NOW)
    assert (found.system, found.as_of, found.policies, found.subjects) == (
        SYSTEMS["kubefleet"],
        NOW,
        (),
        (),
    )
    assert [item["metadata"] for item in found.members] == [
        {"name": "m1", "labels": {"tier": "prod"}}
    ]
    assert "fleet shop has no hub" in found.notes[0]
    assert "member m2" in found.notes[1]
    assert len(found.notes) == 2


RUNNING = run(
    "r1", "Running",
    stage("one", "Completed", {"m1": "Completed"}), stage("two", "Running", {"m2": "Running", "m3": "NotStarted"}),
)  # fmt: skip


def test_a_plan_on_members_that_a_run_upgrades_is_warned_of() -> None:
    (warning,) = run_warnings(read(updateRuns=[RUNNING]), {"m1", "m2", "m3"})
    assert warning.what == (
        "update run r1 (Full to 1.33.2) is upgrading m2 and is still to upgrade m3, where this plan changes objects"
    )
    assert "az fleet updaterun stop -g rg-fleet -f shop -n r1" in warning.hint
    assert warning.file == "observed/azure.yaml"


@pytest.mark.parametrize(
    ("told", "moving"),
    [
        (RUNNING, {"m1", "m9"}),
        (RUNNING, set()),
        (run("r", "Completed", stage("s", "Completed", {"m2": "Completed"})), {"m2"}),
        (run("r", "NotStarted", stage("s", "NotStarted", {"m2": "NotStarted"})), {"m2"}),
        (run("r", "Stopped", stage("s", "Stopped", {"m2": "NotStarted"})), {"m2"}),
    ],
)
def test_no_other_plan_is(told: dict[str, Any], moving: set[str]) -> None:
    assert not list(run_warnings(read(updateRuns=[told]), moving))


@pytest.mark.parametrize(
    ("state", "is_it"),
    [
        ("Running", True),
        ("Pending", True),
        ("Stopping", True),
        ("Rebooting", True),
        ("NotStarted", False),
    ]
    + [(state, False) for state in ("Completed", "Failed", "Skipped", "Stopped", "")],
)
def test_a_run_is_under_way_until_it_has_ended_also_in_a_state_that_is_new(
    state: str, is_it: bool
) -> None:
    assert is_under_way(state) is is_it
