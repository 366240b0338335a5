"""The past of a fleet: what was decided and what stands, in one form for every origin.

It is read from the running stack, from an exported state or from the last render.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import starmap
from typing import Any, TypeVar

import attrs

from fleet_components.content.header import check_header
from fleet_components.content.revision import Budget
from fleet_components.content.stamp import (
    CLUSTER_ANNOTATION,
    FOUND,
    FOUND_ANNOTATION,
    PLACEMENT_ANNOTATION,
)
from fleet_components.content.unkept import SENT, unkept
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, below, checked, decode, one_of
from fleet_components.model.labels import subdomain_errors
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.fleet_names import stacks_in
from fleet_components.plan.guard import loss_token
from fleet_components.plan.immutable import Held, damaged
from fleet_components.plan.karmada.record import TemplateRecord
from fleet_components.plan.kubefleet.record import PlacementRecord
from fleet_components.plan.names import Urn
from fleet_components.plan.options import Settings
from fleet_components.plan.record import Record, check_format, particulars
from fleet_components.plan.recorded import Recorded
from fleet_components.plan.state import MEND, StoredResource
from fleet_components.rollout.rollout import Done, Placed

T = TypeVar("T")
LOST, DECLARED = "lost", "member"
"""Member states in the roster."""
CLUSTER_SCOPED, ALL = "cluster-scoped", "all"
"""Values of a binding's ``keeps``: which objects stay on the member when they leave the stack; none if empty."""
_WRITTEN_PARTS = 4
_TEMPLATE = names.component_type(names.TEMPLATE_KIND)
_NOT_IN_URN = "is not what the URN says"
_HOMELESS = "is {key} under a name that no fleet gives it, and the state does not say on which member it is"
_RENAME_BACK = "give it its name back: pulumi state rename '{urn}' '{name}'"
MODES: Mapping[str, Any] = {"reports": False, "apply": {}}
"""Records of the way in which objects are written, each with what its absence stands for."""
_SHOWN = ("policy", "strategy", "protected", "delivery", "keeps", *MODES)
_RECORDS: Mapping[str, type[Record[Any, Any]]] = {names.PLACEMENT: PlacementRecord, names.TEMPLATE: TemplateRecord}


