"""Verdicts of the plug-ins on single members, as data for people to read and for tests to inspect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import attrs

from fleet_components.model.selector import Labels, Requirement
from fleet_components.scheduler.framework import Filter, SchedulingError, Score, Verdict

S = TypeVar("S")


@attrs.frozen
class MemberExplanation:
    """Explanation why one member is selected or not.

    Attributes:
        cluster: the member.
        selected: whether it has, or is to get, the objects.
        summary: one line that states the reason.
        verdicts: the verdict of each plug-in, in the order of the profile.
    """

    cluster: str
    selected: bool
    summary: str
    verdicts: tuple[Verdict, ...] = ()


def filter_verdicts(filters: Iterable[Filter[S]], state: S, position: int) -> Iterator[Verdict]:
    """Yield the verdict of every filter on one member, including filters that the scheduler would not have reached."""
    for plugin in filters:
        try:
            passes = bool(plugin.mask(state, 1 << position))
        except SchedulingError as failure:
            yield Verdict(plugin.name, False, str(failure))
            continue
        if passes:
            yield Verdict(plugin.name, True, "passes")
        else:
            words, remedy = plugin.reason(state, position), plugin.remedy(state, position)
            yield Verdict(plugin.name, False, words, remedy=remedy)


def score_verdicts(scores: Iterable[Score[S]], state: S, position: int) -> Iterator[Verdict]:
    """Yield the verdict of every score on one member."""
    for plugin in scores:
        try:
            score = plugin.scores(state, 1 << position).get(position, 0)
            yield Verdict(plugin.name, None, plugin.words(state, position), score)
        except SchedulingError as failure:
            yield Verdict(plugin.name, None, str(failure))


def missed(requirements: Iterable[Requirement], labels: Labels) -> list[str]:
    """Return the requirements that the labels do not meet, each with the actual value of the label."""
    return [
        show_miss(requirement, labels.get(requirement.key))
        for requirement in requirements
        if not (requirement.valid and requirement.matches(labels))
    ]


def show_miss(requirement: Requirement, value: str | None) -> str:
    """Format a requirement with the value that does not meet it: ``env=prod (is "test")``."""
    shown = "absent" if value is None else f'"{value}"'
    return f"{show_requirement(requirement)} (is {shown})"


def show_requirement(requirement: Requirement) -> str:
    """Format a requirement: ``env=prod``, ``region not in (a, b)``."""
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "In":
            return f"{key} in ({', '.join(values)})"
        case "NotIn":
            return f"{key} not in ({', '.join(values)})"
        case "Exists":
            return f"label {key}"
        case "DoesNotExist":
            return f"no label {key}"
    return f"{key} {requirement.operator}"
