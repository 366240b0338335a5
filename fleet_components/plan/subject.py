"""The interface of a subject: a KubeFleet placement, or a template that Karmada's policies steer.

A subject holds all that its decision depends on, except what was decided before. Planner,
providers, delivery and documents use this interface only; the packages ``kubefleet`` and
``karmada`` implement it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components.model.cluster import Taint
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, WorkloadShape, value_at
from fleet_components.model.message import Message, Wording
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import few
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.deviation import Deviation, deviations
from fleet_components.plan.record import Objects, Record, particulars
from fleet_components.plan.standing import StandingOn
from fleet_components.plan.unapplied import Unapplied, in_words
from fleet_components.rollout.rollout import (
    Change,
    Done,
    Entry,
    Gate,
    Placed,
    Rollout,
    Wave,
)
from fleet_components.scheduler.cycle import Proposals
from fleet_components.scheduler.edit import Edits
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.framework import Profile
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

R = TypeVar("R", bound=Record[Any, Any])
# Without a revision: nothing of the subject runs on the member.
_NOTHING = Done(None)

_FAILS = Message("override-fails", "fails on {members}")


@attrs.frozen(kw_only=True)
class Outcome(Generic[R]):
    """Outcome of deciding one subject.

    Attributes:
        record: the record to keep.
        rollout: which members change in which wave, and which are held.
        goal: the record in which the held members have what they get once they move, and no others
            are held.
        failing: members that keep what they run because an override fails there, each with the
            problem.
        unapplied: members on which a hub could not apply what it has sent, or will not be able to.
    """

    record: R
    rollout: Rollout
    goal: R
    failing: Mapping[str, Problem] = attrs.field(factory=dict)
    unapplied: Mapping[str, Unapplied] = attrs.field(factory=dict)

    @property
    def unfulfilled(self) -> str:
        """Reason why the policy is not fulfilled, by its members or on some of them; empty if it
        is.
        """
        return "; ".join([*filter(None, [self.unscheduled]), *in_words(self.unapplied)])

    @property
    def unscheduled(self) -> str:
        """Reason why the policy does not find its members, in the words of the real system; empty
        if it does.
        """
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the decision beside the rollout."""
        return ()

    @property
    def untaken(self) -> str:
        """Note that what is wanted has changed, and that nothing delivers it before the source
        asks; empty if not.
        """
        return ""

    @property
    def due(self) -> Mapping[str, str]:
        """Members that it has to leave later, each with the reason and the time."""
        return {}

    @property
    def left(self) -> str:
        """Reason why the content is not delivered as it is now; empty if it is."""
        return ""

    @property
    def left_later(self) -> frozenset[str]:
        """Members that the decision leaves, and that keep the objects for now."""
        return frozenset(self.rollout.held_removals)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what was asked for and is not done: rules of overrides that fail, each
        with the members.
        """
        members: dict[Problem, list[str]] = defaultdict(list)
        for cluster, problem in sorted(self.failing.items()):
            # Without its own words: one rule has one line, whatever it says about each member.
            members[attrs.evolve(problem, message=_FAILS, hint="")].append(cluster)
        return tuple(
            str(attrs.evolve(rule, message=_FAILS.filled(members=few(names))))
            for rule, names in members.items()
        )

    def scores(self, cluster: str) -> Mapping[str, int] | None:
        """Return the scores that a member had when it was picked; None if nothing is scored."""
        return None

    def instead(self, entries: Mapping[str, Entry], before: R) -> Self:
        """Return the outcome with other entries, in which some members keep what they run.

        Args:
            entries: the entries of all members concerned.
            before: the record of the last decision, which has the content that these members keep.
        """
        # Members that stay behind keep the rollout from being finished.
        rollout = attrs.evolve(
            self.rollout,
            entries=entries,
            waves=tuple(_still(wave, entries) for wave in self.rollout.waves),
            removals=tuple(
                removal
                for removal in self.rollout.removals
                if entries[removal].change is Change.REMOVE
            ),
            finished=False,
        )
        return attrs.evolve(
            self, rollout=rollout, record=self.record.keeping(rollout.placed, before)
        )


def _still(wave: Wave, entries: Mapping[str, Entry]) -> Wave:
    """Return a wave without the members that do not move."""
    moving = tuple(
        cluster
        for cluster in wave.clusters
        if entries[cluster].change in (Change.ADD, Change.UPDATE)
    )
    return attrs.evolve(wave, clusters=moving)


@attrs.frozen
class Explanation:
    """Explanation of a decision.

    Attributes:
        members: for each member, why it is selected or not.
        division: how replicas were divided, in words; empty if they are not divided.
    """

    members: tuple[MemberExplanation, ...] = ()
    division: tuple[str, ...] = ()


@attrs.frozen
class Delivery:
    """Objects for one member, and how they are delivered.

    Attributes:
        objects: the objects to be emitted.
        mode: how they are written.
        keeps: True if the objects stay on the member when they leave the stack.
        left_alone: fields that keep their values on the member once the objects exist, such as
            ``spec.replicas``.
    """

    objects: Objects
    mode: ApplyMode = ApplyMode()
    keeps: bool = False
    left_alone: tuple[str, ...] = ()

    @property
    def written(self) -> Objects:
        """The objects that stand on the member once they are delivered: none where they are
        compared only.
        """
        return () if self.mode.reports else self.objects


@attrs.frozen(kw_only=True)
class SubjectPolicy:
    """The policy that places a subject, as it is written.

    Attributes:
        name: ``Kind/key`` of a placement, ``Kind namespace/name`` of a propagation policy.
        origin: file and line; empty if unknown.
        labels: its labels.
        placement_type: ``PickAll``, ``PickFixed`` or ``PickN``; empty if the system has no types.
        spread_over: labels or fields of members that it spreads over, such as ``region``.
    """

    name: str
    origin: str
    labels: Mapping[str, str]
    placement_type: str = ""
    spread_over: tuple[str, ...] = ()


class Subject(ABC, Generic[R]):
    """A placement or template: the unit of a decision.

    Attributes:
        RECORD: type of its record.
        COMPONENT: name of its component type: ``Placement`` or ``Template``.
        PROFILE: the plug-ins of the real system.
        EVICTION: kind of the objects that evict it from a member; empty if a taint alone does.
        SINGLE: True if it is one object, by which messages call it.
        KEEPS_REVISIONS: True if earlier contents are kept, to go back to.
        key: name in the fleet, without the kind.
        kind: the kind, first part of its name.
        inventory: the members.
        done: what really runs, by member.
        waits: members that wait for an object of another subject, each with the gate.
        protected: True if its removal has to be confirmed.
        origin: file and line where it is written, or a note that the program makes it; empty if
            unknown.
        warnings: warnings about what may surprise the user.
        plugins: import paths of the plug-ins that decide with those of the real system.
        standing_on: returns its objects that stand on a member.
    """

    RECORD: ClassVar[type[Any]]
    COMPONENT: ClassVar[str]
    PROFILE: ClassVar[Profile]
    EVICTION: ClassVar[str] = ""
    SINGLE: ClassVar[bool] = False
    KEEPS_REVISIONS: ClassVar[bool] = False

    key: str
    inventory: Inventory
    done: Mapping[str, Done]
    waits: Mapping[str, Gate]
    protected: bool
    origin: str
    warnings: tuple[Problem, ...]
    plugins: tuple[str, ...]
    standing_on: StandingOn

    @property
    @abstractmethod
    def kind(self) -> str:
        """``ClusterResourcePlacement``, ``ResourcePlacement`` or ``Template``."""

    @property
    def name(self) -> str:
        """``Kind/key``: the name in states, annotations and errors."""
        return f"{self.kind}/{self.key}"

    @property
    def system(self) -> System:
        """The system that decides."""
        # A profile is called as its system.
        return SYSTEMS[self.PROFILE.name]

    @property
    def decided_by(self) -> str:
        """Say which plug-ins decide besides those of the real system; empty if there are none."""
        if not self.plugins:
            return ""
        return (
            f"decided with {', '.join(self.plugins)} too, and so no longer as {self.PROFILE.system}"
            " decides"
        )

    @property
    def timed(self) -> bool:
        """True if it counts when a revision has arrived on a member, for waits between the stages
        of an update run.
        """
        return False

    @property
    def reports(self) -> bool:
        """True if its objects are compared with those on the members, and never written."""
        return False

    @property
    def finds_namespaces(self) -> bool:
        """True if the system brings the namespaces of its objects to all members by itself."""
        return False

    @property
    def required_by(self) -> Mapping[str, Mapping[str, int]]:
        """Members of the subjects that need it, by key of these subjects."""
        return {}

    @property
    def workload_shapes(self) -> tuple[WorkloadShape, ...]:
        """Custom kinds whose replicas are known."""
        return ()

    @property
    @abstractmethod
    def hub_key(self) -> ObjectKey:
        """Key of the object on a hub that stands for it: the placement, or the template."""

    @property
    @abstractmethod
    def selected(self) -> tuple[Manifest, ...]:
        """Its objects as they are written, each with its origin; envelopes as they are."""

    @property
    @abstractmethod
    def origins(self) -> Mapping[ObjectKey, tuple[Origin, ...]]:
        """Places where each object that members get is written."""

    @abstractmethod
    def policy_of(self, record: R) -> SubjectPolicy:
        """Return the policy that places it, with a decision of a record."""

    @abstractmethod
    def label_hints(self, outcome: Any) -> list[str]:
        """Return a hint for each label that the policy requires and that no member has."""

    def stays_on(self, taint: Taint) -> str:
        """Return why it stays on a member that is drained; empty if it can leave.

        Args:
            taint: the taint that the member gets.
        """
        return ""

    def eviction(self, name: str, member: str) -> str:
        """Return the YAML of the object that evicts it from a member.

        Args:
            name: name of that object.
            member: name of the member.
        """
        raise NotImplementedError

    def feed_policies(self) -> Mapping[str, str] | None:
        """Write what it is decided by beside the members, once for all subjects, and return the
        feed; None if there is nothing else.
        """
        return None

    def last_decided(
        self, outcome: Any, record: R, shown: Mapping[str, Any]
    ) -> tuple[Subject[R], Any]:
        """Return the subject and its outcome as the last update has decided them.

        Args:
            outcome: the outcome, with the record and the rollout of the last update.
            record: that record.
            shown: what the state shows of the request beside the record.
        """
        return self, outcome

    @property
    @abstractmethod
    def content(self) -> Objects:
        """Objects that are wanted now, before anything is changed for single members."""

    @property
    def objects(self) -> Objects:
        """Objects of the content in the form that members get."""
        opened: Objects = self.RECORD.opened(self.content)
        return opened

    @abstractmethod
    def decide(self, before: R) -> Outcome[R]:
        """Return the decision.

        Args:
            before: the record of the last decision; the default record for a new subject.

        Raises:
            FleetError: no decision is possible; the real system could not decide either.
        """

    @abstractmethod
    def explain(self, outcome: Any, members: Collection[str] | None = None) -> Explanation:
        """Return why members are selected or not; all members by default."""

    @abstractmethod
    def choice(self, before: R) -> frozenset[str]:
        """Return the members that :meth:`decide` chooses, whatever the rollout does with them.

        Raises:
            FleetError: no decision is possible.
        """

    @abstractmethod
    def proposals(self, outcome: Any, cluster: str) -> Proposals:
        """Return changes that might let a member be chosen, or left."""

    @abstractmethod
    def comparison(self, before: R, outcome: Any, cluster: str) -> str:
        """Return in words by how much a member lost to another or is ahead of it; empty where no
        points decide.
        """

    @abstractmethod
    def changed(self, edits: Edits, outcome: Any) -> Self:
        """Return the subject in a fleet with a change; ``outcome`` is the decision that the change
        was proposed for.
        """

    @abstractmethod
    def anew(self) -> Self:
        """Return the subject as if nothing had been delivered."""

    @abstractmethod
    def sticky(self, outcome: Any) -> str:
        """Return in words what another memory could change of a decision; empty if every memory
        leads to the same.
        """

    @abstractmethod
    def reason(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Return in one line why a member is selected or not; ``explained`` is its part of
        :meth:`explain`.
        """

    @abstractmethod
    def delivery(self, outcome: Any, cluster: str) -> Delivery:
        """Return what a member of the decision gets, and how."""

    def replicas(self, record: R, cluster: str, placed: Placed) -> int | None:
        """Return the replicas that a member gets with a decision of a record, after overrides;
        None if they are not set for each member.
        """
        return None

    def deviations(self, record: R, cluster: str, placed: Placed) -> tuple[Deviation, ...] | None:
        """Return what overrides change on a member with a decision of a record; None if the state
        hides its objects.
        """
        position = self.inventory.position(cluster)
        if placed.overrides is None:
            return ()
        if not record.knows(placed):
            return None
        objects: Objects = record.plain(placed)
        results = record.apply(
            objects, record.rules(placed.overrides), self.inventory.clusters[position or 0]
        )
        return deviations(objects, results, self._place_of_rule)

    def _place_of_rule(self, override: str, position: int) -> str:
        """Return where the rule of an override is written; empty if it is not any more."""
        manifest = next(
            (item for item in self.override_manifests if str(item.key) == override), None
        )
        path = self.rule_path(manifest, position) if manifest else ()
        origin = manifest.origin if manifest else None
        # The override may have fewer rules by now.
        if origin is None or value_at(manifest and manifest.data, path) is None:
            return ""
        return attrs.evolve(origin, line=origin.locate(path)).location

    @property
    @abstractmethod
    def override_manifests(self) -> Iterable[Manifest]:
        """The overrides that may concern it, as written."""

    @staticmethod
    @abstractmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its override."""

    @abstractmethod
    def shown(self) -> dict[str, Any]:
        """Return the part of the request that a preview shows beside the decision, in wire form."""

    @abstractmethod
    def to_wire(self) -> dict[str, Any]:
        """Return the form for a feed, without the inventory."""

    @classmethod
    @abstractmethod
    def from_wire(cls, wire: Mapping[str, Any], inventory: Inventory) -> Self:
        """Read the subject back from :meth:`to_wire`."""


@attrs.frozen(slots=False)
class Decided:
    """A subject with its decision.

    Attributes:
        subject: the subject.
        before: the record of the last decision.
        outcome: the decision: an :class:`Outcome` of the type that belongs to the subject.
        first: names of the subjects that are delivered before it on each member.
        hub: the system of the hub that carries it out, ``kubefleet`` or ``karmada``: the decision
            is a forecast then. Empty if it is delivered directly.
        missing: objects that members were sent and that the state does not have any more, by
            member: they are created.
        mends: why members are updated that run what they should, by member: objects are missing
            there, or half written.
    """

    subject: Subject[Any]
    before: Record[Any, Any]
    outcome: Any
    first: tuple[str, ...] = ()
    hub: str = ""
    missing: Mapping[str, tuple[ObjectKey, ...]] = attrs.field(factory=dict)
    mends: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """``Kind/key`` of the subject."""
        return self.subject.name

    @property
    def record(self) -> Record[Any, Any]:
        """The record to keep."""
        record: Record[Any, Any] = self.outcome.record
        return record

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Entries of the rollout, by member."""
        entries: Mapping[str, Entry] = self.outcome.rollout.entries
        return entries

    @property
    def moves(self) -> bool:
        """True if anything happens to a member, holding it included."""
        return any(entry.change is not Change.KEEP for entry in self.entries.values())

    @property
    def changes(self) -> bool:
        """True if an update would change a member or the record."""
        # A held member keeps what it has.
        held = (Change.KEEP, Change.HELD)
        if any(entry.change not in held for entry in self.entries.values()):
            return True
        # If the state hides contents, records may differ in these alone, although nothing changes.
        # Most records are equal as they are, and need not be written out.
        return self.record != self.before and _remembered(self.record) != _remembered(self.before)

    def waiting(self, gates: Mapping[str, Gate]) -> Self:
        """Return it decided again, with the members that wait for others, each with the gate.

        Raises:
            FleetError: no decision is possible then.
        """
        subject: Any = self.subject
        subject = attrs.evolve(subject, waits={**subject.waits, **gates})
        # Decided again, it has lost what mended() had added.
        return attrs.evolve(self, subject=subject, outcome=subject.decide(self.before)).mended()

    def mended(self) -> Self:
        """Return it with the members of ``mends`` updated in their waves, where it leaves them
        alone.
        """
        rollout: Rollout = self.outcome.rollout
        entries, waves = dict(rollout.entries), {wave.number: wave for wave in rollout.waves}
        for cluster, why in self.mends.items():
            entry = entries[cluster]
            if entry.placed is None or entry.placed.version != self.done(cluster).version:
                continue
            if entry.change is Change.UPDATE:
                entries[cluster] = attrs.evolve(entry, reason=entry.reason or why)
            if entry.change is not Change.KEEP:
                continue
            entries[cluster] = attrs.evolve(entry, change=Change.UPDATE, reason=why)
            wave = waves.get(entry.placed.wave, Wave(entry.placed.wave, ()))
            clusters = tuple(sorted({*wave.clusters, cluster}))
            # A wave in which nothing else moves is new.
            waves[wave.number] = attrs.evolve(wave, clusters=clusters)
        if entries == rollout.entries:
            return self
        ordered = tuple(waves[number] for number in sorted(waves))
        rollout = attrs.evolve(rollout, entries=entries, waves=ordered)
        return attrs.evolve(self, outcome=attrs.evolve(self.outcome, rollout=rollout))

    def by_hub(self) -> Self:
        """Return it as a hub carries it out, which goes on by itself: reasons name no update that
        would.
        """
        rollout: Rollout = self.outcome.rollout
        entries = {
            name: (
                entry
                if isinstance(entry.reason, str)
                else attrs.evolve(entry, reason=entry.reason.worded(Wording.OBSERVED))
            )
            for name, entry in rollout.entries.items()
        }
        # No reason names an update: nothing is copied.
        if all(entry is rollout.entries[name] for name, entry in entries.items()):
            return self
        return attrs.evolve(
            self, outcome=attrs.evolve(self.outcome, rollout=attrs.evolve(rollout, entries=entries))
        )

    def why(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Return why the entry of a member is as it is; ``explained`` is the subject's explanation
        of that member.
        """
        entry = self.entries[cluster]
        why = str(entry.reason) or self.subject.reason(cluster, explained)
        if why or entry.change is not Change.REMOVE:
            return why
        if self.subject.inventory.position(cluster) is None:
            return "no longer a member of the fleet"
        return "nothing brings it there any more"

    def done(self, cluster: str) -> Done:
        """Return what runs on a member."""
        return self.subject.done.get(cluster, _NOTHING)

    def replicas_before(self, cluster: str) -> int | None:
        """Return the replicas that run on a member, after overrides; None if they are not set for
        each member.
        """
        done = self.done(cluster)
        if done.replicas is None or done.revision is None:
            return done.replicas
        found: int | None = self.subject.replicas(self.before, cluster, self.before.standing(done))
        return found

    def replicas_after(self, cluster: str, placed: Placed | None) -> int | None:
        """Return the replicas that a member gets with a decision, after overrides; None without
        any.
        """
        found: int | None = self.subject.replicas(self.record, cluster, placed) if placed else None
        return found

    def settled(self, cluster: str) -> Done:
        """Return what runs on a member of the decision once the update has succeeded."""
        placed, here = self.record.decisions[cluster], self.done(cluster)
        # The rule of ``BindingProvider.check``, which keeps the time of a binding on an engine.
        now = self.subject.inventory.as_of if self.subject.timed else None
        since = (here.since if here.version == placed.version else None) or now
        return Done(placed.revision, lost=here.lost, since=since, **particulars(placed))

    @cached_property
    def deliveries(self) -> Mapping[str, Delivery]:
        """Deliveries to the members of the decision, by member."""
        return {
            cluster: self.subject.delivery(self.outcome, cluster)
            for cluster in sorted(self.record.decisions)
        }

    def keys(self, cluster: str) -> tuple[ObjectKey, ...]:
        """Return the keys of the objects that are written to a member."""
        objects = self.deliveries[cluster].written
        # Members with equal content may share one tuple, which ``deliveries`` keeps alive: its keys
        # are computed once.
        if id(objects) not in self._keys:
            self._keys[id(objects)] = tuple(Manifest(data).key for data in objects)
        return self._keys[id(objects)]

    @cached_property
    def _keys(self) -> dict[int, tuple[ObjectKey, ...]]:
        return {}


def _remembered(record: Record[Any, Any]) -> Mapping[str, Any]:
    """Return the record without its contents, which a state may hide; their digests stand for
    them.
    """
    return {key: value for key, value in record.to_wire().items() if key != "contents"}