@attrs.frozen
class Standing:
    """An object that the fleet has brought to a member.

    Attributes:
        subject: the subject that brought it, as ``Kind/key``.
        cluster: the member.
        key: the object's key.
        api_version: the apiVersion in which it was sent.
        kept: True if it stays on the member when it leaves the stack.
        urn: its URN.
        found: True if it stood on the member before the fleet took it over.
        on: uid of the cluster that it was sent to, if the member's name has led to another one before; else empty.
        hub: True if a hub has brought it, according to its last forecast: it is in no state.
        outputs: returns the outputs of its resource; None where the content of its member says what it is, and
            where no state has it.
        gone: True if it was deleted to be replaced, and has not been created again.
        interrupted: what the last update did with it when it was killed, ``updating`` for example:
            what stands is not known. Empty if nothing.
        uid: its uid, if its name in the state does not tell the member: that follows from what else stands, and the
            member has to confirm it.
        unkept: paths of empty fields that its API server does not keep.
        sent: the object as it was sent last, if it has such fields; else empty.
        object_uid: its uid on the cluster; empty if the state does not have it.
    """

    subject: str
    cluster: str
    key: ObjectKey
    api_version: str = ""
    kept: bool = False
    urn: str = ""
    found: bool = False
    on: str = ""
    hub: bool = False
    outputs: Callable[[], Mapping[str, Any]] | None = attrs.field(default=None, eq=False, repr=False)
    gone: bool = False
    interrupted: str = ""
    uid: str = ""
    unkept: tuple[FieldPath, ...] = attrs.field(default=(), eq=False, repr=False)
    sent: Mapping[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    object_uid: str = ""

    @cached_property
    def recorded(self) -> Recorded | None:
        """The object as its resource in the state has it; None where its content says what it is, and in a render."""
        return Recorded.of(self.outputs()) if self.outputs else None

    @property
    def written(self) -> str:
        """The object as one text, as member records keep it: ``apiVersion|Kind|namespace|name``."""
        return "|".join((self.api_version, self.key.kind, self.key.namespace, self.key.name))


def read_written(text: str) -> tuple[str, ObjectKey]:
    """Parse the text of :attr:`Standing.written` into apiVersion and key."""
    version, kind, namespace, name = text.split("|")
    return version, ObjectKey(version.rpartition("/")[0], kind, namespace, name)


@attrs.frozen
class Claim:
    """A Kubernetes object that the stack has under a URN which is none of the fleet's.

    Attributes:
        urn: the URN.
        key: the object's key.
        fleet: the other fleet that has brought it; empty for a resource of the program's own.
        subject: the subject of that fleet, as ``Kind/key``.
        cluster: the member of that fleet.
        outputs: its outputs, as the state has them.
    """

    urn: str
    key: ObjectKey
    fleet: str = ""
    subject: str = ""
    cluster: str = ""
    outputs: Mapping[str, Any] = attrs.field(factory=dict, eq=False, repr=False)

    @property
    def uid(self) -> str:
        """Its uid on the cluster; empty if the state does not have it, as for objects that are rendered."""
        return _uid_in(self.outputs)

    @property
    def patch(self) -> bool:
        """True if it sets some fields of an object that somebody else has made."""
        return Urn.parse(self.urn).type.endswith(names.PATCH)

    @property
    def name(self) -> str:
        """Its name in the program."""
        return Urn.parse(self.urn).name


@attrs.frozen(kw_only=True)
class KnownMember:
    """State of a member, as remembered from the last run.

    Attributes:
        state: ``member`` or ``lost``.
        identifier: the provider's identifier of the cluster; it stays while the cluster is the same.
        identity: what identified the cluster before it could be asked; empty if nothing did.
        uid: the cluster's own uid; empty if it was never read.
        forgotten: objects that the fleet had there when it was lost, as ``apiVersion|Kind|namespace|name``.
        formerly: earlier names of the member, the last one at the end.
        recorded: True if it has a record of its own; False if only the roster names it, which is registered last: an
            update that broke has renamed it.
        enrolled: True if the roster names it.
        kept: those that it had there and that outlive their subject, in the same form.
        ran: what ran there when it was lost, by subject.
        own_provider: True if its objects may belong to a provider that the program has brought.
        anew: the cluster's own uid, if the name has led to another cluster before; else empty.
    """

    state: str = DECLARED
    identifier: str = ""
    identity: str = ""
    uid: str = ""
    forgotten: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    recorded: bool = True
    enrolled: bool = True
    kept: tuple[str, ...] = ()
    ran: Mapping[str, Done] = attrs.field(factory=dict)
    own_provider: bool = False
    anew: str = ""

    @property
    def remembered(self) -> Mapping[ObjectKey, str]:
        """Objects that it may still have from before it was lost, each with the apiVersion in which it was sent."""
        found = map(read_written, (*self.forgotten, *self.kept))
        return {key: version for version, key in found}

    def memory_token(self, name: str) -> str:
        """Return the token that lets the fleet forget what the member of this name may still have."""
        return loss_token(f"member {name}", (*self.forgotten, *self.kept))

    def is_cluster(self, other: KnownMember) -> bool | None:
        """Return whether two members are one cluster; None if neither uids nor identities show it."""
        if self.uid and other.uid:
            return self.uid == other.uid
        return True if self.identity and self.identity == other.identity else None


@attrs.frozen(kw_only=True)
class Past:
    """Starting point of a plan: decisions, standing objects, members and settings of the last run.

    Attributes:
        file: the file that it was read from; empty for a new fleet and for the running stack.
        records: the record of each subject, by ``Kind/key``.
        done: what really runs, by ``Kind/key`` and member.
        standing: the objects that were brought to members.
        members: the members, by name.
        waiting: objects that neither a Karmada policy nor a placement had claimed, with a digest of each.
        held: earlier values of the policy fields that updates are compared with.
        protected: subjects whose removal has to be confirmed, as ``Kind/key``.
        shown: what was recorded of each request beside its decision, by ``Kind/key``.
        settings: limits of the last update.
        manager: field manager of the objects; empty for a new fleet.
        redacted: True if contents lack the data of Secrets, so that this data cannot be compared.
        stays_on_leaving: True if objects stay on a member that leaves the fleet, as on a hub of KubeFleet.
        others: Kubernetes objects of the same stack that this fleet has not brought.
        neighbours: members of the other fleets of the stack, by fleet and name.
        urns: URNs of the registered resources, by type and name.
        on_hub: URNs of the objects that the stack has on its hub, by object.
        hub: the uid of the hub; empty if it is not known, or there is none.
        once: digest of each request that a hub carries out once, by object: it has been made there.
        observed: subjects of which it is known how their hub has them, as ``Kind/key``.
        fleets: other names that the state has for the fleet.
        stacks: names that the stack has had, as ``organization/project/stack``, as far as its rosters know them.
        formerly: earlier keys of subjects, by ``Kind/key``, the last one at the end.
    """

    file: str = ""
    records: Mapping[str, Record[Any, Any]] = attrs.field(factory=dict)
    done: Mapping[str, Mapping[str, Done]] = attrs.field(factory=dict)
    standing: tuple[Standing, ...] = ()
    members: Mapping[str, KnownMember] = attrs.field(factory=dict)
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    held: Held = attrs.field(factory=dict)
    protected: frozenset[str] = frozenset()
    shown: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    settings: Settings = Settings()
    manager: str = ""
    redacted: bool = False
    stays_on_leaving: bool = False
    others: tuple[Claim, ...] = ()
    neighbours: Mapping[tuple[str, str], KnownMember] = attrs.field(factory=dict)
    urns: Mapping[tuple[str, str], str] = attrs.field(factory=dict)
    on_hub: Mapping[ObjectKey, str] = attrs.field(factory=dict)
    hub: str = ""
    once: Mapping[str, str] = attrs.field(factory=dict)
    observed: frozenset[str] = frozenset()
    fleets: tuple[str, ...] = ()
    stacks: frozenset[str] = frozenset()
    formerly: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    def record(self, name: str, kind: type[T]) -> T:
        """Return the record of a subject; the default record for a new one."""
        found = self.records.get(name)
        return found if isinstance(found, kind) else kind()

    @property
    def lost(self) -> frozenset[str]:
        """Members that are gone for good."""
        return frozenset(name for name, member in self.members.items() if member.state == LOST)

    def unsettled(self) -> frozenset[tuple[str, ObjectKey]]:
        """Return the objects, by member, that were sent to another cluster than that to which its name leads now."""
        anew = {name: known.anew for name, known in self.members.items() if known.anew and known.state != LOST}
        return frozenset(
            (one.cluster, one.key) for one in self.standing if one.on != anew.get(one.cluster, one.on) and not one.hub
        )

    def with_unsettled_broken(self) -> Past:
        """Return the past in which the last update has broken wherever objects were sent to another cluster."""
        unsettled = self.unsettled()
        stood = {(one.subject, one.cluster) for one in self.standing if (one.cluster, one.key) in unsettled}
        done = {
            name: {
                cluster: attrs.evolve(one, broken=True) if (name, cluster) in stood else one
                for cluster, one in here.items()
            }
            for name, here in self.done.items()
        }
        return attrs.evolve(self, done=done) if stood else self

    def compared(self, members: Mapping[str, Cluster]) -> Past:
        """Return the past in which objects have a recorded form only where no content says what they are.

        A binding follows the objects of its member. They are what its revision says, unless the last update has sent
        something else since, or was killed in the middle of one. An object that this revision lacks was left by an
        update that broke before its deletion, in any form.

        Args:
            members: the members by name: what their content is depends on their labels. Objects of others are left as
                they are.
        """
        known: dict[tuple[str, str], Container[ObjectKey]] = {}
        elsewhere, standing = self.unsettled(), list[Standing]()
        for one in self.standing:
            place = one.subject, one.cluster
            if one.outputs and one.cluster in members:
                if place not in known:
                    known[place] = self._content_of(one.subject, members[one.cluster])
                settled = (one.key in known[place] and not one.interrupted) or (one.cluster, one.key) in elsewhere
                one = attrs.evolve(one, outputs=None) if settled else one
            standing.append(one)
        return attrs.evolve(self, standing=tuple(standing))

    def _content_of(self, subject: str, member: Cluster) -> Container[ObjectKey]:
        """Return the objects of which a binding says what they are on a member."""
        here, record = self.done.get(subject, {}).get(member.name), self.records.get(subject)
        if record is None or here is None or not _is_settled(here, record.decisions.get(member.name)):
            return ()
        sent = record.standing(here)
        if not record.knows(sent):
            return _Everything()
        return frozenset(Manifest(data).key for data in record.objects(sent, member))

    def drops(self, member: str, confirm: Collection[str]) -> bool:
        """Return whether what a lost member may still have is to be remembered no longer, according to a token."""
        known = self.members[member]
        confirmed = bool(known.remembered) and known.memory_token(member) in confirm
        return confirmed and not any(one.cluster == member for one in self.standing)

    @property
    def reporting(self) -> frozenset[str]:
        """Subjects whose objects were compared only, and never written."""
        return frozenset(name for name, shown in self.shown.items() if shown.get("reports"))

    def mode(self, name: str) -> ApplyMode:
        """Return the mode in which the objects of a subject were written, as far as it concerns drift."""
        return decode(ApplyMode, self.shown.get(name, {}).get("apply") or {})

    def templates(self) -> list[str]:
        """Return the keys of the known templates."""
        return [name.partition("/")[2] for name in self.records if name.startswith(f"{names.TEMPLATE_KIND}/")]

    @classmethod
    def of(
        cls,
        resources: Iterable[StoredResource],
        fleet: str,
        *,
        formerly: Sequence[str] = (),
        file: str = "",
        mend: str = MEND,
    ) -> Past:
        """Read the past of a fleet from the resources of a stack.

        Args:
            resources: the resources, with their outputs; secrets in plain text, or as ``[encrypted]``.
            fleet: the fleet's name; other fleets of the stack are left out.
            formerly: other names that the state may have for it, after a rename, or one that broke.
            file: the file that they were read from.
            mend: the hint for problems: how to repair a damaged state.

        Raises:
            FleetError: the state is damaged, or was written by a later version; carries a problem for every resource
                and field concerned.
        """
        reader = _Collector(fleet, formerly)
        problems: list[Problem] = []
        for resource in resources:
            urn = Urn.parse(resource.urn)
            # A program is handed the outputs alone, so that nothing else counts of our own resources.
            field = "outputs" if resource.outputs or urn.type in names.OWN else "inputs"
            try:
                reader.read(urn, getattr(resource, field), resource)
            except MisfitError as misfit:
                problems += [Problem(one.what, (field, *one.path), mend, resource.urn, file) for one in misfit.problems]
            except FleetError as error:
                problems += [attrs.evolve(one, subject=resource.urn, file=file) for one in error.problems]
        if not problems:
            problems += (Problem(what, ("outputs",), mend, urn, file) for urn, what in reader.strangers())
        problems += (attrs.evolve(one, file=file) for one in reader.homeless())
        if problems:
            raise FleetError(problems)
        return reader.past(file)

    def renamed(self, members: Mapping[str, str], placements: Mapping[str, str]) -> Past:
        """Return the past under the current names.

        Args:
            members: current names of members, by name in the state.
            placements: current keys of placements, by key in the state.
        """
        if not members and not placements:
            return self

        def subject(name: str) -> str:
            kind, _, key = name.partition("/")
            return f"{kind}/{placements.get(key, key)}"

        def cluster(name: str) -> str:
            return members.get(name, name)

        done: dict[str, dict[str, Done]] = defaultdict(dict)
        for name, members_done in _renamed_last(self.done, subject):
            for member, here in _renamed_last(members_done, cluster):
                done[subject(name)].setdefault(cluster(member), here)
        return attrs.evolve(
            self,
            # After an update that failed half-way both names are known; the entry under the new name is newer.
            records={subject(name): record.renamed(cluster) for name, record in _renamed_first(self.records, subject)},
            done=dict(done),
            standing=tuple(
                attrs.evolve(one, subject=subject(one.subject), cluster=cluster(one.cluster)) for one in self.standing
            ),
            members={
                name: attrs.evolve(one, ran={subject(key): ran for key, ran in _renamed_last(one.ran, subject)})
                for name, one in _under_current_names(self.members, cluster).items()
            },
            formerly={
                subject(name): _earlier(formerly, name.partition("/")[2], subject(name).partition("/")[2])
                for name, formerly in _renamed_first(dict.fromkeys(self.records, ()) | dict(self.formerly), subject)
            },
            protected=frozenset(map(subject, self.protected)),
            observed=frozenset(map(subject, self.observed)),
            shown={subject(name): shown for name, shown in _renamed_first(self.shown, subject)},
        )

    @property
    def forecast(self) -> Mapping[str, str]:
        """The system of the hub that carries out each subject of the last update, by ``Kind/key``."""
        return {name: str(system) for name, shown in self.shown.items() if (system := shown.get("delivery"))}

    def carried_out(self, members: Mapping[str, Cluster]) -> Past:
        """Return the past in which a hub has carried out the last forecast of each subject that goes through it.

        Args:
            members: the members by name: what stands on one depends on its labels.
        """
        names_of_hub = [name for name in self.forecast if name in self.records and name not in self.observed]
        done, standing = dict(self.done), list(self.standing)
        for name in names_of_hub:
            record, shown = self.records[name], self.shown[name]
            # What a run directly before has left there is told by its bindings.
            done[name] = {
                **{
                    cluster: Done(placed.revision, **particulars(placed))
                    for cluster, placed in record.decisions.items()
                },
                **self.done.get(name, {}),
            }
            for cluster, placed in record.decisions.items() if not shown.get("reports") else ():
                objects = record.objects(placed, members.get(cluster) or Cluster(cluster))
                standing += (
                    Standing(name, cluster, one.key, one.api_version, kept=shown.get("keeps") == ALL, hub=True)
                    for one in map(Manifest, objects)
                )
        return attrs.evolve(self, done=done, standing=tuple(standing)) if names_of_hub else self

    def reaching(self, reached: Collection[str]) -> Past:
        """Return the past with ``lost`` set for what runs on members that are not reached.

        Nothing is sent to those members, and what runs there cannot be kept.
        """
        return attrs.evolve(
            self,
            done={
                name: {member: _marked_lost(here, member not in reached) for member, here in done.items()}
                for name, done in self.done.items()
            },
        )


def _marked_lost(here: Done, lost: bool) -> Done:
    return here if here.lost == lost else attrs.evolve(here, lost=lost)


class _Everything(Container[ObjectKey]):
    """All objects: those of a content that the state hides."""

    def __contains__(self, key: object) -> bool:
        return True


def _is_settled(here: Done | None, placed: Placed | None) -> bool:
    """Return whether a binding says what a member runs."""
    # It follows the objects: until then, some may be as they were, and some not.
    if here is None or here.revision is None or here.broken:
        return False
    if placed is None:
        return True
    return placed.version == here.version and particulars(placed) == particulars(here)


def was_found(outputs: Mapping[str, Any]) -> bool:
    """Return whether an object stood on its member before a placement took it over."""
    return _annotation(outputs, FOUND_ANNOTATION) == FOUND


def _annotation(outputs: Mapping[str, Any], name: str) -> str:
    found = value_at(outputs, ("metadata", "annotations", name)) if outputs else None
    return found if isinstance(found, str) else ""


def outlives(key: ObjectKey, keeps: str, *, found: bool) -> bool:
    """Return whether an object stays on its member when it leaves the stack.

    Args:
        key: the object.
        keeps: which objects of its subject stay there.
        found: True if it stood there before, and what stood before is kept.
    """
    return found or keeps == ALL or (keeps == CLUSTER_SCOPED and not key.namespace)


def fleets_of(resources: Iterable[StoredResource]) -> tuple[str, ...]:
    """Return the names of the fleets in a stack, sorted."""
    urns = [Urn.parse(resource.urn) for resource in resources]
    # Names of members have no slash.
    by_members = {urn.name.rpartition("/")[0] for urn in urns if urn.type == names.MEMBER}
    return tuple(sorted(by_members or {urn.name for urn in urns if urn.type == names.ROSTER}))


@cache
def _no_member(name: str) -> str:
    return "is not the name of a member" if subdomain_errors(name) else ""


def _no_states(members: Mapping[str, str]) -> str:
    if any(map(_no_member, members)):
        return "has a key that is not the name of a member"
    strange = sorted(name for name, state in members.items() if state not in (DECLARED, LOST))
    return f"says of {few(strange)} neither {DECLARED} nor {LOST}" if strange else ""


def _no_subjects(subjects: Mapping[str, Done]) -> str:
    return "" if all(map(names.is_subject, subjects)) else "has a key that names no subject"


def _unwritten(texts: tuple[str, ...]) -> str:
    return "" if all(map(_is_written, texts)) else "has a text that is not apiVersion|Kind|namespace|name"


def _is_written(text: str) -> bool:
    """Return whether a text is one of :attr:`Standing.written`, of an object that an API server takes."""
    if text.count("|") != _WRITTEN_PARTS - 1:
        return False
    version, kind, namespace, name = text.split("|")
    data = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace, "name": name}}
    return not check_header(Manifest(data))


