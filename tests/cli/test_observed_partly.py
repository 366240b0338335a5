"""Plans on what a hub has not answered as a whole: they say first that they do not know all."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from fleet_components.cli import clock
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.listing import NOT_ASKED, Query
from fleet_components.hub.observation import HubObservation
from tests.cli.fleets import edit, plan, run
from tests.hub.folder.hubs import AS_OF, kubefleet, later, observed

MAPS, WIDGETS = Query("v1", "ConfigMap", "shop"), Query("example.com/v1", "Widget")
SHOP = "ClusterResourcePlacement/shop"
BEGUN = AS_OF.isoformat().replace("+00:00", "Z")


@pytest.fixture
def hub() -> HubObservation:
    return observed(kubefleet())


@pytest.fixture
def folder(hub: HubObservation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_observation(tmp_path / "fleet", hub, update=False)
    monkeypatch.setattr(clock, "now", lambda: AS_OF + timedelta(hours=3))
    return tmp_path / "fleet"


def again(folder: Path, hub: HubObservation, **changes: object) -> None:
    write_observation(folder, later(hub, **changes), update=True)


def test_a_list_that_concerns_a_placement_is_in_the_headline(
    folder: Path, hub: HubObservation
) -> None:
    again(folder, hub, unanswered={MAPS: "timed out"})
    document = plan(folder)
    assert document["headline"][0] == "nothing changes, as far as the hub has answered"
    assert (
        plan(folder, "--only", "shop")["headline"][0]
        == "nothing changes here, as far as the hub has answered"
    )
    assert "changes on iowa, as far as the hub" in plan(folder, "--member", "iowa")["headline"][0]
    keys = ["system", "hub", "asOf", "silent", "unanswered", "unknown", "hubOnly", "unseen"]
    assert list(document["observed"]) == keys
    assert document["observed"]["unanswered"] == [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "namespace": "shop",
            "why": "timed out",
            "since": BEGUN,
            "asked": True,
            "subjects": [SHOP],
        }
    ]
    for form in ("table", "markdown"):
        said = " ".join(run("plan", folder, "-o", form).stdout.split())
        assert "nothing changes, as far as the hub has answered" in said
        assert f"what is here of them is of {BEGUN}, 3 hours ago" in said


def test_so_it_is_where_something_changes(folder: Path, hub: HubObservation) -> None:
    again(folder, hub, unanswered={MAPS: "timed out"})
    edit(
        folder / "policies/ClusterResourcePlacement/shop.yaml",
        "numberOfClusters: 2",
        "numberOfClusters: 1",
    )
    first = plan(folder, status=3)["headline"][0]
    assert (
        first
        == "to be confirmed: shop loses amsterdam, nothing else changes, as far as the hub has answered"
    )


def test_a_placement_of_which_nothing_is_known_is_in_the_headline(
    folder: Path, hub: HubObservation
) -> None:
    again(
        folder, hub, unanswered={WIDGETS: "timed out"}, unknown=("ClusterResourcePlacement/other",)
    )
    document = plan(folder)
    assert document["headline"][0] == "nothing changes, as far as the hub has answered"
    assert document["observed"]["unknown"] == ["ClusterResourcePlacement/other"]
    assert plan(folder, "--only", "shop")["headline"][0] == "nothing changes here"


@pytest.mark.parametrize(("query", "why"), [(WIDGETS, "timed out"), (MAPS, NOT_ASKED)])
def test_what_concerns_nobody_and_what_was_not_asked_for_is_not(
    query: Query, why: str, folder: Path, hub: HubObservation
) -> None:
    again(folder, hub, unanswered={query: why})
    assert plan(folder)["headline"][0] == "nothing changes"


@pytest.mark.parametrize(
    "part", ["members", "policies", "objects/shop", "policies/ClusterResourcePlacement/shop.yaml"]
)
@pytest.mark.parametrize("command", ["plan", "explain"])
def test_a_part_of_an_observed_directory_is_not_planned_as_if_it_were_all(
    command: str, part: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(command, folder / part)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert f"error: {folder / part}: is a part of an observed directory, {folder}: " in said
    assert f"hint: give {folder}; with --state {folder}" in said
    monkeypatch.chdir(folder / part if (folder / part).is_dir() else (folder / part).parent)
    assert "is a part of an observed directory" in run("plan", ".").stderr
    assert (
        plan(folder)["headline"][0]
        == plan(folder, folder / part)["headline"][0]
        == "nothing changes"
    )


def test_parts_are_compared_with_the_hub_where_that_is_named(folder: Path) -> None:
    parts = [folder / part for part in ("members", "policies", "objects")]
    document = plan(*parts, "--state", folder)
    assert document["observed"] is not None
    assert "is a part of" not in str(document)
