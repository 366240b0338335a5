"""Recordings of a running Karmada control plane, replayed as a user's program over successive runs."""

from __future__ import annotations

import re

import pytest

from tests.delivery.karmada.known import KNOWN, REFUSED, At
from tests.delivery.karmada.recording import Recording
from tests.delivery.karmada.replay import Replay
from tests.delivery.replay import Difference
from tests.vectors import recordings

pytestmark = pytest.mark.long  # each replays several updates
NAMES = recordings("karmada-live")


@pytest.mark.parametrize("name", NAMES)
def test_all_comes_to_what_was_recorded(name: str) -> None:
    found, known = list(Replay.of(Recording.kept(name)).differences()), KNOWN.get(name, [])
    assert [each.words for each in found if not any(one.covers(each) for one in known)] == []
    missing = [(one.words, step) for one in known for step in one.steps if not _there(one, step, found)]
    assert missing == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_carried_out_is_refused(name: str) -> None:
    replay = Replay(Recording.kept(name))
    assert any(re.match(f"refused: .*{REFUSED[name][1]}", one.words) for one in replay.differences())


def _there(known: At, step: int, found: list[Difference]) -> bool:
    return any(one.step.number == step and known.covers(one) for one in found)
