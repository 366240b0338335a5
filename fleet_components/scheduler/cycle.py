"""One scheduling cycle: runs the plug-ins of a profile over the whole fleet, extension point by
extension point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import TypeVar

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.frames import raised_at
from fleet_components.model.mask import Mask
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError
from fleet_components.model.text import article
from fleet_components.scheduler.edit import Edits, Ladder, joined
from fleet_components.scheduler.framework import (
    Filter,
    Plugin,
    PreFilter,
    PreScore,
    Profile,
    SchedulingError,
    Score,
    State,
    problem_of,
)

P = TypeVar("P", bound=Plugin)
T = TypeVar("T")
Scores = Mapping[int, Mask]
"""Members by score, each in one set; a member in no set has 0."""


@attrs.frozen
class Filtered:
    """Result of the filters: the members that passed, and the members that each filter was the
    first to stop.

    Members that a silent plug-in has stopped are in neither.
    """

    passed: Mask
    stopped: tuple[tuple[Filter[State], Mask], ...]

    def stopped_by(self, position: int) -> Filter[State] | None:
        """Return the filter that stopped the member at this position; None if the member passed."""
        return next((plugin for plugin, mask in self.stopped if masks.has(mask, position)), None)


def batch_size(profile: Profile, state: State, wanted: int) -> int:
    """Return how many of the wanted members one cycle may pick: the least number that a plug-in
    allows.

    Raises:
        FleetError: a plug-in fails, or allows none.
    """
    least = wanted
    for plugin in profile.post_batches:
        answer = ask(plugin, lambda p: p.batch(state, wanted))
        # With none picked a cycle would follow a cycle for ever.
        if type(answer) is not int or answer < 1:
            raise _failure(
                plugin,
                Message("allows-no-pick", "allows no pick"),
                "batch() returns a number of members, 1 or more",
            )
        least = min(least, answer)
    return least


def run_filters(profile: Profile, state: State, candidates: Mask) -> Filtered:
    """Run the filters in order on the candidates; each member is attributed to the first filter
    that stops it.
    """
    stopped = []
    for plugin in filters_of(profile, state):
        passed = passing(plugin, state, candidates)
        if not plugin.silent:
            stopped.append((plugin, candidates & ~passed))
        # A filter that fails ends the whole cycle, so it must not see members that an earlier one
        # has stopped: the real schedulers leave a member's chain of filters at the first that stops
        # it.
        candidates = passed
    return Filtered(candidates, tuple(stopped))


def run_scores(profile: Profile, state: State, candidates: Mask) -> tuple[Scores, ...]:
    """Return the scores of the candidates, for each part of the profile's score."""
    parts: dict[str, Scores] = {}
    for plugin in profile.scores:
        if counts(plugin, state):
            scores = scoring(plugin, state, candidates)
            parts[plugin.part] = (
                _sum(parts[plugin.part], scores, candidates) if plugin.part in parts else scores
            )
    return tuple(parts.get(part, {}) for part in profile.parts)


def best_first(parts: Sequence[Scores], candidates: Mask) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the candidates with their scores: by the first part, then the next one, then by name,
    all descending.
    """
    if not parts:
        # Descending like the scores, as in KubeFleet, which sorts scores and names together in
        # reverse (``ScoredClusters.Less`` in pkg/scheduler/framework/score.go, v0.3.1).
        while candidates:
            position = candidates.bit_length() - 1
            candidates ^= 1 << position
            yield position, ()
        return
    scores, others = parts[0], parts[1:]
    # A generator, since the caller takes a few of perhaps ten thousand: nothing behind the last
    # pick is put in order.
    for score in sorted({0, *scores}, reverse=True):
        # A plug-in may put members without a score under 0 or leave them out; both must be the same
        # group.
        members = candidates & (scores[score] if score else _unscored(scores, candidates))
        if members:
            for position, following in best_first(others, members):
                yield position, (score, *following)


def reason_of(plugin: Filter[State], state: State, position: int) -> str:
    """Return why a filter stops the member at this position."""
    return ask(plugin, lambda p: p.reason(state, position))


def filters_of(profile: Profile, state: State) -> list[Filter[State]]:
    """Return the filters that run in this cycle; a plug-in's PreFilter may skip its own."""
    return [
        plugin
        for plugin in profile.filters
        if not isinstance(plugin, PreFilter) or ask(plugin, lambda p: p.pre_filter(state))
    ]


def counts(plugin: Score[State], state: State) -> bool:
    """Return whether a score counts in this cycle; the plug-in's PreScore may skip it."""
    return not isinstance(plugin, PreScore) or ask(plugin, lambda p: p.pre_score(state))


def passing(plugin: Filter[State], state: State, candidates: Mask) -> Mask:
    """Return the candidates that pass a filter.

    Raises:
        FleetError: the plug-in fails, or does not answer with a mask.
    """
    answer = ask(plugin, lambda p: p.mask(state, candidates))
    # Not isinstance: True would pass for the set of the first member.
    if type(answer) is not int:
        raise _failure(
            plugin,
            Message("answers-with-other-kind", "answers with {kind}", kind=_kind(answer)),
            "mask() returns a set of members, an int",
        )
    return answer & candidates


