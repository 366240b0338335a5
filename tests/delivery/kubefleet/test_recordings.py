"""Recordings of a running KubeFleet hub, replayed as a user's program over successive runs."""

from __future__ import annotations

from functools import cache

import pytest

from tests.delivery.kubefleet.known import KNOWN, Rule
from tests.delivery.kubefleet.recording import Recording
from tests.delivery.kubefleet.replay import Replay
from tests.delivery.replay import Difference
from tests.vectors import recordings

pytestmark = pytest.mark.long  # each replays several updates, with their waits
NAMES = recordings("kubefleet-live")


@cache
def differences(name: str) -> tuple[Difference, ...]:
    return tuple(Replay.of(Recording.kept(name)).differences())


@pytest.mark.parametrize("name", NAMES)
def test_all_comes_to_what_was_recorded(name: str) -> None:
    unknown = [one for one in differences(name) if not any(rule.covers(one) for rule in KNOWN)]
    assert [f"step {one.step.number}: {one.words}" for one in unknown] == []


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.why) for rule in KNOWN])
def test_every_rule_is_needed(rule: Rule) -> None:
    explained = (next((one for one in KNOWN if one.covers(found)), None) for found in differences(rule.seen_in))
    assert any(one is rule for one in explained)
