"""A hub that was observed, and the directory of the observation."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from tests.hub.folder.hubs import kubefleet, observed


@pytest.fixture(scope="module")
def observation() -> HubObservation:
    return observed(kubefleet())


@pytest.fixture
def folder(observation: HubObservation, tmp_path: Path) -> Path:
    write_observation(tmp_path / "hub", observation, update=False)
    return tmp_path / "hub"
