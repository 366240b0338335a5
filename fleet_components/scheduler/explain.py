"""Each plug-in's verdict on one member: data, for people to read and for tests to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import attrs

from fleet_components.scheduler.framework import Filter, Score, Verdict

S = TypeVar("S")


@attrs.frozen
class MemberExplanation:
    """Why a member is selected, or is not.

    Attributes:
        cluster: the member.
        selected: whether it has, or is to get, the objects.
        summary: the one line that says why.
        verdicts: what each plug-in says, in the order of the profile.
    """

    cluster: str
    selected: bool
    summary: str
    verdicts: tuple[Verdict, ...] = ()


def filter_verdicts(filters: Iterable[Filter[S]], state: S, position: int) -> Iterator[Verdict]:
    """Ask every filter about one member, also those that the scheduler would not have reached."""
    for plugin in filters:
        if plugin.mask(state, 1 << position):
            yield Verdict(plugin.name, True, "passes")
        else:
            words, remedy = plugin.reason(state, position), plugin.remedy(state, position)
            yield Verdict(plugin.name, False, words, remedy=remedy)


def score_verdicts(scores: Iterable[Score[S]], state: S, position: int) -> Iterator[Verdict]:
    """Ask every score about one member."""
    for plugin in scores:
        score = plugin.scores(state, 1 << position).get(position, 0)
        yield Verdict(plugin.name, None, plugin.words(state, position), score)
