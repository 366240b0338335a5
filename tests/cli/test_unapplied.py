"""Plans on observed hubs that could not apply an object on a member, or that will not be able to apply a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import edit, plan, run
from tests.delivery.recording import Data
from tests.hub.folder.hubs import KARMADA, kubefleet, observed
from tests.hub.karmada.api import Api
from tests.hub.karmada.world import (
    APPLIED,
    REFUSED,
    binding,
    claimed,
    deployment,
    fleet,
    on,
    policy,
)

WEB = policy(placement=on("a", "b"))
MESSAGE = "the member refuses it"
SAID = f"the hub could not apply it on b: {MESSAGE}"
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "sums", "namespace": "shop"},
    "spec": {
        "completions": 1,
        "parallelism": 1,
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "sums:1"}]}
        },
    },
}
SELECTS_JOB: dict[str, Any] = {
    "resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}],
    "placement": on("a", "b"),
}
OBJECT = "objects/shop/Deployment.web.yaml"
SUMS = "objects/shop/Job.sums.yaml"


def conflicting(**reported: Data) -> HubObservation:
    """A control plane of which member b has refused the object."""
    now = deployment(2, "web:1")
    bound = binding(now, WEB, {"a": 2, "b": 2}, reported={"a": APPLIED, "b": REFUSED, **reported})
    return read_hub(Api((*fleet("a", "b"), WEB, claimed(now, WEB), bound)).listing())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_observation(tmp_path / "fleet", conflicting(), update=False)
    return tmp_path / "fleet"


def jobs(tmp_path: Path, system: System) -> Path:
    """An observed directory with a Job on two members."""
    if system is SYSTEMS["karmada"]:
        of_members, namespace = KARMADA[:3], KARMADA[3]
        objects = [*of_members, namespace, JOB, policy(**SELECTS_JOB)]
    else:
        objects = [*kubefleet(), JOB]
    write_observation(tmp_path / "fleet", observed(objects, system), update=False)
    return tmp_path / "fleet"


def row(document: dict[str, Any], member: str) -> dict[str, Any]:
    """The row of a member of the first subject."""
    found: dict[str, Any] = next(
        item for item in document["subjects"][0]["clusters"] if item["name"] == member
    )
    return found


def test_what_a_member_has_refused_is_not_fulfilled_as_before(folder: Path) -> None:
    document = plan(folder)
    assert document["headline"][0] == "nothing changes"
    assert document["unfulfilled"] == [{"subject": "Template/shop/Deployment/web", "why": SAID}]
    assert document["asBefore"]["unfulfilled"] == ["Template/shop/Deployment/web"]


def test_its_row_and_its_explanation_do_not_say_that_it_runs(folder: Path) -> None:
    shown = row(plan(folder, "--only", "shop/Deployment/web"), "b")
    assert (shown["change"], shown["why"]) == (
        "stays",
        f"the hub could not apply it there: {MESSAGE}",
    )
    assert row(plan(folder, "--only", "shop/Deployment/web"), "a")["unapplied"] is None
    told = run("explain", str(folder), "shop/Deployment/web", "b").output
    assert f"the hub could not apply it there: {MESSAGE}" in " ".join(told.split())


def test_a_change_there_may_fail_again(folder: Path) -> None:
    edit(folder / OBJECT, "web:1", "web:2")
    document = plan(folder)
    assert (
        document["headline"][0] == "a gets a new image of shop/Deployment/web, nothing else changes"
    )
    expected = f"the hub could not apply it there: {MESSAGE}; it tries again with this change, and may fail again"
    assert row(document, "b")["why"] == expected
    assert row(document, "a")["why"] != expected


def test_an_observation_without_the_message_says_only_that_it_is_not_applied(
    tmp_path: Path,
) -> None:
    write_observation(tmp_path / "fleet", conflicting(b={"health": "Unknown"}), update=False)
    assert plan(tmp_path / "fleet")["unfulfilled"][0]["why"] == "the hub has not applied it on b"


def test_where_everything_is_applied_nothing_is_said(tmp_path: Path) -> None:
    write_observation(tmp_path / "fleet", conflicting(b=APPLIED), update=False)
    assert plan(tmp_path / "fleet")["unfulfilled"] == []


@pytest.mark.parametrize("system", [SYSTEMS["karmada"], SYSTEMS["kubefleet"]], ids=str)
def test_a_hub_makes_nothing_anew(tmp_path: Path, system: System) -> None:
    place = jobs(tmp_path, system)
    edit(place / SUMS, "completions: 1", "completions: 2")
    document = plan(place)
    fixed = "spec.completions of Job shop/sums cannot be changed in place"
    assert document["replaced"] == []
    assert document["headline"][1].startswith("no object is deleted or replaced")
    assert "the hub will not be able to apply this on " in document["unfulfilled"][0]["why"]
    assert document["unfulfilled"][0]["why"].endswith(fixed)
    assert document["asBefore"]["unfulfilled"] == []
    assert document["subjects"][0]["weight"] == "unfulfilled"
    assert "anew" not in run("plan", str(place), "--diff").output


@pytest.mark.parametrize("system", [SYSTEMS["karmada"], SYSTEMS["kubefleet"]], ids=str)
def test_parallelism_of_a_job_changes_in_place(tmp_path: Path, system: System) -> None:
    place = jobs(tmp_path, system)
    edit(place / SUMS, "parallelism: 1", "parallelism: 2")
    document = plan(place)
    assert (document["replaced"], document["unfulfilled"]) == ([], [])
