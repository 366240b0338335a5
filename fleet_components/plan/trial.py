"""Try what a subject would send to a member if a part of an override were left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from fleet_components.content.overridden import Object, Overridden
from fleet_components.content.override_parts import Part
from fleet_components.content.secret import is_hidden
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.plan.record import Objects


class Unchanged(NamedTuple):
    """Reason for which a part changes nothing in an object.

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

    trial: Trial
    member: Cluster

    def results(self, left_out: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what overrides make of each object there, without some parts of one of them."""
        return self.trial.results(self.member, left_out)
