"""Try what a subject would send to a member if a part of an override were left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from fleet_components.content.overridden import Object, Overridden
from fleet_components.content.override_parts import Part
from fleet_components.content.revision import canonical
from fleet_components.content.secret import is_hidden
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.plan.record import Objects

MOST_RULES = 30_000
"""The most rules that are carried out, in a search for parts without effect, to find none: seconds."""


class Unchanged(NamedTuple):
    """Why a part changes nothing in an object.

    Attributes:
        what: the reason, as the rest of a sentence.
        hint: what was probably meant.
        by: the rule that undoes it; empty if none does.
    """

    what: str
    hint: str = ""
    by: str = ""


def has_value(manifest: Manifest) -> Unchanged:
    """Return that an operation writes what is there already."""
    return Unchanged(f"{manifest.key} has that value already", "take it out, or write another value")


class Trial(ABC):
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

    def alike_objects(self, one: Object | None, other: Object | None) -> bool:
        """Return whether two forms of an object mean the same; None is a deleted one."""
        return one == other

    def made(self, results: Sequence[Overridden]) -> Objects | None:
        """Return what a member gets of results; None if that is unknown: a rule fails, or data is
        hidden.
        """
        unknown = any(result.problem or is_hidden(result.data) for result in results)
        return None if unknown else self.emitted(results)


@attrs.frozen
class Tried:
    """A subject on one member, where a part of an override makes no difference."""

    trial: Trial
    member: Cluster

    def results(self, left_out: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what overrides make of each object there, without some parts of one of them."""
        return self.trial.results(self.member, left_out)


def without_effect(
    parts: Collection[Part], trials: Sequence[Trial], most: int = MOST_RULES
) -> dict[Part, Tried | None]:
    """Return the parts of overrides that make no difference to what any member gets.

    Each comes with the first place in which it was tried; None if there is none. Where a rule
    fails, nothing is known of the others: they count as having an effect. So do those that are
    not tried to the end.

    Args:
        parts: the parts.
        trials: the subjects.
        most: how many rules may be carried out in vain.
    """
    open_: dict[Part, Tried | None] = dict.fromkeys(parts)
    for trial in trials:
        alike = set[Hashable]()
        for member in trial.members if open_ else ():
            here = [part for part in open_ if _concerns(trial, part, member)]
            if not here or trial.alike(member) in alike:
                continue
            alike.add(trial.alike(member))
            there = Tried(trial, member)
            results = there.results()
            vain, free = _vain(there, results, here)
            most -= len(vain) * sum(len(result.steps) for result in results)
            for part in here:
                if part not in free and (part not in vain or most < 0):
                    del open_[part]
                elif open_[part] is None:
                    open_[part] = there
    return open_


def _vain(there: Tried, results: Sequence[Overridden], parts: Collection[Part]) -> tuple[set[Part], set[Part]]:
    """Return the parts that make no difference in one place: those of which that was tried, and
    those of which it is known without.

    Args:
        there: the place.
        results: what overrides make of each object there.
        parts: the parts.
    """
    made = there.trial.made(results)
    if made is None:
        return set(), set()
    changing = {(step.override, step.rule) for result in results for step in result.steps if step.before != step.data}
    # A rule that changes nothing makes no difference as a whole; parts of it may undo each other.
    free = {part for part in parts if part.is_rule and (part.override, part.rule) not in changing}
    tried = (part for part in parts if part not in free)
    return {part for part in tried if _same(made, there.trial.made(there.results([part])))}, free


def _concerns(trial: Trial, part: Part, member: Cluster) -> bool:
    return part.override in trial.reached and trial.applies(part.override, part.rule, member)


def _same(made: Objects, other: Objects | None) -> bool:
    # In Python 1 equals True, and 1.0.
    return made == other and canonical(list(made)) == canonical(list(other or ()))