def scoring(plugin: Score[State], state: State, candidates: Mask) -> Scores:
    """Return the candidates by score.

    Raises:
        FleetError: the plug-in fails, or does not answer with masks by score.
    """
    answer = ask(plugin, lambda p: p.scores(state, candidates))
    # Exact types, as in `passing`: a bool is an int for isinstance.
    if not isinstance(answer, Mapping) or {*map(type, answer), *map(type, answer.values())} - {int}:
        raise _failure(
            plugin,
            Message("answers-with-other-kind", "answers with {kind}", kind=_kind(answer)),
            "scores() returns sets of members by score, both ints",
        )
    return answer


def ask(plugin: P, question: Callable[[P], T]) -> T:
    """Return a plug-in's answer.

    Raises:
        SchedulingError: the plug-in says that the cycle fails.
        FleetError: the plug-in itself fails; the values of its error are left out, since they may
            be secret.
    """
    try:
        return question(plugin)
    except (SchedulingError, FleetError):
        raise
    except Exception as error:
        file, line = raised_at(error)
        what = Message(
            "failed-with", "failed with {article}", article=article(type(error).__name__)
        )
        raise FleetError([problem_of(plugin, what, file=file, line=line)]) from error


def _failure(plugin: Plugin, what: Message, hint: str) -> FleetError:
    return FleetError([problem_of(plugin, what, hint=hint)])


def _kind(answer: object) -> str:
    return article(type(answer).__name__)


def _unscored(scores: Scores, candidates: Mask) -> Mask:
    """Return the candidates whose score is 0: those that no other score has."""
    for score, members in scores.items():
        if score:
            candidates &= ~members
    return candidates


def _sum(some: Scores, more: Scores, candidates: Mask) -> Scores:
    """Return the sum of two plug-ins' scores."""
    summed: dict[int, Mask] = {}
    for score, members in {**some, 0: _unscored(some, candidates)}.items():
        for extra, others in {**more, 0: _unscored(more, candidates)}.items():
            both = members & others
            if both:
                summed[score + extra] = summed.get(score + extra, 0) | both
    return summed


# Changes that might let a member be chosen or left. What comes of them is for the scheduler to
# say.


_MOST_WAYS = 8
"""The most ways that are proposed: to pass one filter, and to pass all of them."""


@attrs.frozen
class Proposals:
    """Proposals for one member of a decision.

    Attributes:
        passing: the fewest changes with which it passes every filter; one that is empty if it does.
        boosting: changes that make it more likely that a member that passes is chosen.
        losing: changes with which a chosen member might be left.
        stopped: why nothing lets it pass, in the words of the filter; empty if something does.
    """

    passing: tuple[Edits, ...] = ()
    boosting: tuple[Ladder, ...] = ()
    losing: tuple[Ladder, ...] = ()
    stopped: str = ""

    def ladders(self) -> Iterator[Ladder]:
        """Yield the proposals for a member that is not chosen: what it needs at least, then with
        each boost.
        """
        yield from ((change,) for change in self.passing if change)
        for change, ladder in product(self.passing, self.boosting):
            yield tuple((*change, *rung) for rung in ladder)


def passing_changes(profile: Profile, state: State, position: int) -> tuple[tuple[Edits, ...], str]:
    """Return the fewest changes with which a member passes every filter; or the reason of one that
    nothing changes.
    """
    ways = list[tuple[Edits, ...]]()
    for plugin in filters_of(profile, state):
        if plugin.silent or _passes(plugin, state, position):
            continue
        found = ask(plugin, lambda p: tuple(islice(p.admitting(state, position), _MOST_WAYS)))
        if not found:
            return (), ask(plugin, lambda p: p.reason(state, position))
        ways.append(found)
    # If there is no filter to pass, the product has one element: the empty change.
    together = (joined(chain.from_iterable(each)) for each in product(*ways))
    # Cut before it is sorted, since the product grows with every filter.
    return tuple(sorted(islice(together, _MOST_WAYS), key=len)), ""


def stopping_ladders(profile: Profile, state: State, position: int) -> Iterator[Ladder]:
    """Yield changes with which a filter would stop a member that passes it now."""
    for plugin in filters_of(profile, state):
        if not plugin.silent and _passes(plugin, state, position):
            yield from ask(plugin, lambda p: tuple(islice(p.stopping(state, position), _MOST_WAYS)))


def scoring_ladders(
    profile: Profile, state: State, position: int, *, more: bool
) -> Iterator[Ladder]:
    """Yield changes that give a member a higher score, or a lower one."""
    for plugin in profile.scores:
        if not plugin.silent and counts(plugin, state):
            yield from ask(
                plugin, lambda p: tuple(islice(_scoring(p, state, position, more), _MOST_WAYS))
            )


def _scoring(plugin: Score[State], state: State, position: int, more: bool) -> Iterable[Ladder]:
    return plugin.raising(state, position) if more else plugin.lowering(state, position)


def _passes(plugin: Filter[State], state: State, position: int) -> bool:
    try:
        return bool(passing(plugin, state, 1 << position))
    except SchedulingError:
        return False
