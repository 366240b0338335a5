"""Try what a subject would send to a member if a part of an override were left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from fleet_components.content.overridden import Object, Overridden
from fleet_components.content.override_parts import Part
from fleet_components.content.revision import canonical
from fleet_components.content.secret import is_hidden
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.message import Message
from fleet_components.plan.record import Objects


class Unchanged(NamedTuple):
    """Reason for which a part changes nothing in an object.

    Attributes:
        message: the reason, as the rest of a sentence.
        hint: what was probably meant.
        by: the rule that undoes it; empty if none does.
    """

    message: Message
    hint: str = ""
    by: str = ""


def has_value(manifest: Manifest) -> Unchanged:
    """Return that an operation writes what is there already."""
    return Unchanged(
        Message("value-already", "{key} has that value already", key=manifest.key),
        "take it out, or write another value",
    )


class OverrideTrial(ABC):
    """One subject, to try overrides on each of its members.

    Its members are those that have the subject or that its policy may choose later: a rule for
    these is tried in the same way.
    """

    @cached_property
    @abstractmethod
    def members(self) -> Sequence[Cluster]:
        """The members."""

    @property
    @abstractmethod
    def is_placed(self) -> bool:
        """True if any member has the subject."""

    @cached_property
    @abstractmethod
    def reached(self) -> Mapping[str, Manifest]:
        """The overrides that select any of the objects, as ``Kind namespace/name``, each with the
        first object that it selects.
        """

    @cached_property
    @abstractmethod
    def by_key(self) -> Mapping[str, Any]:
        """The overrides that may concern any of the objects, also once others have changed them, by
        ``Kind namespace/name``.
        """

    @abstractmethod
    def applies(self, override: str, rule: int, member: Cluster) -> bool:
        """Return whether a rule of an override that reaches the subject selects a member."""

    @abstractmethod
    def alike(self, member: Cluster) -> Hashable:
        """Return what members have in common for which the overrides do the same."""

    @abstractmethod
    def results(self, member: Cluster, left_out: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what overrides make of each object, without some parts of one of them."""

    @abstractmethod
    def emitted(self, results: Sequence[Overridden]) -> Objects:
        """Return what a member gets of results without problems."""

    @abstractmethod
    def unchanged(self, part: Part, data: Mapping[str, Any]) -> Unchanged:
        """Return why a part changes nothing in an object that it finds in this form."""

    def alike_objects(self, data: Object | None, other: Object | None) -> bool:
        """Return whether two forms of an object mean the same; None is a deleted one."""
        return data == other

    def made(self, results: Sequence[Overridden]) -> Objects | None:
        """Return what a member gets of results; None if that is unknown: a rule fails, or data is
        hidden.
        """
        unknown = any(result.problem or is_hidden(result.data) for result in results)
        return None if unknown else self.emitted(results)


@attrs.frozen
class Tried:
    """A subject on one member, where a part of an override makes no difference."""

    trial: OverrideTrial
    member: Cluster

    def results(self, left_out: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what overrides make of each object there, without some parts of one of them."""
        return self.trial.results(self.member, left_out)


# Find the parts of overrides that make no difference to what any member gets.


MOST_RULES = 30_000
"""Limit of the rules that a search for parts without effect carries out to find none."""


def without_effect(
    parts: Collection[Part], trials: Sequence[OverrideTrial], most: int = MOST_RULES
) -> tuple[dict[Part, Tried | None], set[Part]]:
    """Return the parts of overrides that make no difference to what any member gets, and those that
    were not tried to the end.

    Each of the first comes with the place in which it was tried first; None if there is none.
    Where a rule fails, nothing is known of the others: they count as having an effect.

    Args:
        parts: the parts.
        trials: the subjects.
        most: how many rules may be carried out without finding an effect.
    """
    open_: dict[Part, Tried | None] = dict.fromkeys(parts)
    untried = set[Part]()
    for trial in trials:
        alone = lone(part for part in parts if part.override in trial.by_key)
        alike = set[Hashable]()
        for member in trial.members if open_ else ():
            here = [part for part in open_ if _concerns(trial, part, member)]
            # One member of each group is enough: overrides do the same on the others.
            if not here or trial.alike(member) in alike:
                continue
            alike.add(trial.alike(member))
            there = Tried(trial, member)
            results = there.results()
            idle, free = _without_effect(there, results, here, alone)
            # Only fruitless trials count against the limit: each runs all rules once more.
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
    # Without any part left out: what all results are compared with.
    made = there.trial.made(results)
    if made is None:
        return set(), set()
    changing = {
        (step.override, step.rule)
        for result in results
        for step in result.steps
        if step.before != step.data
    }
    # A rule that changes nothing makes no difference as a whole; parts of it may undo each other.
    free = {part for part in parts if part.is_rule and (part.override, part.rule) not in changing}
    known = set(effective(there.trial, results, alone))
    # A part that holds one with an effect has an effect.
    tried = (part for part in parts if part not in free and known.isdisjoint(part.all))
    return {part for part in tried if _same(made, there.trial.made(there.results([part])))}, free


def _concerns(trial: OverrideTrial, part: Part, member: Cluster) -> bool:
    return part.override in trial.reached and trial.applies(part.override, part.rule, member)


def _same(made: Objects, other: Objects | None) -> bool:
    # In Python 1 equals True, and 1.0.
    return made == other and canonical(list(made)) == canonical(list(other or ()))


# Show without a trial that parts of overrides have an effect: those that alone write a field.
#
# A trial of each of many operations on one object would take time that grows as their square.


def lone(parts: Iterable[Part]) -> list[Part]:
    """Return the parts that write a field which no other part writes, nor what is above or below
    it.

    Args:
        parts: all parts of the overrides that may concern an object.
    """
    leaves = [part for part in parts if not part.parts]
    written = Counter(leaf.field for leaf in leaves)
    above = {field[:length] for field in written for length in range(len(field))}
    return [leaf for leaf in leaves if leaf.field and _is_lone(leaf.field, written, above)]


def _is_lone(
    field: tuple[str, ...], written: Counter[tuple[str, ...]], above: Collection[tuple[str, ...]]
) -> bool:
    """Return whether a field is written once. Items of lists move, so that none of them counts."""
    in_list = any(step == "-" or step.lstrip("+-").isdecimal() for step in field)
    return (
        not in_list
        and written[field] == 1
        and field not in above
        and not _has_above(field, written)
    )


def _has_above(field: tuple[str, ...], written: Counter[tuple[str, ...]]) -> bool:
    return any(field[:length] in written for length in range(len(field)))


def effective(
    trial: OverrideTrial, results: Sequence[Overridden], alone: Iterable[Part]
) -> Iterator[Part]:
    """Yield those of the parts that alone write a field which members get in another form by them.

    Without such a part the field would be as before all overrides, or a rule would fail.
    """
    forms = []
    for result in results:
        rules = {(step.override, step.rule) for step in result.steps}
        for before in (step.before for step in result.steps[:1]):
            old, new = trial.emitted([Overridden(before)]), trial.emitted([result])
            if (
                [Manifest(data).key for data in old]
                == [Manifest(data).key for data in new]
                == [Manifest(before).key]
            ):
                forms.append((rules, old[0], new[0]))
    for part in alone:
        here = ((old, new) for rules, old, new in forms if (part.override, part.rule) in rules)
        if any(value_at(old, part.field) != value_at(new, part.field) for old, new in here):
            yield part
