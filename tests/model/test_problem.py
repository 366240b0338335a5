"""Problems of several layers at once."""

from __future__ import annotations

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import Problem, layered

BROKEN, MISSED, MISSED_TOO = (
    Problem(Message("broken", "is not valid YAML")),
    Problem(Message("no-a", "no a"), follows=True),
    Problem(Message("no-b", "no b"), follows=True),
)


def test_what_only_follows_waits_for_what_is_broken() -> None:
    other = Problem(Message("not-share", "is {value}", value=5))
    assert layered([BROKEN], [MISSED, other], [MISSED_TOO]) == (BROKEN, other)
    assert layered([BROKEN, MISSED]) == (BROKEN, MISSED)


def test_what_follows_hides_nothing_else() -> None:
    assert layered([MISSED], [MISSED_TOO], [BROKEN]) == (MISSED, MISSED_TOO, BROKEN)


def test_each_is_said_once() -> None:
    assert layered([MISSED], [attrs.evolve(MISSED, follows=False), MISSED]) == (MISSED,)