@attrs.frozen(kw_only=True)
class _Roster:
    """Outputs of a fleet's roster.

    The roster is registered last, so it is missing after a first update that failed.
    """

    members: Mapping[str, str] = attrs.field(factory=dict, metadata=checked(_no_states))
    settings: Settings = Settings()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    held: Held = attrs.field(factory=dict, metadata=checked(damaged))
    manager: str = ""
    redacted: bool = False
    stays_on_leaving: bool = False
    hub: str = ""
    once: Mapping[str, str] = attrs.field(factory=dict)
    stacks: tuple[str, ...] = ()
    own_providers: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class _MemberOutputs:
    """Outputs of a member's resource."""

    member: str = attrs.field(metadata=checked(_no_member))
    identifier: str = ""
    identity: str = ""
    uid: str = ""
    forgotten: tuple[str, ...] = attrs.field(default=(), metadata=checked(_unwritten))
    formerly: tuple[str, ...] = ()
    kept: tuple[str, ...] = attrs.field(default=(), metadata=checked(_unwritten))
    ran: Mapping[str, Done] = attrs.field(factory=dict, metadata=checked(_no_subjects))
    lost: bool = False
    own_provider: bool = False
    anew: str = ""


@attrs.frozen(kw_only=True)
class _Named:
    """Fields that the records of all subjects have beside the decision."""

    key: str = attrs.field(metadata=checked(lambda name: "" if names.is_subject(name) else "names no subject"))
    protected: bool = False
    formerly: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class _Binding:
    """Fields of a binding; :class:`Done` has the others."""

    subject: str = attrs.field(metadata=checked(lambda name: "" if names.is_subject(name) else "names no subject"))
    cluster: str = attrs.field(metadata=checked(_no_member))
    keeps: str = attrs.field(default="", metadata=one_of("", ALL, CLUSTER_SCOPED))
    unsent: bool = False


