"""The plan of a fleet: the decision of every subject, what is removed, and what is refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, TypeVar

import attrs

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.stamp import manager_of, stack_of, stamped
from fleet_components.content.unkept import is_empty, nulls, without
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.message import MEMORY, Message, Wording
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.consignment import Consignment
from fleet_components.plan.departures import UNRECORDED, Coverage, Departure, Replacement
from fleet_components.plan.guard import Pair
from fleet_components.plan.immutable import Held
from fleet_components.plan.known_member import KnownMember
from fleet_components.plan.options import Options
from fleet_components.plan.own_outputs import ALL, CLUSTER_SCOPED, LOST, MODES
from fleet_components.plan.past import Past
from fleet_components.plan.precedence import Precedence
from fleet_components.plan.record import FORMAT, LACKS_HINT, particulars
from fleet_components.plan.remainder import Remainder, remainders_of
from fleet_components.plan.renames import Renames
from fleet_components.plan.standing import Claim, Standing, outlives
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Done
from fleet_components.systems.registry import SYSTEMS

_MOVES = (Change.ADD, Change.UPDATE)
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@attrs.frozen(slots=False)
class FleetPlan:
    """The plan of one update of a fleet.

    Attributes:
        options: limits of the update, and what was accepted or renamed.
        past: the past that the plan starts from, under the current names.
        inventory: the members that are scheduled on.
        subjects: the placements, then the templates; templates that need others come before what
            they need.
        departures: the objects that their subject no longer brings to a member.
        replacements: the objects that are deleted and recreated.
        refused: why the update must not happen; each problem says what would allow it.
        warnings: warnings about the fleet as a whole.
        waiting: objects that no Karmada policy claims, with a digest of each, to be remembered.
        handed_out: True if a control plane brings its namespaces to every member by itself.
        held: policy fields to be remembered, since later updates are compared with them.
        members: the state of each member for the roster: ``member`` or ``lost``.
        manager: field manager of all objects: what an earlier resource of this stack has set
            belongs to it.
        consignment: what goes to the hub.
        renames: what is called otherwise now than in the state.
        precedence: what objects wait for on their members, whichever subject brings it.
        blocked: the subjects that wait for others on members that are held, each with those others.
        unplaced: refusals of objects that no subject can have.
        elsewhere: members whose clusters another fleet of the program has as well.
        coverage: which object is wanted on which member, and by which subject.
        written: the objects as they are written.
    """

    options: Options
    past: Past
    inventory: Inventory
    subjects: tuple[Decided, ...]
    departures: tuple[Departure, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    refused: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    handed_out: bool = False
    held: Held = attrs.field(factory=dict)
    members: Mapping[str, str] = attrs.field(factory=dict)
    manager: str = ""
    consignment: Consignment = Consignment()
    renames: Renames = Renames()
    precedence: Precedence = attrs.field(factory=Precedence, eq=False, repr=False)
    blocked: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    unplaced: tuple[Problem, ...] = ()
    elsewhere: frozenset[str] = frozenset()
    coverage: Coverage = attrs.field(factory=lambda: Coverage((), ()), eq=False, repr=False)
    written: Catalogue = attrs.field(factory=lambda: Catalogue(()), eq=False, repr=False)

    @property
    def stacks(self) -> frozenset[str]:
        """The names of the stack: its own, and those that it is known to have had before."""
        return self.past.stacks | {self.options.stack}

    def is_ours(self, owner: str) -> bool:
        """Return whether what a stack has brought is this stack's, or was let go of for it; False
        for no stack.
        """
        if not owner:
            return False
        # Under the recorded manager, what the stack has left behind before it was renamed is its
        # own.
        return (
            owner in {*self.stacks, *self.options.takes_from} or manager_of(owner) == self.manager
        )

    @property
    def roster(self) -> dict[str, Any]:
        """State of the fleet as a whole for the next run, in wire form."""
        return {
            "key": self.options.fleet,
            "format": FORMAT,
            "fleet": self.options.fleet,
            "members": dict(self.members),
            "settings": self.options.settings.to_wire(),
            "manager": self.manager,
            # The manager says one name of the stack.
            **({"stacks": sorted(self.stacks)} if self.stacks != {stack_of(self.manager)} else {}),
            **({"waiting": dict(self.waiting)} if self.waiting else {}),
            **({"held": dict(self.held)} if self.held else {}),
            **({"once": dict(self.consignment.once)} if self.consignment.once else {}),
            **({"staysOnLeaving": True} if self.past.stays_on_leaving else {}),
        }

    def of(self, component: str) -> tuple[Decided, ...]:
        """Return the subjects of one component type: ``Placement`` or ``Template``."""
        return tuple(decided for decided in self.subjects if component == decided.subject.COMPONENT)

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """Names of the placements and templates of the past that are no longer in the source."""
        known = {decided.name for decided in self.subjects}
        return tuple(
            sorted(
                {*self.past.records, *(standing.subject for standing in self.past.standing)} - known
            )
        )

    @property
    def handed_over(self) -> frozenset[str]:
        """Subjects of the past whose objects all move to other fleets of the program."""
        stays = {departure.subject for departure in self.departures if not departure.fleet}
        # Only if nothing of the subject stays in this fleet's hands.
        return frozenset(departure.subject for departure in self.departures) - stays

    @property
    def changes(self) -> bool:
        """True if an update would change an object, a member, or what is remembered of either."""
        known = {name: member.state for name, member in self.past.members.items()}
        # What is known without a look at each subject comes first.
        return (
            bool(self.departures or self.replacements or self.gone)
            or known != self.members
            or any(self.past.drops(name, self.options.confirm) for name in self.past.lost)
            or (self.past.waiting, self.past.held) != (self.waiting, self.held)
            or self.past.settings != self.options.settings
            or any(decided.changes or self.asks_otherwise(decided) for decided in self.subjects)
            or any(map(self.is_unfinished, self.subjects))
        )

    def is_unfinished(self, decided: Decided) -> bool:
        """Return whether objects of a subject are missing, or the last update ended in the middle
        of some.
        """
        return bool(decided.missing) or any(
            standing.gone or standing.interrupted
            for cluster in decided.record.decisions
            for standing in self.past.standing_on(decided.name, cluster)
        )

    @property
    def moves_members(self) -> bool:
        """True if an update would change objects on members itself, apart from what a hub does
        there.
        """
        by_hub = {decided.name for decided in self.subjects if decided.hub}
        # Objects that a subject of a hub leaves are deleted by the hub.
        touched = {
            *(departure.subject for departure in self.departures),
            *(replacement.subject for replacement in self.replacements),
        }
        return bool(touched - by_hub) or any(
            decided.changes for decided in self.subjects if not decided.hub
        )

    def asks_otherwise(self, decided: Decided) -> bool:
        """Return whether the request differs from what was recorded of it before, as far as it was
        recorded.
        """
        before = {
            "protected": False,
            "delivery": "",
            **MODES,
            **self.past.shown.get(decided.name, {}),
        }
        asked = {"protected": decided.subject.protected, "delivery": decided.hub}
        now = {**MODES, **decided.subject.shown(), **asked}
        # What was never recorded cannot differ.
        return any(
            key in before and before[key] != value
            for key, value in now.items()
            if value is not None
        )

    def is_by_hub(self, decided: Decided) -> bool:
        """Return whether a hub carries out a decision."""
        return bool(decided.hub or self.options.hub)

    @cached_property
    def remainders(self) -> Mapping[str, Remainder]:
        """Remainders that the update leaves to later ones, by subject."""
        return remainders_of(self.subjects, self.blocked, self.past, self.inventory)

    @property
    def sent_to(self) -> tuple[str, ...]:
        """Members that the update sends something to."""
        return sent_to(self.subjects, self.members)

    @property
    def members_gone(self) -> tuple[str, ...]:
        """Members of the past that are no longer declared."""
        return tuple(sorted(self.past.members.keys() - self.members.keys()))

    @property
    def members_new(self) -> tuple[str, ...]:
        """Members that join a fleet which has some already; empty for a new fleet."""
        return (
            tuple(sorted(self.members.keys() - self.past.members.keys()))
            if self.past.members
            else ()
        )

    @cached_property
    def standing(self) -> Mapping[Pair, Standing]:
        """Standing objects, by member and object."""
        return {(standing.cluster, standing.key): standing for standing in self.past.standing}

    @cached_property
    def unsettled(self) -> frozenset[Pair]:
        """Objects that were sent to another cluster than that to which the name of their member
        leads now.
        """
        return self.past.unsettled()

    @cached_property
    def _found(self) -> frozenset[Pair]:
        return frozenset(
            (standing.cluster, standing.key) for standing in self.past.standing if standing.found
        )

    @cached_property
    def leaving(self) -> Mapping[str, list[Departure]]:
        """Departures by the subject that brought the object."""
        return grouped(self.departures, lambda departure: departure.subject)

    @cached_property
    def left(self) -> frozenset[Pair]:
        """Objects that their subject no longer brings to a member, by member and object."""
        return frozenset((departure.cluster, departure.key) for departure in self.departures)

    @cached_property
    def replacing(self) -> Mapping[str, list[Replacement]]:
        """Replacements by the subject that brings the object."""
        return grouped(self.replacements, lambda replacement: replacement.subject)

    @cached_property
    def replaced(self) -> Mapping[Pair, Replacement]:
        """Objects that are deleted and recreated, by member and object."""
        return {
            (replacement.cluster, replacement.key): replacement for replacement in self.replacements
        }

    @cached_property
    def brought(self) -> Mapping[Pair, Decided]:
        """The subject that brings each object to a member itself, by member and object."""
        return {
            (cluster, key): decided
            for decided in self.subjects
            if not decided.hub and not decided.subject.reports
            for cluster in decided.deliveries
            for key in decided.keys(cluster)
        }

    @cached_property
    def taken_over(self) -> Mapping[Pair, tuple[Claim, ...]]:
        """Resources of the stack that the fleet takes over, by member and object, as far as is
        known beforehand.

        They are those of the program that the options name, and those of other fleets on the same
        cluster.
        """
        by_key = grouped(
            (other for other in self.past.others if not other.patch), lambda claim: claim.key
        )
        found = {
            pair: tuple(claim for claim in by_key.get(pair[1], ()) if self._takes(pair[0], claim))
            for pair in (self.brought if by_key else ())
            if pair not in self.standing
        }
        return {pair: claims for pair, claims in found.items() if claims}

    def is_called(self, fleet: str) -> bool:
        """Return whether the state calls this fleet so: by its name, or by a former one."""
        return fleet in (self.options.fleet, *self.past.fleets)

    def brings(self, claim: Claim) -> bool:
        """Return whether this fleet brings an object that the state has as one of its own."""
        member = self.renames.members.get(claim.cluster, claim.cluster)
        return (member, claim.key) in self.brought

    def takes_over(self, member: str, claim: Claim) -> bool:
        """Return whether the options name a resource as one that the fleet takes over on a
        member.
        """
        return any(
            fnmatchcase(claim.name, text) for text in self.options.takes_over.get(member, ())
        )

    def leaves_alone(self, member: str, claim: Claim) -> bool:
        """Return whether the options name a resource as none of a member's: it begins with ``!``
        there.
        """
        patterns = self.options.takes_over.get(member, ())
        return any(
            # Outside of brackets, ! is an ordinary character of a pattern.
            fnmatchcase(f"!{claim.name}", pattern)
            for pattern in patterns
            if pattern.startswith("!")
        )

    def shares(self, member: str, claim: Claim) -> bool | None:
        """Return whether another fleet has an object on the same cluster; None if that is not known
        beforehand.

        It has by the uid that the state has of both, or if their kubeconfigs lead to the same
        address. The same cluster may have several addresses.
        """
        there = self.past.neighbours.get((claim.fleet, claim.cluster), KnownMember())
        return self.known(member).is_cluster(there)

    def known(self, member: str) -> KnownMember:
        """Return what is known of the cluster behind a member: by the state, and by its
        kubeconfig.
        """
        known = self.past.members.get(member, KnownMember())
        return attrs.evolve(known, identity=self.options.identities.get(member, known.identity))

    def _takes(self, member: str, claim: Claim) -> bool:
        if self.leaves_alone(member, claim):
            return False
        return bool(self.shares(member, claim) if claim.fleet else self.takes_over(member, claim))

    @property
    def hidden(self) -> tuple[Problem, ...]:
        """Problems of subjects that keep an old revision on some members while the state hides its
        content.
        """
        return tuple(
            _lacking(decided, revision, self.options.hub)
            for decided in self.subjects
            if not decided.hub
            # One of them is enough for a warning.
            for revision in decided.record.hidden()[:1]
        )

    def emitted(self, decided: Decided, member: str) -> Iterator[dict[str, Any]]:
        """Yield the objects that a member gets, stamped with the subject that brings them."""
        for data, key in zip(decided.deliveries[member].written, decided.keys(member), strict=True):
            found, marks = (
                self.was_found(member, key),
                {"stack": self.options.stack, "manager": self.manager},
            )
            cluster = self.past.members[member].anew if member in self.past.members else ""
            yield stamped(data, placement=decided.name, found=found, cluster=cluster, **marks)

    def unkept(
        self, decided: Decided, member: str, data: Mapping[str, Any]
    ) -> tuple[FieldPath, ...]:
        """Return the fields of an emitted object that its API server does not keep as they are
        sent.

        They are no difference between what is stored and what is wanted. Nothing is returned for an
        object that changes: it is sent whole, so that what somebody has set there meanwhile goes.
        """
        standing = self.standing.get((member, Manifest(data).key))
        if standing is None:
            return ()
        sent, found = standing.sent, ((path, value_at(data, path)) for path in standing.unkept)
        same = (path for path, new in found if is_empty(new) or new == value_at(sent, path))
        paths = (*same, *nulls(data))
        # A member that moves is compared object by object: most of them may be as they were.
        stays = decided.entries[member].change not in _MOVES
        return paths if stays or without(data, paths) == without(standing.sent, paths) else ()

    def keeps(self, decided: Decided, member: str) -> str:
        """Return which objects outlive their subject on a member: all, the cluster-scoped ones, or
        none if empty.
        """
        if decided.deliveries[member].keeps:
            by_hub = bool(decided.hub)
            return "" if by_hub and not SYSTEMS[decided.hub].KEEPS_ON_REMOVAL else ALL
        if decided.hub:
            return ""
        # An update that prepares a move must not delete what leaves the stack.
        if self.options.moving:
            return ALL
        return CLUSTER_SCOPED if self.options.settings.keep_cluster_resources else ""

    def was_found(self, member: str, key: ObjectKey) -> bool:
        """Return whether an object stood on a member before a placement took it over, as far as the
        state knows it.
        """
        return (member, key) in self._found

    def outlives(self, decided: Decided, member: str, key: ObjectKey) -> bool:
        """Return whether an object stays on a member when its subject does not bring it any
        more.
        """
        found = self.options.settings.keep_found and not decided.hub and self.was_found(member, key)
        return outlives(key, self.keeps(decided, member), found=found)

    def remembered(self, member: str) -> dict[str, Any]:
        """Return what its record keeps of a lost member until it is back, in wire form."""
        if self.members.get(member) != LOST:
            return {"forgotten": []}
        known = self.past.members.get(member, KnownMember())
        if member in self.past.lost and self.past.drops(member, self.options.confirm):
            # A token has confirmed that what it may still have is forgotten.
            known = KnownMember()
        # What a hub has brought is the hub's to remember.
        stood = [standing for standing in self._stood.get(member, ()) if not standing.hub]
        kept = {*known.kept, *(standing.written for standing in stood if standing.kept)}
        # What outlives its subject anyway is not deleted when the member is back.
        forgotten = {*known.forgotten, *(standing.written for standing in stood)} - kept
        done = {name: here[member] for name, here in self.past.done.items() if member in here}
        ran = {
            **known.ran,
            **{
                name: done[name]
                for name in sorted({standing.subject for standing in stood} & done.keys())
            },
        }
        return {
            "lost": True,
            "forgotten": sorted(forgotten),
            **({"kept": sorted(kept)} if kept else {}),
            **({"ran": {name: _wire_of(item) for name, item in ran.items()}} if ran else {}),
        }

    @cached_property
    def returned(self) -> tuple[str, ...]:
        """Members that are back after they were lost."""
        return tuple(
            name for name, state in self.members.items() if state != LOST and name in self.past.lost
        )

    def taken_up(self, member: str) -> Mapping[ObjectKey, Mapping[str, Any] | None]:
        """Return the objects that a member that is back may still have, in the form in which each
        was sent last.

        The form is None if it is not known.
        """
        # Without its labels it is not known what the member was sent.
        position = self.inventory.position(member)
        if member not in self.returned or position is None:
            return {}
        known = self.past.members[member]
        found = dict[ObjectKey, Mapping[str, Any] | None].fromkeys(known.remembered)
        for name, ran in known.ran.items():
            record = self.past.records.get(name)
            sent = (
                record.objects(record.standing(ran), self.inventory.clusters[position])
                if record
                else ()
            )
            found |= {key: data for data in sent if (key := Manifest(data).key) in found}
        return found

    def swept(self, member: str) -> tuple[Departure, ...]:
        """Return unwanted objects that may exist on a member and that the engine does not delete:
        no state has them.
        """
        return tuple(self._unrecorded.get(member, ()))

    @cached_property
    def _stood(self) -> Mapping[str, list[Standing]]:
        return grouped(self.past.standing, lambda standing: standing.cluster)

    @cached_property
    def _unrecorded(self) -> Mapping[str, list[Departure]]:
        return grouped(
            (departure for departure in self.departures if departure.fate in UNRECORDED),
            lambda departure: departure.cluster,
        )


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return items by a key, in their order."""
    found: dict[K, list[T]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return dict(found)


def sent_to(subjects: Iterable[Decided], members: Mapping[str, str]) -> tuple[str, ...]:
    """Return the members for which something is decided; nothing is sent to lost ones."""
    placed = {
        cluster for decided in subjects if not decided.hub for cluster in decided.record.decisions
    }
    return tuple(name for name, state in members.items() if name in placed and state != LOST)


def _wire_of(done: Done) -> dict[str, Any]:
    return {"revision": done.revision, **particulars(done)}


def _lacking(decided: Decided, revision: int, hub: str) -> Problem:
    what = Message(
        "revision-stays-some-members",
        "revision {revision} stays on some members, and {memory} does not show its content, so"
        " it is not compared",
        revision=revision,
        memory=MEMORY,
    )
    wording = Wording.OBSERVED if hub else Wording.PROGRAM
    return Problem(what, subject=decided.name, hint=LACKS_HINT, wording=wording)
