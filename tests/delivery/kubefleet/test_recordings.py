"""Recordings of a running KubeFleet hub, replayed as a user's program over successive runs."""

from __future__ import annotations

from tests.delivery.kubefleet.known import KNOWN
from tests.delivery.kubefleet.recording import MEMBERS
from tests.delivery.kubefleet.replay import Replay
from tests.shared import shared

FOLDER = "vectors/kubefleet-live"


def test_all_comes_to_what_was_recorded_and_every_rule_is_needed() -> None:
    files = sorted(file for file in shared(FOLDER).glob("*.json") if file.name != MEMBERS)
    assert files
    found = [one for file in files for one in Replay.of(file).differences()]
    reasons = [next((rule.why for rule in KNOWN if rule.covers(one)), "") for one in found]
    unknown = [one for one, why in zip(found, reasons, strict=True) if not why]
    assert [f"{one.recording.name}: step {one.step.number}: {one.words}" for one in unknown] == []
    assert [rule.why for rule in KNOWN if rule.why not in reasons] == []
