"""Every step of every recording, read from the control plane, leaves nothing to do."""

from __future__ import annotations

import pytest

from fleet_components.hub.reading import read_hub
from tests.delivery.karmada.recording import Recording
from tests.hub.karmada.api import Api
from tests.hub.karmada.recorded import ControlPlane
from tests.hub.karmada.settled import changes, planned
from tests.shared import SHARED, shared

FOLDER = "vectors/karmada-live"
NAMES = sorted(file.stem for file in (SHARED / FOLDER).glob("*.json"))


@pytest.mark.parametrize("name", NAMES or ["all"])
def test_a_plan_of_what_was_observed_changes_nothing(name: str) -> None:
    recording = Recording.read(shared(FOLDER) / f"{name}.json")
    hub = ControlPlane(recording)
    for step in recording.steps:
        observation = read_hub(Api(tuple(hub.objects(step))).listing())
        assert (step.number, list(changes(planned(observation)))) == (step.number, [])
