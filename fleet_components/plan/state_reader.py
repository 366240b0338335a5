"""Read what the resources of one fleet say, from the state of its stack or from a render."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import starmap
from typing import Any, TypeVar

import attrs

from fleet_components.content.revision import UnpackingBudget
from fleet_components.content.stamp import CLUSTER_ANNOTATION, PLACEMENT_ANNOTATION
from fleet_components.content.unkept import SENT, unkept
from fleet_components.model.codec import MisfitError, below, decode
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.fleet_names import stacks_in
from fleet_components.plan.known_member import KnownMember, known_from
from fleet_components.plan.names import Urn
from fleet_components.plan.own_outputs import (
    CLUSTER_SCOPED,
    DECLARED,
    LOST,
    OWN_OUTPUTS,
    RECORDS,
    SHOWN,
    BindingOutputs,
    MemberOutputs,
    RosterOutputs,
    SubjectOutputs,
    fleet_in,
    kind_of,
)
from fleet_components.plan.record import Record, check_format
from fleet_components.plan.standing import (
    Claim,
    Standing,
    annotation_in,
    outlives,
    uid_in,
    was_found,
)
from fleet_components.plan.state import StoredResource
from fleet_components.rollout.rollout import Done

T = TypeVar("T")
_HOMELESS = Message(
    "under-name-no-fleet",
    "is {key} under a name that no fleet gives it, and the state does not say on which member"
    " it is",
)
_RENAME_BACK = "give it its name back: pulumi state rename '{urn}' '{name}'"


class StateReader:
    """Collector of what the resources of one fleet say."""

    def __init__(self, fleet: str, formerly: Sequence[str] = ()) -> None:
        self.fleet, self.formerly = fleet, formerly
        self.stacks: set[str] = set()
        self.budget = UnpackingBudget()
        self.roster = RosterOutputs()
        self.records: dict[str, Record[Any, Any]] = {}
        self.decided: dict[str, frozenset[str]] = {}
        self.protected: set[str] = set()
        self.shown: dict[str, Mapping[str, Any]] = {}
        self.earlier: dict[str, tuple[str, ...]] = {}
        self.done: dict[str, dict[str, Done]] = defaultdict(dict)
        self.keeps: dict[tuple[str, str], str] = {}
        self.members: dict[str, MemberOutputs] = {}
        self.objects: list[tuple[names.ObjectLocation, Urn, Mapping[str, Any], StoredResource]] = []
        self.strays: list[tuple[Urn, ObjectKey, Mapping[str, Any], StoredResource]] = []
        self.is_alone = True
        self.others: list[Claim] = []
        self.neighbours: dict[tuple[str, str], KnownMember] = {}
        self.urns: dict[tuple[str, str], str] = {}
        self.on_hub: dict[ObjectKey, str] = {}

    def read(self, urn: Urn, outputs: Mapping[str, Any], resource: StoredResource) -> None:
        """Take over what a resource says: its URN, and its outputs or what stands for them.

        Raises:
            MisfitError: the resource is damaged.
            FleetError: a later version has written it.
        """
        if names.is_object(urn.type) and names.HUB in urn.types:
            key = self._first(names.hub_key_of, urn)
            if key:
                self.on_hub[key] = urn.text
            # A name with that text is one that another fleet has given.
            elif f"{names.hub_name('')}/" not in urn.name and "metadata" in outputs:
                # Renamed in the state: a fleet has one hub, where each object is once.
                self.on_hub[Manifest(outputs).key] = urn.text
        elif names.is_object(urn.type):
            place = self._first(names.place_of, urn)
            if names.TARGET in urn.types and (key := names.key_in(urn, outputs)):
                self.strays.append((urn, key, outputs, resource))
            elif place:
                self.objects.append((place, urn, outputs, resource))
            elif claim := _claim_of(urn, outputs):
                self.others.append(claim)
        elif urn.type not in names.OWN:
            self.urns[urn.type, urn.name] = urn.text
        else:
            self._read_own(urn, outputs)

    def _first(self, read: Callable[[str, Urn], T | None], urn: Urn) -> T | None:
        """Return what a URN says under the name of the fleet, or else under a former one."""
        found = (read(fleet, urn) for fleet in (self.fleet, *self.formerly))
        return next((place for place in found if place is not None), None)

    def _count(self, contents: Any) -> None:
        for revision, text in contents.items() if isinstance(contents, Mapping) else ():
            with below("contents", str(revision)):
                self.budget.take(text)

    def _read_own(self, urn: Urn, given: Mapping[str, Any]) -> None:
        """Take over what one of our own resources says, if it is of this fleet and agrees with its
        URN.
        """
        outputs = {key: value for key, value in given.items() if value is not None}
        check_format(outputs)
        self._count(outputs.get("contents"))
        own = decode(OWN_OUTPUTS[urn.type], outputs) if urn.type in OWN_OUTPUTS else None
        if own is None:
            self.stacks |= stacks_in(outputs)
        fleet = fleet_in(urn, own, outputs)
        if fleet not in (self.fleet, *self.formerly):
            # Objects under strange names may be another fleet's then.
            self.is_alone = False
            if isinstance(own, MemberOutputs):
                self.neighbours[fleet, own.member] = known_from(own)
            return
        if (urn.type, urn.name) in self.urns:
            raise MisfitError(
                Problem(Message("kept-twice-under-two", "is kept twice, under two URNs"))
            )
        self.urns[urn.type, urn.name] = urn.text
        match own:
            case None:
                # Of several, the one that the last update has written has the name of the fleet.
                roster = decode(RosterOutputs, outputs)
                self.roster = (
                    roster if fleet == self.fleet or self.roster == RosterOutputs() else self.roster
                )
            case MemberOutputs():
                self.members[own.member] = own
            case BindingOutputs() if own.unsent:
                pass  # nothing was sent to the member, or not all of what was to come
            case BindingOutputs():
                # With its nulls: the revision, which has no default, is null where nothing runs.
                self.done[own.subject][own.cluster] = decode(Done, given)
                self.keeps[own.subject, own.cluster] = own.keeps
            case SubjectOutputs():
                self.records[own.key] = record = RECORDS[urn.type].from_wire(outputs)
                self.decided[urn.text] = record.members
                self.shown[own.key] = {key: outputs[key] for key in SHOWN if key in outputs}
                with below("apply"):
                    decode(ApplyMode, outputs.get("apply") or {})
                if own.formerly:
                    self.earlier[own.key] = own.formerly
                if own.protected:
                    self.protected.add(own.key)

    def strangers(self) -> Iterator[tuple[str, Message]]:
        """Yield URN and message of each decision about members that are not known.

        Members are registered before anything is decided, so that no interrupted update leaves such
        a decision. The record of a new member may be left out by ``--target`` or ``--exclude``,
        which never leave out its provider.
        """
        reached = {name for kind, name in self.urns if kind == names.PROVIDER}
        known = {*self.members, *self.roster.members}
        for urn, members in self.decided.items():
            strange = sorted(
                member
                for member in members - known
                if names.member_name(self.fleet, member) not in reached
            )
            if strange:
                yield (
                    urn,
                    Message(
                        "unknown-members-decided",
                        "decides about {members}, of which the state knows no member",
                        members=few(strange),
                    ),
                )

    def standing(self) -> tuple[Standing, ...]:
        """Return the objects on members."""
        renamed = (stood for stood in self._renamed if stood is not None)
        return (*starmap(self._standing, self.objects), *renamed)

    def known(self) -> dict[str, KnownMember]:
        """Return the members by name: those that have a record, and those that the roster names."""
        return {
            name: self._member(name)
            for name in {**dict.fromkeys(self.members), **self.roster.members}
        }

    @cached_property
    def _renamed(self) -> tuple[Standing | None, ...]:
        """The objects whose name in the state is not their own; None for one whose member is not
        known.
        """
        return tuple(starmap(self._found, self.strays))

    def _found(
        self, urn: Urn, key: ObjectKey, outputs: Mapping[str, Any], resource: StoredResource
    ) -> Standing | None:
        """Return an object on the only member where it is missing of those that its subject has
        been brought to.
        """
        subject = str(value_at(outputs, ("metadata", "annotations", PLACEMENT_ANNOTATION)) or "")
        there = {place.cluster for place, *_ in self.objects if place.object == key}
        missing = sorted(self.done.get(subject, {}).keys() - there)
        alike = [other for _, other, *_ in self.strays if other == key]
        uid = str(value_at(outputs, ("metadata", "uid")) or "")
        # Anything less certain is a problem for the user: see homeless().
        if len(missing) != 1 or len(alike) != 1 or not uid:
            return None
        place = names.ObjectLocation(subject.partition("/")[2], missing[0], key)
        return attrs.evolve(self._standing(place, urn, outputs, resource), subject=subject, uid=uid)

    def homeless(self) -> Iterator[Problem]:
        """Yield a problem for each object whose name in the state is not its own and whose member
        is not known.
        """
        for (urn, key, outputs, _), found in zip(self.strays, self._renamed, strict=True):
            subject = str(
                value_at(outputs, ("metadata", "annotations", PLACEMENT_ANNOTATION)) or ""
            )
            ours = self.is_alone or subject in self.records
            if found is None and ours:
                name = names.target_name(self.fleet, subject.partition("/")[2], "MEMBER")
                hint = _RENAME_BACK.format(urn=urn.text, name=f"{name}/{names.short_name(key)}")
                yield Problem(_HOMELESS.filled(key=key), (), hint, urn.text)

    def _standing(
        self,
        place: names.ObjectLocation,
        urn: Urn,
        outputs: Mapping[str, Any],
        resource: StoredResource,
    ) -> Standing:
        subject, found = f"{kind_of(urn, place.key)}/{place.key}", was_found(outputs)
        # Objects without a binding are left from an update that failed before it registered the
        # binding.
        settings = self.roster.settings
        default = CLUSTER_SCOPED if settings.keep_cluster_resources else ""
        kept = self.keeps.get((subject, place.cluster), default)
        stays = outlives(place.object, kept, found=found and settings.keep_found)
        # Of the URN: outputs may lack it, as in a render.
        version = names.api_version_of(urn.type)
        stands = Standing(
            subject,
            place.cluster,
            place.object,
            version,
            stays,
            urn.text,
            found,
            on=annotation_in(outputs, CLUSTER_ANNOTATION),
            object_uid=uid_in(outputs),
        )
        gone, interrupted = resource.pending_replacement, resource.interrupted
        dropped = unkept(outputs)
        return attrs.evolve(
            stands,
            outputs=resource.whole,
            gone=gone,
            interrupted=interrupted,
            unkept=dropped,
            sent=outputs[SENT] if dropped else {},
        )

    def _member(self, name: str) -> KnownMember:
        outputs = self.members.get(name) or MemberOutputs(member=name)
        known = known_from(outputs)
        # The record is newer than the roster, which is registered last.
        return attrs.evolve(
            known,
            state=LOST if outputs.lost else self.roster.members.get(name, DECLARED),
            own_provider=known.own_provider or name in self.roster.own_providers,
            recorded=name in self.members,
            # A first update that failed has left no roster.
            enrolled=name in self.roster.members or not self.roster.members,
        )


def _claim_of(urn: Urn, outputs: Mapping[str, Any]) -> Claim | None:
    """Return what a Kubernetes object of another owner claims; None for what is no object of a
    cluster.
    """
    if names.TARGET not in urn.types:
        if urn.type.endswith(f":{names.RELEASE}") and isinstance(outputs.get("name"), str):
            space, name = str(outputs.get("namespace") or ""), str(outputs["name"])
            return Claim(urn.text, ObjectKey("", names.RELEASE, space, name), outputs=outputs)
        named = isinstance(outputs.get("metadata"), Mapping) and outputs.get("kind")
        return Claim(urn.text, Manifest(outputs).key, outputs=outputs) if named else None
    fleet = urn.name.partition("/")[0]
    place = names.place_of(fleet, urn)
    if place is None:
        return None
    subject = f"{kind_of(urn, place.key)}/{place.key}"
    return Claim(urn.text, place.object, fleet, subject, place.cluster, outputs)


def fleets_of(resources: Iterable[StoredResource]) -> tuple[str, ...]:
    """Return the names of the fleets in a stack, sorted."""
    urns = [Urn.parse(resource.urn) for resource in resources]
    # Names of members have no slash.
    by_members = {urn.name.rpartition("/")[0] for urn in urns if urn.type == names.MEMBER}
    return tuple(sorted(by_members or {urn.name for urn in urns if urn.type == names.ROSTER}))
