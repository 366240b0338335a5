"""Every step of every recording, read from the control plane: nothing is left to do, and the next step is foreseen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.model.manifest import Manifest
from fleet_components.plan.given import Given
from fleet_components.plan.source import gathered
from fleet_components.systems.karmada.model.settings import KIND
from tests.delivery.karmada.comparison import bindings_here, bindings_there
from tests.delivery.karmada.recording import Recording, Step
from tests.delivery.karmada.replay import Replay
from tests.delivery.recording import Data, compared
from tests.hub.karmada.api import Api
from tests.hub.karmada.known import OTHERWISE, UNSETTLED
from tests.hub.karmada.recorded import ControlPlane
from tests.hub.karmada.settled import changes, planned
from tests.vectors import recordings

NAMES = recordings("karmada-live")


@pytest.mark.samples(12)
@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_what_was_observed_changes_nothing(name: str) -> None:
    for step, observation, _ in _observed(Recording.kept(name)):
        found = list(changes(planned(observation)))
        assert (step.number, bool(found)) == (step.number, (name, step.number) in UNSETTLED), found


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_plan_from_the_step_before_decides_what_the_control_plane_did(name: str) -> None:
    recording = Recording.kept(name)
    stack, before = f"organization/project/{Replay(recording).stack}", None
    for step, observation, free in _observed(recording):
        if before:
            documents = (
                *free,
                *(_with(recording, policy) for policy in observation.policies),
                *observation.objects,
            )
            source = gathered(Given(tuple(map(Manifest, documents))))
            templates = planned(before, source, stack=stack).of("Template")
            here = bindings_here({template.subject.key: template.outcome for template in templates})
            found = list(compared(bindings_there(step), here))
            assert (step.number, bool(found)) == (step.number, (name, step.number) in OTHERWISE), (
                found
            )
        before = observation


def _observed(recording: Recording) -> Iterator[tuple[Step, HubObservation, list[Data]]]:
    """Each step with its observation, and with the members as they were after it, with what was free before it."""
    hub = ControlPlane(recording)
    for step in recording.steps:
        observation = read_hub(Api(tuple(hub.objects(step))).listing())
        documents = recording.documents(hub.written, step)
        yield (
            step,
            observation,
            [document for document in documents if document["kind"] == "Cluster"],
        )


def _with(recording: Recording, data: Data) -> Data:
    """The settings completed with the flags and gates, which no object of a control plane tells."""
    return (
        {**data, "spec": {**data["spec"], **recording.settings}} if data["kind"] == KIND else data
    )
