"""The order of members where one sync brings all that a member gets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.waves import PlanWave

Steps = tuple[tuple[str, ...], ...]
_HINT = "render wave by wave: --wave 1, and a pull request for each"


def steps_of(waves: Sequence[PlanWave]) -> Steps:
    """Return the members in steps: those of one wave of any subject never move before those of its
    earlier waves.

    Members of which something is only taken away come last.

    Raises:
        FleetError: subjects ask for opposite orders of the same members.
    """
    earlier: dict[str, set[str]] = defaultdict(set)
    groups: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for wave in waves:
        for part in (wave.moves, wave.leaves):
            for subject, members in part.items():
                groups[subject].append(members)
    for ordered in groups.values():
        # The moves of a wave come before its removals, and these before the next wave.
        for before, after in pairwise(ordered):
            for member in after:
                earlier[member].update(before)
    moving = {text for wave in waves for members in wave.moves.values() for text in members}
    emptied = {text for wave in waves for text in wave.members} - moving
    steps: list[tuple[str, ...]] = []
    left = set(moving)
    # Each turn takes the members that wait for none of the rest; if all wait, the orders
    # contradict.
    while left:
        ready = {member for member in left if not earlier[member] & left}
        if not ready:
            raise FleetError([_opposite(left, groups)])
        steps.append(tuple(sorted(ready)))
        left -= ready
    return (*steps, tuple(sorted(emptied))) if emptied else tuple(steps)


def _opposite(members: set[str], groups: dict[str, list[tuple[str, ...]]]) -> Problem:
    subjects = sorted(
        name
        for name, ordered in groups.items()
        if sum(bool(members & set(item)) for item in ordered) > 1
    )
    what = (
        f"move {few(sorted(members))} in opposite orders, and one sync brings all that a member"
        " gets"
    )
    return Problem(
        Message("step-not-in-gitops", "{subjects} {what}", subjects=few(subjects), what=what),
        hint=_HINT,
    )