_Own = _MemberOutputs | _Named | _Binding | None
"""Key that tells to which fleet one of our own resources belongs; None for a roster, whose name is the fleet's."""
_OWN: Mapping[str, type[_MemberOutputs | _Named | _Binding]] = {
    names.MEMBER: _MemberOutputs,
    names.BINDING: _Binding,
    names.PLACEMENT: _Named,
    names.TEMPLATE: _Named,
}


class _Collector:
    """Collector of what the resources of one fleet say."""

    def __init__(self, fleet: str, formerly: Sequence[str] = ()) -> None:
        self.fleet, self.formerly = fleet, formerly
        self.stacks: set[str] = set()
        self.budget = Budget()
        self.roster = _Roster()
        self.records: dict[str, Record[Any, Any]] = {}
        self.decided: dict[str, frozenset[str]] = {}
        self.protected: set[str] = set()
        self.shown: dict[str, Mapping[str, Any]] = {}
        self.earlier: dict[str, tuple[str, ...]] = {}
        self.done: dict[str, dict[str, Done]] = defaultdict(dict)
        self.keeps: dict[tuple[str, str], str] = {}
        self.members: dict[str, _MemberOutputs] = {}
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
            if key := self._first(names.hub_key_of, urn):
                self.on_hub[key] = urn.text
            elif f"{names.hub_name('')}/" not in urn.name and "metadata" in outputs:
                # Renamed in the state: a fleet has one hub, where each object is once.
                self.on_hub[Manifest(outputs).key] = urn.text
        elif names.is_object(urn.type):
            place = self._first(names.place_of, urn)
            if names.TARGET in urn.types and (key := names.key_in(urn, outputs)):
                self.strays.append((urn, key, outputs, resource))
            elif place:
                self.objects.append((place, urn, outputs, resource))
            elif claim := _claim(urn, outputs):
                self.others.append(claim)
        elif urn.type not in names.OWN:
            self.urns[urn.type, urn.name] = urn.text
        else:
            self._read_own(urn, outputs)

    def _first(self, read: Callable[[str, Urn], T | None], urn: Urn) -> T | None:
        """Return what a URN says under the name of the fleet, or else under a former one."""
        found = (read(fleet, urn) for fleet in (self.fleet, *self.formerly))
        return next((one for one in found if one is not None), None)

    def _count(self, contents: Any) -> None:
        for revision, text in contents.items() if isinstance(contents, Mapping) else ():
            with below("contents", str(revision)):
                self.budget.take(text)

    def _read_own(self, urn: Urn, given: Mapping[str, Any]) -> None:
        """Take over what one of our own resources says, if it is of this fleet and agrees with its URN."""
        outputs = {key: value for key, value in given.items() if value is not None}
        check_format(outputs)
        self._count(outputs.get("contents"))
        own = decode(_OWN[urn.type], outputs) if urn.type in _OWN else None
        if own is None:
            self.stacks |= stacks_in(outputs)
        fleet = _fleet_in(urn, own, outputs)
        if fleet not in (self.fleet, *self.formerly):
            self.is_alone = False
            if isinstance(own, _MemberOutputs):
                self.neighbours[fleet, own.member] = _known(own)
            return
        if (urn.type, urn.name) in self.urns:
            raise MisfitError(Problem("is kept twice, under two URNs"))
        self.urns[urn.type, urn.name] = urn.text
        match own:
            case None:
                # Of several, the one that the last update has written has the name of the fleet.
                roster = decode(_Roster, outputs)
                self.roster = roster if fleet == self.fleet or self.roster == _Roster() else self.roster
            case _MemberOutputs():
                self.members[own.member] = own
            case _Binding() if own.unsent:
                pass  # nothing was sent to the member, or not all of what was to come
            case _Binding():
                self.done[own.subject][own.cluster] = decode(Done, given)
                self.keeps[own.subject, own.cluster] = own.keeps
            case _Named():
                self.records[own.key] = record = _RECORDS[urn.type].from_wire(outputs)
                self.decided[urn.text] = record.members
                self.shown[own.key] = {key: outputs[key] for key in _SHOWN if key in outputs}
                with below("apply"):
                    decode(ApplyMode, outputs.get("apply") or {})
                if own.formerly:
                    self.earlier[own.key] = own.formerly
                if own.protected:
                    self.protected.add(own.key)

    def strangers(self) -> Iterator[tuple[str, str]]:
        """Yield URN and message of each decision about members that are not known.

        Members are registered before anything is decided, so that no interrupted update leaves such a decision. The
        record of a new member may be left out by ``--target`` or ``--exclude``, which never leave out its provider.
        """
        reached = {name for kind, name in self.urns if kind == names.PROVIDER}
        known = {*self.members, *self.roster.members}
        for urn, members in self.decided.items():
            strange = sorted(one for one in members - known if names.member_name(self.fleet, one) not in reached)
            if strange:
                yield urn, f"decides about {few(strange)}, of which the state knows no member"

    def past(self, file: str) -> Past:
        """Return the past that the resources read so far amount to."""
        roster = self.roster
        found = Past(
            file=file,
            records=self.records,
            done=dict(self.done),
            standing=(*starmap(self._standing, self.objects), *(one for one in self._renamed if one is not None)),
            members={name: self._member(name) for name in {**dict.fromkeys(self.members), **roster.members}},
            waiting=roster.waiting,
            held=roster.held,
            protected=frozenset(self.protected),
            shown=self.shown,
            settings=roster.settings,
            manager=roster.manager,
            # A state that is exported without its secrets has digests alone, which leave out the data of Secrets too.
            redacted=roster.redacted or any(r.digests and not r.contents for r in self.records.values()),
            stays_on_leaving=roster.stays_on_leaving,
            others=tuple(self.others),
            neighbours=self.neighbours,
            urns=self.urns,
            on_hub=self.on_hub,
            hub=roster.hub,
            once=roster.once,
            fleets=tuple(self.formerly),
            stacks=frozenset(self.stacks),
            formerly=self.earlier,
        )
        return found.with_unsettled_broken()

    @cached_property
    def _renamed(self) -> tuple[Standing | None, ...]:
        """The objects whose name in the state is not their own; None for one whose member is not known."""
        return tuple(starmap(self._found, self.strays))

    def _found(self, urn: Urn, key: ObjectKey, outputs: Mapping[str, Any], resource: StoredResource) -> Standing | None:
        """Return an object on the only member where it is missing of those that its subject has been brought to."""
        subject = str(value_at(outputs, ("metadata", "annotations", PLACEMENT_ANNOTATION)) or "")
        there = {place.cluster for place, *_ in self.objects if place.object == key}
        missing = sorted(self.done.get(subject, {}).keys() - there)
        alike = [one for one, other, *_ in self.strays if other == key]
        uid = str(value_at(outputs, ("metadata", "uid")) or "")
        if len(missing) != 1 or len(alike) != 1 or not uid:
            return None
        place = names.ObjectLocation(subject.partition("/")[2], missing[0], key)
        return attrs.evolve(self._standing(place, urn, outputs, resource), subject=subject, uid=uid)

    def homeless(self) -> Iterator[Problem]:
        """Yield a problem for each object whose name in the state is not its own and whose member is not known."""
        for (urn, key, outputs, _), found in zip(self.strays, self._renamed, strict=True):
            subject = str(value_at(outputs, ("metadata", "annotations", PLACEMENT_ANNOTATION)) or "")
            ours = self.is_alone or subject in self.records
            if found is None and ours:
                name = names.target_name(self.fleet, subject.partition("/")[2], "MEMBER")
                hint = _RENAME_BACK.format(urn=urn.text, name=f"{name}/{names.short_name(key)}")
                yield Problem(_HOMELESS.format(key=key), (), hint, urn.text)

    def _standing(
        self,
        place: names.ObjectLocation,
        urn: Urn,
        outputs: Mapping[str, Any],
        resource: StoredResource,
    ) -> Standing:
        subject, found = f"{_kind_of(urn, place.key)}/{place.key}", was_found(outputs)
        # Objects without a binding are left from an update that failed before it registered the binding.
        settings = self.roster.settings
        default = CLUSTER_SCOPED if settings.keep_cluster_resources else ""
        kept = self.keeps.get((subject, place.cluster), default)
        stays = outlives(place.object, kept, found=found and settings.keep_found)
        version = names.api_version_of(urn.type)
        stands = Standing(
            subject,
            place.cluster,
            place.object,
            version,
            stays,
            urn.text,
            found,
            on=_annotation(outputs, CLUSTER_ANNOTATION),
            object_uid=_uid_in(outputs),
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
        outputs = self.members.get(name) or _MemberOutputs(member=name)
        known = _known(outputs)
        # The record is newer than the roster, which is registered last.
        return attrs.evolve(
            known,
            state=LOST if outputs.lost else self.roster.members.get(name, DECLARED),
            own_provider=known.own_provider or name in self.roster.own_providers,
            recorded=name in self.members,
            # A first update that failed has left no roster.
            enrolled=name in self.roster.members or not self.roster.members,
        )


def _known(outputs: _MemberOutputs) -> KnownMember:
    return KnownMember(
        identifier=outputs.identifier,
        identity=outputs.identity,
        uid=outputs.uid,
        forgotten=outputs.forgotten,
        formerly=outputs.formerly,
        kept=outputs.kept,
        ran=outputs.ran,
        own_provider=outputs.own_provider,
        anew=outputs.anew,
    )


def _uid_in(outputs: Mapping[str, Any]) -> str:
    return str(value_at(outputs, ("metadata", "uid")) or "")


def _claim(urn: Urn, outputs: Mapping[str, Any]) -> Claim | None:
    """Return what a Kubernetes object of another owner claims; None for what is no object of a cluster."""
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
    subject = f"{_kind_of(urn, place.key)}/{place.key}"
    return Claim(urn.text, place.object, fleet, subject, place.cluster, outputs)


def _fleet_in(urn: Urn, own: _Own, outputs: Mapping[str, Any]) -> str:
    """Return the fleet in the URN of one of our own resources.

    Raises:
        MisfitError: the rest of the URN is of something else than the outputs.
    """
    fleet = _fleet_before(urn, own)
    told = outputs.get("fleet", fleet)  # the first versions did not record it
    if told != fleet:
        with below("fleet"):
            decode(str, told)
            raise MisfitError(Problem(_NOT_IN_URN))
    # The key of a subject is that of its decision.
    if not isinstance(own, _Named) and outputs.get("key", urn.name) != urn.name:
        raise MisfitError(Problem(_NOT_IN_URN, ("key",)))
    return fleet


def _fleet_before(urn: Urn, own: _Own) -> str:
    match own:
        case None:
            return urn.name
        case _MemberOutputs():
            return _before(urn.name, f"/{own.member}", "member")
        case _Binding():
            above = _before(urn.name, f"@{own.cluster}", "cluster")
            return _before(above, f"/{_key_of(urn, own.subject, 'subject')}", "subject")
        case _Named():
            return _before(urn.name, f"/{_key_of(urn, own.key, 'key')}", "key")


def _key_of(urn: Urn, subject: str, field: str) -> str:
    """Return the key of a subject, given as ``Kind/key``, whose kind is that of the component in a URN."""
    kind, _, key = subject.partition("/")
    decides = names.TEMPLATE if kind == names.TEMPLATE_KIND else names.PLACEMENT
    if kind != _kind_of(urn, key) or urn.type not in (decides, names.BINDING):
        raise MisfitError(Problem(_NOT_IN_URN, (field,)))
    return key


def _before(name: str, end: str, field: str) -> str:
    """Return a name without its end, which a field tells."""
    if not name.endswith(end) or name == end:
        raise MisfitError(Problem(_NOT_IN_URN, (field,)))
    return name.removesuffix(end)


def _kind_of(urn: Urn, key: str) -> str:
    """Return the kind of the subject that brought an object.

    The URN names the component; a placement's kind follows from whether its key has a namespace.
    """
    if _TEMPLATE in urn.types:
        return names.TEMPLATE_KIND
    return "ResourcePlacement" if "/" in key else "ClusterResourcePlacement"


def _renamed_first(by_name: Mapping[str, T], new: Callable[[str], str]) -> list[tuple[str, T]]:
    """Return the items, renamed ones first."""
    return sorted(by_name.items(), key=lambda item: new(item[0]) == item[0])


def _renamed_last(by_name: Mapping[str, T], new: Callable[[str], str]) -> list[tuple[str, T]]:
    """Return the items, renamed ones last."""
    return sorted(by_name.items(), key=lambda item: new(item[0]) != item[0])


def _under_current_names(members: Mapping[str, KnownMember], cluster: Callable[[str], str]) -> dict[str, KnownMember]:
    """Return the members by current name; of several records of one the member's own counts, and then a renamed one."""
    found: dict[str, KnownMember] = {}
    for name, member in _renamed_first(members, cluster):
        current = cluster(name)
        other = found.get(current)
        last = member if other is None or member.recorded else other
        both = (*(other.formerly if other else ()), *_earlier(member.formerly, name, current))
        found[current] = attrs.evolve(last, formerly=tuple(dict.fromkeys(both)))
    return found


def _earlier(formerly: Iterable[str], name: str, current: str) -> tuple[str, ...]:
    """Return the earlier names of something that the state calls by one name and the source by another."""
    earlier = (one for one in (*formerly, name) if one != current)
    return tuple(reversed(dict.fromkeys(reversed(tuple(earlier)))))
