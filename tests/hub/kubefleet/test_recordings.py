"""A plan of an observed hub decides as the hub has decided: nothing is left to do, and edits lead to what it did."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from tests.delivery.kubefleet.recording import Recording
from tests.hub.kubefleet.known import LEFT_OUT, UNFORESEEN, UNSETTLED
from tests.hub.kubefleet.planned import changes, past_of, planned
from tests.hub.kubefleet.recorded import RecordedHub
from tests.vectors import recordings

NAMES = recordings("kubefleet-live")


@cache
def observations(name: str) -> tuple[HubObservation, ...]:
    hub = RecordedHub(Recording.kept(name))
    return tuple(read_hub(listing) for _, listing in hub.listings())


def sent(records: Iterable[tuple[str, Any]]) -> Any:
    """The revision and the overrides of each member, by placement."""
    return {
        name: {decision: placed.version for decision, placed in record.decisions.items()}
        for name, record in records
    }


def foreseen(before: HubObservation, after: HubObservation) -> bool:
    """Whether a plan with what users have written since leads to what the hub has done, now or once nothing waits."""
    plan = planned(after, past=past_of(before))
    there = sent((subject.name, subject.record) for subject in after.subjects)
    now = sent((subject.name, subject.record) for subject in plan.subjects)
    return there in (now, sent((subject.name, subject.outcome.goal) for subject in plan.subjects))


@pytest.mark.samples(20)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_to_do(name: str) -> None:
    found = {
        number: list(changes(planned(observation)))
        for number, observation in enumerate(observations(name))
    }
    moving = {number: words for number, words in found.items() if words}
    assert {
        number: words for number, words in moving.items() if (name, number) not in UNSETTLED
    } == {}
    assert {number for known, number in UNSETTLED if known == name} == moving.keys()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_is_told(name: str) -> None:
    notes = {
        number: [note for note in observation.notes if "left out" in note]
        for number, observation in enumerate(observations(name))
    }
    found = {number: told for number, told in notes.items() if told}
    known = {number: words for (item, number), words in LEFT_OUT.items() if item == name}
    assert found.keys() == known.keys()
    assert all(known[number] in note for number, told in found.items() for note in told)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_next_step_is_foreseen(name: str) -> None:
    steps = enumerate(pairwise(observations(name)), start=1)
    found = {number for number, (before, after) in steps if not foreseen(before, after)}
    assert found == {number for known, number in UNFORESEEN if known == name}
