"""Verdicts of the plug-ins on single members, as data for people to read and for tests to
inspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from fleet_components.model.mask import Mask, has
from fleet_components.model.selector import Labels, Requirement
from fleet_components.scheduler.cycle import ask, counts, filters_of, passing, scoring
from fleet_components.scheduler.framework import Filter, Profile, SchedulingError, State, Verdict

_PASSES = "passes"


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


def filter_verdicts(
    profile: Profile, state: State, position: int, *, picked: bool = False
) -> Iterator[Verdict]:
    """Yield the verdict of every filter on one member, including filters that the scheduler would
    not have reached.

    Args:
        profile: the plug-ins.
        state: the state of the cycle.
        position: the member.
        picked: whether the member is picked itself, so that plug-ins that count the picks would
            mislead.
    """
    for plugin in filters_of(profile, state):
        if not (plugin.silent or (picked and plugin.counts_picks)):
            yield filter_verdict(plugin, state, position)


def passing_all(profile: Profile, state: State, picked: Mask) -> tuple[Mask, tuple[Verdict, ...]]:
    """Return which of the picked members pass every filter, with the verdicts that
    :func:`filter_verdicts` has of each.

    Most do, so that they need not be asked about one by one.
    """
    if not picked:
        return 0, ()
    try:
        # All of these members are picked, so that plug-ins which count the picks would mislead.
        named = [
            plugin
            for plugin in filters_of(profile, state)
            if not (plugin.silent or plugin.counts_picks)
        ]
        for plugin in named:
            picked = passing(plugin, state, picked)
    except SchedulingError:  # one member is enough for that; the others have verdicts of their own
        return 0, ()
    return picked, tuple(Verdict(plugin.name, True, _PASSES) for plugin in named)


def filter_verdict(plugin: Filter[Any], state: State, position: int) -> Verdict:
    """Return the verdict of one filter on one member."""
    try:
        passes = bool(passing(plugin, state, 1 << position))
    except SchedulingError as failure:
        # A plug-in that made the cycle fail must not keep the verdicts of the others from the
        # reader.
        return Verdict(plugin.name, False, str(failure))
    if passes:
        return Verdict(plugin.name, True, _PASSES)
    words, remedy = ask(plugin, lambda p: (p.reason(state, position), p.remedy(state, position)))
    return Verdict(plugin.name, False, words, remedy=remedy)


def score_verdicts(
    profile: Profile, state: State, position: int, *, picked: bool = False
) -> Iterator[Verdict]:
    """Yield the verdict of every score on one member; the arguments are those of
    :func:`filter_verdicts`.
    """
    for plugin in profile.scores:
        if plugin.silent or (picked and plugin.counts_picks):
            continue
        try:
            if counts(plugin, state):
                # A member in none of the sets has 0.
                score = next(
                    (
                        n
                        for n, members in scoring(plugin, state, 1 << position).items()
                        if has(members, position)
                    ),
                    0,
                )
                words = ask(plugin, lambda p: p.words(state, position))
                yield Verdict(plugin.name, None, words, score, part=plugin.part)
        except SchedulingError as failure:
            yield Verdict(plugin.name, None, str(failure), part=plugin.part)


def missed(requirements: Iterable[Requirement], labels: Labels) -> list[str]:
    """Return the requirements that the labels do not meet, each with the actual value of the
    label.
    """
    return [
        show_miss(requirement, labels.get(requirement.key))
        for requirement in requirements
        if not requirement.met_by(labels)
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
