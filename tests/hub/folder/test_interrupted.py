"""Observations that are interrupted, or written by two at once: no directory is of two of them."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fleet_components import FleetError
from fleet_components.content.observed import MEND
from fleet_components.content.paths import alone
from fleet_components.hub.folder.reading import read_observation
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.review.planning.survey import CommandLine, survey
from tests.hub.folder.hubs import kubefleet, observed, texts
from tests.hub.folder.test_update import CONFIG, KEEPER, currency, on_hub, updated


@pytest.fixture(scope="module")
def observation() -> HubObservation:
    return observed(kubefleet())


@pytest.fixture
def folder(observation: HubObservation, tmp_path: Path) -> Path:
    write_observation(tmp_path / "hub", observation, update=False)
    return tmp_path / "hub"


def test_an_interrupted_update_leaves_whole_files_and_the_next_one_completes_it(
    folder: Path, observation: HubObservation, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = on_hub(observation, "storefront", currency("USD"), "ConfigMap")
    changed = on_hub(
        changed,
        "dublin",
        lambda item: {**item, "metadata": {**item["metadata"], "labels": {"a": "b"}}},
    )
    calls = []
    replace = os.replace

    def failing(old: Any, new: Any) -> None:
        calls.append(new)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        replace(old, new)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(FleetError, match="No space left on device"):
        updated(folder, changed)
    monkeypatch.undo()
    assert read_observation(folder, KEEPER).as_of == observation.as_of
    assert updated(folder, changed).lost == ()
    assert not list(folder.glob(".fleet-observe-*"))
    fresh = folder.with_name("fresh")
    write_observation(fresh, changed, update=False)
    assert texts(fresh) == texts(folder)


@pytest.mark.parametrize("moved", [0, 1, 5, 9])
def test_an_interrupted_first_run_is_told_and_an_update_completes_it(
    moved: int, observation: HubObservation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, calls, replace = tmp_path / "hub", [], os.replace

    def failing(old: Any, new: Any) -> None:
        calls.append(new)
        if len(calls) > moved:
            raise OSError(28, "No space left on device")
        replace(old, new)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(FleetError, match="No space left on device"):
        write_observation(folder, observation, update=False)
    monkeypatch.undo()
    with pytest.raises(FleetError) as caught:
        survey([folder], CommandLine())
    assert MEND in {problem.hint for problem in caught.value.problems}
    with pytest.raises(FleetError, match="is an observed directory"):
        write_observation(folder, observation, update=False)
    assert updated(folder, observation).lost == ()
    write_observation(tmp_path / "fresh", observation, update=False)
    assert texts(folder) == texts(tmp_path / "fresh")
    assert not list(folder.glob(".fleet-observe-*"))


def test_of_two_first_runs_at_once_one_writes_and_the_other_says_so(
    observation: HubObservation, tmp_path: Path
) -> None:
    said: list[str] = []

    def first() -> None:
        try:
            write_observation(tmp_path / "hub", observation, update=False)
        except FleetError as error:
            said.append(error.problems[0].what)

    (tmp_path / "hub").mkdir()
    runs = [threading.Thread(target=first) for _ in range(4)]
    with alone(tmp_path / "hub"):
        for run in runs:
            run.start()
    for run in runs:
        run.join()
    assert said == ["is an observed directory"] * 3
    read_observation(tmp_path / "hub", KEEPER)


def test_two_at_once_wait_for_each_other(folder: Path, observation: HubObservation) -> None:
    changed = on_hub(observation, "storefront", currency("USD"), "ConfigMap")
    other = threading.Thread(target=updated, args=(folder, changed))
    with alone(folder):
        other.start()
        other.join(0.3)
        assert other.is_alive()
        assert "EUR" in (folder / CONFIG).read_text()
    other.join()
    assert "USD" in (folder / CONFIG).read_text()
