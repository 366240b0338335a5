"""The past of a fleet: what was decided and what stands, in one form for every origin.

It is read from the running stack, from an exported state or from the last render.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, decode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.immutable import Held
from fleet_components.plan.known_member import (
    KnownMember,
    earlier_names,
    renamed_first,
    renamed_last,
    under_current_names,
)
from fleet_components.plan.names import Urn
from fleet_components.plan.options import Settings
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.record import Record, particulars
from fleet_components.plan.standing import Claim, Standing
from fleet_components.plan.state import MEND, StoredResource
from fleet_components.plan.state_reader import StateReader
from fleet_components.rollout.rollout import Done

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Past:
    """Starting point of a plan: decisions, standing objects, members and settings of the last run.

    Attributes:
        file: the file that it was read from; empty for a new fleet and for the running stack.
        records: the record of each subject, by ``Kind/key``.
        done: what really runs, by ``Kind/key`` and member.
        standing: the objects that were brought to members.
        members: the members, by name.
        waiting: objects that neither a Karmada policy nor a placement had claimed, with a digest of
            each.
        held: earlier values of the policy fields that updates are compared with.
        protected: subjects whose removal has to be confirmed, as ``Kind/key``.
        shown: what was recorded of each request beside its decision, by ``Kind/key``.
        settings: limits of the last update.
        manager: field manager of the objects; empty for a new fleet.
        redacted: True if contents lack the data of Secrets, so that this data cannot be compared.
        stays_on_leaving: True if objects stay on a member that leaves the fleet, as on a hub of
            KubeFleet.
        others: Kubernetes objects of the same stack that this fleet has not brought.
        neighbours: members of the other fleets of the stack, by fleet and name.
        urns: URNs of the registered resources, by type and name.
        on_hub: URNs of the objects that the stack has on its hub, by object.
        hub: the uid of the hub; empty if it is not known, or there is none.
        once: digest of each request that a hub carries out once, by object: it has been made there.
        observed: subjects of which it is known how their hub has them, as ``Kind/key``.
        fleets: other names that the state has for the fleet.
        stacks: names that the stack has had, as ``organization/project/stack``, as far as its
            rosters know them.
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

    def standing_on(self, name: str, cluster: str) -> Sequence[Standing]:
        """Return the objects of a subject, as ``Kind/key``, that stand on a member."""
        return self._standing_on.get((name, cluster), ())

    @cached_property
    def _standing_on(self) -> Mapping[tuple[str, str], list[Standing]]:
        found: dict[tuple[str, str], list[Standing]] = defaultdict(list)
        for stood in self.standing:
            found[stood.subject, stood.cluster].append(stood)
        return found

    def record(self, name: str, kind: type[T]) -> T:
        """Return the record of a subject; the default record for a new one."""
        found = self.records.get(name)
        return found if isinstance(found, kind) else kind()

    @property
    def lost(self) -> frozenset[str]:
        """Members that are gone for good."""
        return frozenset(name for name, member in self.members.items() if member.state == LOST)

    def unsettled(self) -> frozenset[tuple[str, ObjectKey]]:
        """Return the objects, by member, that were sent to another cluster than that to which its
        name leads now.
        """
        anew = {
            name: known.anew
            for name, known in self.members.items()
            if known.anew and known.state != LOST
        }
        return frozenset(
            (stood.cluster, stood.key)
            for stood in self.standing
            if stood.on != anew.get(stood.cluster, stood.on) and not stood.hub
        )

    def with_unsettled_broken(self) -> Past:
        """Return the past in which the last update has broken wherever objects were sent to another
        cluster.
        """
        unsettled = self.unsettled()
        places = {
            (stood.subject, stood.cluster)
            for stood in self.standing
            if (stood.cluster, stood.key) in unsettled
        }
        done = {
            name: {
                cluster: attrs.evolve(ran, broken=True) if (name, cluster) in places else ran
                for cluster, ran in here.items()
            }
            for name, here in self.done.items()
        }
        return attrs.evolve(self, done=done) if places else self

    def compared(self, members: Mapping[str, Cluster]) -> Past:
        """Return the past in which objects have a recorded form only where no content says what
        they are.

        A binding follows the objects of its member. They are what its revision says, unless the
        last update has sent something else since, or was killed in the middle of one. An object
        that this revision lacks was left by an update that broke before its deletion, in any form.

        Args:
            members: the members by name: what their content is depends on their labels. Objects of
                others are left as they are.
        """
        known: dict[tuple[str, str], Container[ObjectKey]] = {}
        elsewhere, standing = self.unsettled(), list[Standing]()
        for stood in self.standing:
            place = stood.subject, stood.cluster
            if stood.outputs and stood.cluster in members:
                if place not in known:
                    known[place] = self._content_of(stood.subject, members[stood.cluster])
                is_known = stood.key in known[place] and not stood.interrupted
                if is_known or (stood.cluster, stood.key) in elsewhere:
                    stood = attrs.evolve(stood, outputs=None)
            standing.append(stood)
        return attrs.evolve(self, standing=tuple(standing))

    def _content_of(self, subject: str, member: Cluster) -> Container[ObjectKey]:
        """Return the objects of which a binding says what they are on a member."""
        here, record = self.done.get(subject, {}).get(member.name), self.records.get(subject)
        # A binding follows the objects: until then, some may be as they were, and some not.
        if record is None or here is None or here.revision is None or here.broken:
            return ()
        placed = record.decisions.get(member.name)
        # The last update has sent something else since the binding was written.
        if placed and (placed.version, particulars(placed)) != (here.version, particulars(here)):
            return ()
        sent = record.standing(here)
        if not record.knows(sent):
            # The content is not shown, but the binding says that it is what stands.
            return _Everything()
        return frozenset(Manifest(data).key for data in record.objects(sent, member))

    def drops(self, member: str, confirm: Collection[str]) -> bool:
        """Return whether what a lost member may still have is to be remembered no longer, according
        to a token.
        """
        known = self.members[member]
        confirmed = bool(known.remembered) and known.memory_token(member) in confirm
        return confirmed and not any(stood.cluster == member for stood in self.standing)

    @property
    def reporting(self) -> frozenset[str]:
        """Subjects whose objects were compared only, and never written."""
        return frozenset(name for name, shown in self.shown.items() if shown.get("reports"))

    def mode(self, name: str) -> ApplyMode:
        """Return the mode in which the objects of a subject were written, as far as it concerns
        drift.
        """
        return decode(ApplyMode, self.shown.get(name, {}).get("apply") or {})

    def templates(self) -> list[str]:
        """Return the keys of the known templates."""
        return [
            name.partition("/")[2]
            for name in self.records
            if name.startswith(f"{names.TEMPLATE_KIND}/")
        ]

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
            resources: the resources, with their outputs; secrets in plain text, or as
                ``[encrypted]``.
            fleet: the fleet's name; other fleets of the stack are left out.
            formerly: other names that the state may have for it, after a rename, or one that broke.
            file: the file that they were read from.
            mend: the hint for problems: how to repair a damaged state.

        Raises:
            FleetError: the state is damaged, or was written by a later version; carries a problem
                for every resource and field concerned.
        """
        reader = StateReader(fleet, formerly)
        problems: list[Problem] = []
        for resource in resources:
            urn = Urn.parse(resource.urn)
            # A program is handed the outputs alone, so that nothing else counts of our own
            # resources.
            field = "outputs" if resource.outputs or urn.type in names.OWN else "inputs"
            try:
                reader.read(urn, getattr(resource, field), resource)
            except MisfitError as misfit:
                problems += [
                    Problem(wrong.message, (field, *wrong.path), mend, resource.urn, file)
                    for wrong in misfit.problems
                ]
            except FleetError as error:
                problems += [
                    attrs.evolve(wrong, subject=resource.urn, file=file) for wrong in error.problems
                ]
        # Only of a state that could be read: otherwise members may be missing for that reason.
        if not problems:
            problems += (
                Problem(message, ("outputs",), mend, urn, file)
                for urn, message in reader.strangers()
            )
        problems += (attrs.evolve(wrong, file=file) for wrong in reader.homeless())
        if problems:
            raise FleetError(problems)
        roster = reader.roster
        found = cls(
            file=file,
            records=reader.records,
            done=dict(reader.done),
            standing=reader.standing(),
            members=reader.known(),
            waiting=roster.waiting,
            held=roster.held,
            protected=frozenset(reader.protected),
            shown=reader.shown,
            settings=roster.settings,
            manager=roster.manager,
            # A state that is exported without its secrets has digests alone, which leave out the
            # data of Secrets too.
            redacted=roster.redacted
            or any(r.digests and not r.contents for r in reader.records.values()),
            stays_on_leaving=roster.stays_on_leaving,
            others=tuple(reader.others),
            neighbours=reader.neighbours,
            urns=reader.urns,
            on_hub=reader.on_hub,
            hub=roster.hub,
            once=roster.once,
            fleets=tuple(reader.formerly),
            stacks=frozenset(reader.stacks),
            formerly=reader.earlier,
        )
        return found.with_unsettled_broken()

    def renamed(self, members: Mapping[str, str], placements: Mapping[str, str]) -> Past:
        """Return the past under the current names.

        Args:
            members: current names of members, by name in the state.
            placements: current keys of placements, by key in the state.
        """
        # The usual case: nothing is copied.
        if not members and not placements:
            return self

        def subject(name: str) -> str:
            kind, _, key = name.partition("/")
            return f"{kind}/{placements.get(key, key)}"

        def cluster(name: str) -> str:
            return members.get(name, name)

        done: dict[str, dict[str, Done]] = defaultdict(dict)
        for name, members_done in renamed_last(self.done, subject):
            for member, here in renamed_last(members_done, cluster):
                done[subject(name)].setdefault(cluster(member), here)
        return attrs.evolve(
            self,
            # After an update that failed half-way both names are known; the entry under the new
            # name is newer.
            records={
                subject(name): record.renamed(cluster)
                for name, record in renamed_first(self.records, subject)
            },
            done=dict(done),
            standing=tuple(
                attrs.evolve(stood, subject=subject(stood.subject), cluster=cluster(stood.cluster))
                for stood in self.standing
            ),
            members={
                name: attrs.evolve(
                    known, ran={subject(key): ran for key, ran in renamed_last(known.ran, subject)}
                )
                for name, known in under_current_names(self.members, cluster).items()
            },
            formerly={
                subject(name): earlier_names(
                    formerly, name.partition("/")[2], subject(name).partition("/")[2]
                )
                for name, formerly in renamed_first(
                    dict.fromkeys(self.records, ()) | dict(self.formerly), subject
                )
            },
            protected=frozenset(map(subject, self.protected)),
            observed=frozenset(map(subject, self.observed)),
            shown={subject(name): shown for name, shown in renamed_first(self.shown, subject)},
        )

    @property
    def forecast(self) -> Mapping[str, str]:
        """The system of the hub that carries out each subject of the last update, by
        ``Kind/key``.
        """
        systems = {name: shown.get("delivery") for name, shown in self.shown.items()}
        return {name: str(system) for name, system in systems.items() if system}

    def reaching(self, reached: Collection[str]) -> Past:
        """Return the past with ``lost`` set for what runs on members that are not reached.

        Nothing is sent to those members, and what runs there cannot be kept.
        """
        return attrs.evolve(
            self,
            done={
                name: {
                    member: attrs.evolve(here, lost=member not in reached)
                    for member, here in done.items()
                }
                for name, done in self.done.items()
            },
        )


class _Everything(Container[ObjectKey]):
    """All objects: those of a content that the state hides."""

    def __contains__(self, key: object) -> bool:
        return True
