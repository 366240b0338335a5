"""Namespaces, which a control plane brings to all of its members by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.planning.survey import CommandLine, survey
from tests.hub.karmada.api import Api
from tests.hub.karmada.settled import changes, planned
from tests.hub.karmada.world import binding, claimed, deployment, fleet, on, policy, stored

WEB = policy(placement=on("a", "b"))
TEMPLATE = deployment(2, "web:1")


def named(name: str, **labels: str) -> dict[str, Any]:
    """A namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
    }


def observation(*names: str) -> HubObservation:
    """The observation of a control plane with a template and these namespaces."""
    template = claimed(TEMPLATE, WEB), binding(TEMPLATE, WEB, {"a": 2, "b": 2})
    return read_hub(
        Api((*fleet("a", "b"), WEB, *template, *(stored(named(name)) for name in names))).listing()
    )


def plan_of(folder: Path) -> FleetPlan:
    """The plan of a directory, as ``fleet plan`` makes it."""
    (plan,) = survey([folder], CommandLine()).plans
    return plan


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The directory of a control plane that was observed."""
    write_observation(tmp_path, observation("shop", "other"), update=False, secrets=False)
    return tmp_path


def test_those_that_members_have_are_observed_and_change_nothing() -> None:
    found = observation("shop", "default", "kube-system", "karmada-system", "karmada-es-a")
    assert [data["metadata"]["name"] for data in found.objects if data["kind"] == "Namespace"] == [
        "shop"
    ]
    assert list(changes(planned(found))) == []
    assert [subject.name for subject in planned(found).subjects] == ["Template/shop/Deployment/web"]


def test_one_in_a_file_of_people_that_the_hub_has_is_no_edit(folder: Path) -> None:
    written = folder / "objects" / "Namespace.shop.yaml"
    own = folder / "objects" / "shop" / "namespace.yaml"
    written.rename(own)
    done = write_observation(folder, observation("shop", "other"), update=True, secrets=False)
    assert (done.edited, done.lost) == ((), ())
    assert not plan_of(folder).changes


def test_the_removal_of_one_is_refused_as_all_that_is_in_it_would_go(folder: Path) -> None:
    assert not plan_of(folder).refused
    assert "Namespace" not in str(plan_of(folder).warnings)
    (folder / "objects" / "Namespace.other.yaml").unlink()
    plan = plan_of(folder)
    (refusal,) = plan.refused
    assert str(refusal).startswith(
        "Namespace other: would be deleted on the hub and on every member, with all that is in it"
    )
    token = refusal.hint.split()[-1]
    assert not survey([folder], CommandLine(confirm=frozenset({token}))).plans[0].refused


@pytest.mark.parametrize("name", ["new", "other"])
def test_one_that_is_new_or_changed_is_said_to_go_to_every_member(folder: Path, name: str) -> None:
    (folder / "objects" / f"Namespace.{name}.yaml").write_text(
        yaml.safe_dump(named(name, tier="a"))
    )
    plan = plan_of(folder)
    assert plan.changes
    assert f"1 Namespace that 2 members get from the hub as it is: {name}" in str(plan.warnings)
    assert not plan.refused
