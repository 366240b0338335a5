"""Changes that might let a member be chosen or left. What comes of them is for the scheduler to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, product

import attrs

from fleet_components.scheduler.cycle import ask, counts, filters_of, passing
from fleet_components.scheduler.edit import Edits, Ladder, joined
from fleet_components.scheduler.framework import Filter, Profile, SchedulingError, Score, State

_MOST_WAYS = 8
"""Number of ways to pass one filter, and of ways to pass all, that are proposed."""


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
        """Yield the proposals for a member that is not chosen: what it needs at least, then with each boost."""
        yield from ((change,) for change in self.passing if change)
        for change, ladder in product(self.passing, self.boosting):
            yield tuple((*change, *rung) for rung in ladder)


def passing_changes(profile: Profile, state: State, position: int) -> tuple[tuple[Edits, ...], str]:
    """Return the fewest changes with which a member passes every filter; or the reason of one that nothing changes."""
    ways = list[tuple[Edits, ...]]()
    for plugin in filters_of(profile, state):
        if plugin.silent or _passes(plugin, state, position):
            continue
        found = ask(plugin, lambda p: tuple(islice(p.admitting(state, position), _MOST_WAYS)))
        if not found:
            return (), ask(plugin, lambda p: p.reason(state, position))
        ways.append(found)
    together = (joined(chain.from_iterable(each)) for each in product(*ways))
    return tuple(sorted(islice(together, _MOST_WAYS), key=len)), ""


def stopping_ladders(profile: Profile, state: State, position: int) -> Iterator[Ladder]:
    """Yield changes with which a filter would stop a member that passes it now."""
    for plugin in filters_of(profile, state):
        if not plugin.silent and _passes(plugin, state, position):
            yield from ask(plugin, lambda p: tuple(islice(p.stopping(state, position), _MOST_WAYS)))


def scoring_ladders(profile: Profile, state: State, position: int, *, more: bool) -> Iterator[Ladder]:
    """Yield changes that give a member a higher score, or a lower one."""
    for plugin in profile.scores:
        if not plugin.silent and counts(plugin, state):
            yield from ask(plugin, lambda p: tuple(islice(_scoring(p, state, position, more), _MOST_WAYS)))


def _scoring(plugin: Score[State], state: State, position: int, more: bool) -> Iterable[Ladder]:
    return plugin.raising(state, position) if more else plugin.lowering(state, position)


def _passes(plugin: Filter[State], state: State, position: int) -> bool:
    try:
        return bool(passing(plugin, state, 1 << position))
    except SchedulingError:
        return False
