"""Find the parts of overrides that make no difference to what any member gets."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from fleet_components.content.overridden import Overridden
from fleet_components.content.override_parts import Part
from fleet_components.content.revision import canonical
from fleet_components.model.cluster import Cluster
from fleet_components.plan.lone import effective, lone
from fleet_components.plan.record import Objects
from fleet_components.plan.trial import Trial, Tried

MOST_RULES = 30_000
"""Limit of the rules that a search for parts without effect carries out to find none."""


def without_effect(
    parts: Collection[Part], trials: Sequence[Trial], most: int = MOST_RULES
) -> tuple[dict[Part, Tried | None], set[Part]]:
    """Return the parts of overrides that make no difference to what any member gets, and those that
    were not tried to the end.

    Each of the first comes with the place in which it was tried first; None if there is none.
    Where a rule fails, nothing is known of the others: they count as having an effect.

    Args:
        parts: the parts.
        trials: the subjects.
        most: how many rules may be carried out in vain.
    """
    open_: dict[Part, Tried | None] = dict.fromkeys(parts)
    untried = set[Part]()
    for trial in trials:
        alone = lone(part for part in parts if part.override in trial.by_key)
        alike = set[Hashable]()
        for member in trial.members if open_ else ():
            here = [part for part in open_ if _concerns(trial, part, member)]
            if not here or trial.alike(member) in alike:
                continue
            alike.add(trial.alike(member))
            there = Tried(trial, member)
            results = there.results()
            idle, free = _without_effect(there, results, here, alone)
            most -= len(idle) * sum(len(result.steps) for result in results)
            for part in here:
                if part not in free and (part not in idle or most < 0):
                    del open_[part]
                    if part in idle:
                        untried.add(part)
                elif open_[part] is None:
                    open_[part] = there
    return open_, untried


def _without_effect(
    there: Tried, results: Sequence[Overridden], parts: Collection[Part], alone: Collection[Part]
) -> tuple[set[Part], set[Part]]:
    """Return the parts that make no difference in one place: those of which that was tried, and
    those of which it is known without.

    Args:
        there: the place.
        results: what overrides make of each object there.
        parts: the parts.
        alone: those that write a field which no other part writes.
    """
    made = there.trial.made(results)
    if made is None:
        return set(), set()
    changing = {(step.override, step.rule) for result in results for step in result.steps if step.before != step.data}
    # A rule that changes nothing makes no difference as a whole; parts of it may undo each other.
    free = {part for part in parts if part.is_rule and (part.override, part.rule) not in changing}
    known = set(effective(there.trial, results, alone))
    tried = (part for part in parts if part not in free and known.isdisjoint(part.all))
    return {part for part in tried if _same(made, there.trial.made(there.results([part])))}, free


def _concerns(trial: Trial, part: Part, member: Cluster) -> bool:
    return part.override in trial.reached and trial.applies(part.override, part.rule, member)


def _same(made: Objects, other: Objects | None) -> bool:
    # In Python 1 equals True, and 1.0.
    return made == other and canonical(list(made)) == canonical(list(other or ()))
