"""One pass through a recording: what differs, under which rules, and what a changed recording would hide."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import attrs

from tests.conformance.subjects import RECORDINGS
from tests.delivery.mutations import mutations
from tests.delivery.replay import Difference, Replay
from tests.vectors import vectors

OPAQUE = {
    "what others have made or changed on a member is not seen in process": 2,
    "an update ends when all stands, and what cannot stand is refused: nothing in between gets an index": 3,
    "a run that brings its clusters what they have counts them as updated, whatever its state": 3,
}
"""How many changed values of a recording come under a rule at most; nothing in the recording tells them from others."""


@attrs.frozen
class Passed:
    """What came of a replay.

    Attributes:
        unknown: what differs and is not known.
        rules: how often each rule applies.
        tried: how many values were changed.
        hidden: the changed values that come under a rule, in words, beside a few that cannot be told.
    """

    unknown: list[str]
    rules: Counter[str]
    tried: int
    hidden: list[str]

    @classmethod
    def of(cls, replay: Replay[Any, Any]) -> Self:
        """Replay it, and change each value that is as it was recorded."""
        unknown, rules, hidden, tried = list[str](), Counter[str](), dict[str, list[str]](), 0
        for step in replay.recording.steps:
            told = [Difference(replay.recording, step, item) for item in replay.carried(step)]
            told += [Difference(replay.recording, step, item) for item in replay.compared(step)]
            for item in told:
                rule = replay.explained(item)
                rules.update([rule.why] if rule else [])
                unknown += (
                    [] if rule else [f"{replay.recording.name}: step {step.number}: {item.words}"]
                )
            for there, here in replay.last:
                for other in mutations(there, here):
                    tried += 1
                    rule = replay.explained(Difference(replay.recording, step, other))
                    if rule:
                        hidden.setdefault(rule.why, []).append(str(other))
        many = [
            item
            for why, found in hidden.items()
            if len(found) > OPAQUE.get(why, 0)
            for item in found
        ]
        return cls(unknown, rules, tried, many)


def replay_of(folder: str, name: str, **more: str) -> Replay[Any, Any]:
    """The replay of a recording, with some of its fields otherwise."""
    return RECORDINGS[folder](name, lambda item: vectors(f"{folder}/{item}") | more)
