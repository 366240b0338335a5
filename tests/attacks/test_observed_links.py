"""Links among what an observed directory remembers: none is followed, wherever it leads, and each is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fleet_components.hub.folder.header import has_hub, releases_in
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.model.problem import FleetError
from tests.cli.fleets import run
from tests.hub.folder.hubs import kubefleet, later, observed

SAID = "is a link, which an observation never writes, and which is not followed"


@pytest.fixture(scope="module")
def hub() -> HubObservation:
    return observed(kubefleet())


@pytest.fixture
def fleet(hub: HubObservation, tmp_path: Path) -> Path:
    write_observation(tmp_path / "fleet", hub, update=False)
    return tmp_path / "fleet"


def everything(hub: HubObservation, folder: Path) -> list[str]:
    """Every file and folder that an observation writes below ``observed``, and that folder."""
    write_observation(folder, hub, update=False)
    return sorted(
        path.relative_to(folder).as_posix()
        for path in (folder / "observed", *(folder / "observed").rglob("*"))
    )


@pytest.mark.samples(2)
@pytest.mark.parametrize("words", ["plan", "explain", "simulate --lose dublin"])
@pytest.mark.parametrize("out", [True, False], ids=["out of it", "within it"])
def test_no_link_is_followed(
    words: str, out: bool, fleet: Path, hub: HubObservation, tmp_path: Path
) -> None:
    name, *more = words.split()
    for path in everything(hub, tmp_path / "all"):
        place, to = fleet / path, (tmp_path if out else fleet) / "moved"
        place.rename(to)
        place.symlink_to(to)
        result = run(name, fleet, *more)
        said = f"{place}: {SAID}" in result.stderr
        assert (result.exit_code, said) == (1, True), (path, result.output)
        with pytest.raises(FleetError, match=SAID):
            write_observation(fleet, later(hub), update=True)
        place.unlink()
        to.rename(place)
    assert run("plan", fleet).exit_code == 0


def test_what_a_link_leads_to_is_not_believed(fleet: Path, tmp_path: Path) -> None:
    header = fleet / "observed/hub.yaml"
    shutil.copy(header, tmp_path / "other.yaml")
    with (tmp_path / "other.yaml").open("a") as file:
        file.write("  hub: false\n  release: 0.3.1\n")
    header.unlink()
    header.symlink_to(tmp_path / "other.yaml")
    assert (has_hub(fleet), releases_in(fleet)) == (True, {})


def test_a_link_that_nothing_asks_for_is_named(fleet: Path) -> None:
    for name in ("more.txt", "ClusterResourcePlacement/more"):
        (fleet / "observed" / name).symlink_to("nowhere")
        assert f"observed/{name}: {SAID}" in run("plan", fleet).stderr
        (fleet / "observed" / name).unlink()
    assert json.loads(run("plan", fleet, "-o", "json").stdout)["headline"][0] == "nothing changes"
