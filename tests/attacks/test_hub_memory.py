"""What a branch says of a hub: a review starts from the memory of the base, and names what the branch makes of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from tests.cli.clone import Clone
from tests.cli.fleets import FLEET, edit, run, write
from tests.hub.folder.hubs import kubefleet, later, observed

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH"),
]
SHOP = "policies/ClusterResourcePlacement/shop.yaml"
MEMORY = "observed/ClusterResourcePlacement/shop.json"
LOSES = "to be confirmed: shop loses amsterdam, nothing else changes"
CHANGED = (
    "fleet/observed is changed here, and not believed: what the hub has is taken from main at "
)
IGNORED = "is not in main at"
HEADS = ((), ("--head", "change"))


@pytest.fixture(scope="module")
def hub() -> HubObservation:
    return observed(kubefleet())


@pytest.fixture
def clone(hub: HubObservation, tmp_path: Path) -> Clone:
    """A clone in which ``fleet/`` is an observed directory."""
    write_observation(tmp_path / "clone" / "fleet", hub, update=False)
    clone = Clone(tmp_path / "clone", {})
    clone.git("checkout", "-q", "-B", "change")
    return clone


def less(clone: Clone) -> None:
    """The change that must be seen: the placement loses a cluster."""
    edit(clone.fleet / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")


def observe(clone: Clone, hub: HubObservation) -> None:
    write_observation(clone.fleet, later(hub, notes=("something new",)), update=True)


def observe_a_fake(clone: Clone, _: HubObservation) -> None:
    """A hub that has carried out already what the branch is to be reviewed for."""
    shutil.rmtree(clone.fleet)
    fewer = FLEET["placement.yaml"].replace("numberOfClusters: 2", "numberOfClusters: 1")
    write_observation(
        clone.fleet, observed(kubefleet({**FLEET, "placement.yaml": fewer})), update=False
    )


def as_link(clone: Clone) -> None:
    (clone.fleet / "observed").rename(clone.top / "elsewhere")
    (clone.fleet / "observed").symlink_to("../elsewhere")


WAYS: dict[str, Callable[[Clone, HubObservation], object]] = {
    "another observation": observe,
    "the observation of a fake hub": observe_a_fake,
    "without the file of the placement": lambda clone, hub: (clone.fleet / MEMORY).unlink(),
    "without a header": lambda clone, hub: (clone.fleet / "observed/hub.yaml").unlink(),
    "another header": lambda clone, hub: edit(
        clone.fleet / "observed/hub.yaml", "2026-11-23T18", "2026-11-23T19"
    ),
    "without any memory": lambda clone, hub: shutil.rmtree(clone.fleet / "observed"),
    "a link in its place": lambda clone, hub: as_link(clone),
    "damage": lambda clone, hub: (clone.fleet / "observed/fleet.json").write_text("<<<<<<<"),
    "a file more": lambda clone, hub: (
        clone.fleet / "observed/ClusterResourcePlacement/x.json"
    ).write_text("{}"),
    "another member": lambda clone, hub: edit(
        clone.fleet / "observed/members/dublin.yaml", "value: ", "value: many # "
    ),
}


@pytest.mark.samples(6)
@pytest.mark.parametrize("head", HEADS, ids=["files", "commit"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_memory_of_the_base_counts(
    way: Callable[[Clone, HubObservation], object],
    head: tuple[str, ...],
    clone: Clone,
    hub: HubObservation,
) -> None:
    less(clone)
    way(clone, hub)
    clone.commit()
    document = asked(clone, *head, status=3)
    assert document["headline"][0] == LOSES
    assert list(document)[:2] == ["version", "disregarded"]
    (told,) = document["disregarded"]
    assert told.startswith(CHANGED)
    for form in ("table", "markdown"):
        shown = run("review", clone.fleet, "--base", "main", *head, "-o", form).stdout
        first = " ".join(shown.removeprefix("### Fleet review").split()).replace("> **", "", 1)
        assert first.startswith(told.partition(":")[0]), shown


@pytest.mark.parametrize("head", HEADS, ids=["files", "commit"])
def test_a_placement_and_its_memory_do_not_go_unseen(head: tuple[str, ...], clone: Clone) -> None:
    (clone.fleet / SHOP).unlink()
    (clone.fleet / MEMORY).unlink()
    edit(clone.fleet / "observed/files.json", '"observed/Cluster', '"observed/gone/Cluster')
    clone.commit()
    document = asked(clone, *head, status=3)
    assert document["gone"]["subjects"] == ["ClusterResourcePlacement/shop"]


@pytest.mark.parametrize("head", HEADS, ids=["files", "commit"])
def test_a_directory_that_is_deleted_or_renamed_keeps_its_memory(
    head: tuple[str, ...], clone: Clone
) -> None:
    (clone.top / "more").mkdir()
    clone.fleet.rename(clone.top / "more/fleet")
    (clone.top / "more").rename(clone.fleet)
    edit(clone.fleet / "fleet" / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    clone.commit()
    document = asked(clone, *head, status=3)
    assert document["headline"][0] == LOSES
    assert [IGNORED in line for line in document["disregarded"]] == [False, True]


@pytest.mark.parametrize("head", HEADS, ids=["files", "commit"])
def test_a_memory_that_the_base_lacks_is_ignored(
    head: tuple[str, ...], hub: HubObservation, tmp_path: Path
) -> None:
    clone = Clone(tmp_path / "plain", FLEET)
    edit(clone.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
    clone.commit()
    before = asked(clone, *head, status=0)
    write_observation(tmp_path / "fake", hub, update=False)
    shutil.copytree(tmp_path / "fake/observed", clone.fleet / "observed")
    clone.commit()
    document = asked(clone, *head, status=0)
    (told,) = document.pop("disregarded")
    assert told.startswith("fleet/observed is not in main at ")
    assert document["observed"] is None
    for item in (before, document):  # what is copied is named from the top of the repository
        item["subjects"] = [{**subject, "source": None} for subject in item["subjects"]]
    assert document == {key: value for key, value in before.items() if key != "disregarded"}


def test_nothing_is_named_where_nothing_changes(clone: Clone) -> None:
    less(clone)
    for head in HEADS:
        clone.commit() if not head else None
        assert asked(clone, *head, status=3)["disregarded"] == []


def test_a_part_of_an_observed_directory_stays_one(clone: Clone) -> None:
    shutil.rmtree(clone.fleet / "observed")
    clone.commit()
    result = run("review", clone.fleet / "objects", "--base", "main")
    assert (result.exit_code, "is a part of an observed directory of main at" in result.stderr) == (
        1,
        True,
    )


@pytest.mark.parametrize("state", ["fleet", "state.json"])
def test_a_state_that_the_branch_changes_is_not_believed(state: str, clone: Clone) -> None:
    clone.git("checkout", "-q", "main")
    write(
        clone.top,
        {"state.json": '{"deployment": {"resources": []}}', "plain/a.yaml": FLEET["shop.yaml"]},
    )
    clone.commit()
    clone.git("checkout", "-q", "-B", "change")
    words = ("review", clone.top / "plain", "--base", "main", "--state", clone.top / state)
    assert "is changed by what is reviewed" not in run(*words).stderr
    edit(clone.fleet / "observed/hub.yaml", "2026-11-23T18", "2026-11-23T17")
    edit(clone.top / "state.json", "[]", "[ ]")
    clone.commit()
    result = run(*words)
    assert (result.exit_code, "is changed by what is reviewed" in result.stderr) == (1, True), (
        result.output
    )


def asked(clone: Clone, *head: str, status: int) -> dict[str, Any]:
    result = run("review", clone.fleet, "--base", "main", *head, "-o", "json")
    assert result.exit_code == status, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found
