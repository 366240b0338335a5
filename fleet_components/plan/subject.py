"""The contract of what is decided one by one: a KubeFleet placement, or a template of Karmada's policies.

A subject is all that a decision depends on, apart from what was decided before. Planner, providers, delivery and
documents know this contract; ``kubefleet`` and ``karmada`` beside it are its two implementations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import Problem
from fleet_components.plan.record import Objects, Record
from fleet_components.rollout.plan import Change, Done, Entry, Plan
from fleet_components.scheduler.explain import MemberExplanation

R = TypeVar("R", bound=Record[Any, Any])
_NOTHING = Done(None)


@attrs.frozen(kw_only=True)
class Outcome(Generic[R]):
    """What was decided.

    Attributes:
        record: what to keep.
        rollout: who moves when, and who is held.
    """

    record: R
    rollout: Plan

    @property
    def unfulfilled(self) -> str:
        """Why the policy is not fulfilled, in the words of the real system; empty when it is."""
        return ""

    def scores(self, cluster: str) -> Mapping[str, int] | None:
        """The scores of a member from when it was picked; None where nothing is scored."""
        return None


@attrs.frozen
class Explanation:
    """A decision explained.

    Attributes:
        members: why each member has it, or has not.
        division: how replicas were divided, in words; empty where they are not.
    """

    members: tuple[MemberExplanation, ...] = ()
    division: tuple[str, ...] = ()


@attrs.frozen
class Delivery:
    """What goes to one member, and how.

    Attributes:
        objects: the objects, as they are to be emitted.
        adopts: objects that are there already are taken up; else they are refused.
        keeps: the objects stay on the member when they leave the stack.
        left_alone: fields that stay as they are on the member once the objects are there, as ``spec.replicas``.
    """

    objects: Objects
    adopts: bool = True
    keeps: bool = False
    left_alone: tuple[str, ...] = ()


class Subject(ABC, Generic[R]):
    """What is decided one by one.

    Attributes:
        RECORD: the type of its record.
        COMPONENT: what its component is called: ``Placement`` or ``Template``.
        key: what it is called in the fleet.
        kind: its kind, which begins its name.
        inventory: the members.
        done: what really runs, by member.
        protected: it must not go without a word.
        origin: the file and the line where it is written, or that it is the program; empty where that is not known.
        warnings: what may surprise.
    """

    RECORD: ClassVar[type[Any]]
    COMPONENT: ClassVar[str]

    key: str
    inventory: Inventory
    done: Mapping[str, Done]
    protected: bool
    origin: str
    warnings: tuple[Problem, ...]

    @property
    @abstractmethod
    def kind(self) -> str:
        """ClusterResourcePlacement, ResourcePlacement or Template."""

    @property
    def name(self) -> str:
        """``Kind/key``: what it is called in states, annotations and errors."""
        return f"{self.kind}/{self.key}"

    @property
    @abstractmethod
    def content(self) -> Objects:
        """The objects as they are wanted now, before anything is done to them for a member."""

    @abstractmethod
    def decide(self, before: R) -> Outcome[R]:
        """Decide.

        Args:
            before: what was decided before; the default record for what is new.

        Raises:
            FleetError: it cannot be decided, as the real system could not.
        """

    @abstractmethod
    def explain(self, outcome: Any, members: Collection[str] | None = None) -> Explanation:
        """Why members have it, or have not; all members by default."""

    @abstractmethod
    def reason(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Why a member has it, or has not, in one line; ``explained`` is what :meth:`explain` says of it."""

    @abstractmethod
    def delivery(self, outcome: Any, cluster: str) -> Delivery:
        """What a member of the decision gets, and how."""

    @abstractmethod
    def shown(self) -> dict[str, Any]:
        """What of the request is shown beside the decision in a preview, in wire form."""

    @abstractmethod
    def to_wire(self) -> dict[str, Any]:
        """Its form in a feed, without the inventory."""

    @classmethod
    @abstractmethod
    def from_wire(cls, wire: Mapping[str, Any], inventory: Inventory) -> Self:
        """Read it back."""


@attrs.frozen(slots=False)
class Decided:
    """A subject, decided.

    Attributes:
        subject: the subject.
        before: what was decided before.
        outcome: what is decided now: an :class:`Outcome` of the subject's own sort.
        first: the names of the subjects that go before it on each member.
    """

    subject: Subject[Any]
    before: Record[Any, Any]
    outcome: Any
    first: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``Kind/key``."""
        return self.subject.name

    @property
    def record(self) -> Record[Any, Any]:
        """What to keep."""
        record: Record[Any, Any] = self.outcome.record
        return record

    @property
    def entries(self) -> Mapping[str, Entry]:
        """What happens to each member concerned."""
        entries: Mapping[str, Entry] = self.outcome.rollout.entries
        return entries

    @property
    def moves(self) -> bool:
        """Whether anything happens to a member."""
        return any(entry.change is not Change.KEEP for entry in self.entries.values())

    @property
    def changes(self) -> bool:
        """Whether an update would do anything: to a member, or to what is remembered."""
        held = (Change.KEEP, Change.HELD)
        return any(entry.change not in held for entry in self.entries.values()) or _remembered(
            self.record
        ) != _remembered(self.before)

    def why(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Why that happens to a member; ``explained`` is what the subject says of it."""
        entry = self.entries[cluster]
        why = entry.reason or self.subject.reason(cluster, explained)
        if why or entry.change is not Change.REMOVE:
            return why
        if self.subject.inventory.position(cluster) is None:
            return "no longer a member of the fleet"
        return "nothing brings it there any more"

    def done(self, cluster: str) -> Done:
        """What runs on a member."""
        return self.subject.done.get(cluster, _NOTHING)

    @cached_property
    def deliveries(self) -> Mapping[str, Delivery]:
        """What each member of the decision gets, and how."""
        return {cluster: self.subject.delivery(self.outcome, cluster) for cluster in sorted(self.record.decisions)}

    def keys(self, cluster: str) -> tuple[ObjectKey, ...]:
        """The objects that a member gets."""
        objects = self.deliveries[cluster].objects
        if id(objects) not in self._keys:
            self._keys[id(objects)] = tuple(Manifest(data).key for data in objects)
        return self._keys[id(objects)]

    @cached_property
    def _keys(self) -> dict[int, tuple[ObjectKey, ...]]:
        return {}


def _remembered(record: Record[Any, Any]) -> Mapping[str, Any]:
    """The record without contents, which a state may hide; their digests tell what differs."""
    return {key: value for key, value in record.to_wire().items() if key != "contents"}
