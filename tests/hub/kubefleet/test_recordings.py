"""What a recorded hub had decided is what a plan of its observation decides: nothing is left to do."""

from __future__ import annotations

from functools import cache

import pytest

from fleet_components.hub.reading import read_hub
from tests.delivery.kubefleet.recording import MEMBERS, Recording
from tests.hub.kubefleet.known import LEFT_OUT, UNSETTLED
from tests.hub.kubefleet.planned import changes, planned
from tests.hub.kubefleet.recorded import RecordedHub
from tests.shared import SHARED, shared

FOLDER = "vectors/kubefleet-live"
NAMES = sorted(file.stem for file in (SHARED / FOLDER).glob("*.json") if file.name != MEMBERS)


@cache
def observed(name: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """After each step what a plan would do, and what was left out."""
    hub = RecordedHub(Recording.read(shared(FOLDER) / f"{name}.json"))
    found = []
    for _, listing in hub.listings():
        observation = read_hub(listing)
        left_out = (note for note in observation.notes if "is left out" in note)
        found.append((tuple(changes(planned(observation))), tuple(left_out)))
    return tuple(found)


@pytest.mark.parametrize("name", NAMES or ["all"])
def test_nothing_is_left_to_do(name: str) -> None:
    found = {number: words for number, (words, _) in enumerate(observed(name)) if words}
    unknown = {number: words for number, words in found.items() if (name, number) not in UNSETTLED}
    assert unknown == {}
    assert {number for known, number in UNSETTLED if known == name} == found.keys()


@pytest.mark.parametrize("name", NAMES or ["all"])
def test_what_is_left_out_is_told(name: str) -> None:
    found = {number: notes for number, (_, notes) in enumerate(observed(name)) if notes}
    known = {number: words for (one, number), words in LEFT_OUT.items() if one == name}
    assert found.keys() == known.keys()
    assert all(known[number] in note for number, notes in found.items() for note in notes)
