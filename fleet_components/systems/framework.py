"""The contract of a system: all that the rest of the package needs from KubeFleet or Karmada.

Start reading here. A system is one folder below this one, and one class in its ``system.py`` that
implements :class:`System`; ``registry.py`` lists them. What is decided by a system is a ``Subject``
(``plan/subject.py``), its plug-ins are a ``Profile`` (``scheduler/framework.py``), and its releases
are a ``ReleaseTable`` (``model/release.py``). Code outside of these folders calls a subject or
its system, and never checks which system it is.

Each method loads the part that it needs: a process that only decides loads no hub and no status.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from fleet_components.admission.registry import AdmittedKind
    from fleet_components.hub.cluster_facts import ClusterFacts
    from fleet_components.hub.listing import Listing, Object, Query
    from fleet_components.hub.marks import HubMarks
    from fleet_components.hub.observation import HubObservation
    from fleet_components.model.cluster import Cluster
    from fleet_components.model.inventory import Inventory
    from fleet_components.model.manifest import Manifest
    from fleet_components.model.observed import ObservedMember
    from fleet_components.model.release import ReleaseTable
    from fleet_components.model.releases import Releases
    from fleet_components.plan.effect import FieldTable
    from fleet_components.plan.planning import Planning, SystemPlan
    from fleet_components.plan.record import Record
    from fleet_components.plan.source import Source
    from fleet_components.plan.subject import Decided, Subject
    from fleet_components.scheduler.framework import Profile
    from fleet_components.status.facts import SubjectFacts


class System(ABC):
    """One system, with what it knows.

    Attributes:
        NAME: name in options, files and states: ``kubefleet`` or ``karmada``.
        TITLE: name in texts.
        COMPONENT: name of the component type of its subjects: ``Placement`` or ``Template``.
        GROUPS: API groups of its hub.
        MEMBER: ``apiVersion`` and kind of its members.
        STEERING: kinds whose objects go a way: placements, or propagation policies.
        RULES: kinds that its hub goes by when it places: they go there first.
        RULE_GROUPS: groups all of whose kinds are such rules.
        JOBS: kinds that ask for something once all else is there: runs, evictions, rebalances.
        ONCE: kinds of these that are carried out once by name.
        APPROVALS: kinds that a hub makes, and that are approved there.
        SERVED: groups and kinds that its hub serves, and together nothing else.
        AGGREGATED: True if API servers of their own serve some of these.
        HANDS_OUT_NAMESPACES: True if its hub brings every namespace to every member.
        KEEPS_ON_REMOVAL: True if its hub lets objects stay that are to outlive their subject.
        STAYS_ON_LEAVING: True if objects stay on a member that leaves its hub.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    COMPONENT: ClassVar[str]
    GROUPS: ClassVar[tuple[str, ...]]
    MEMBER: ClassVar[tuple[str, str]]
    STEERING: ClassVar[tuple[str, ...]]
    RULES: ClassVar[tuple[str, ...]]
    RULE_GROUPS: ClassVar[tuple[str, ...]] = ()
    JOBS: ClassVar[tuple[str, ...]]
    ONCE: ClassVar[tuple[str, ...]]
    APPROVALS: ClassVar[tuple[str, ...]] = ()
    SERVED: ClassVar[tuple[tuple[str, str], ...]]
    AGGREGATED: ClassVar[bool] = False
    HANDS_OUT_NAMESPACES: ClassVar[bool] = False
    KEEPS_ON_REMOVAL: ClassVar[bool] = False
    STAYS_ON_LEAVING: ClassVar[bool] = False

    def __str__(self) -> str:
        return self.NAME

    # Model, scheduler and admission

    @property
    @abstractmethod
    def releases(self) -> ReleaseTable:
        """The known releases."""

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """The plug-ins of its scheduler."""

    @abstractmethod
    def kinds(self, releases: Releases) -> Iterable[AdmittedKind]:
        """Return its checked kinds under a release."""

    @property
    @abstractmethod
    def made_kinds(self) -> Mapping[str, tuple[str, ...]]:
        """Kinds that it makes itself, by group: they are known, and admitted unchanged."""

    # Plan

    @property
    @abstractmethod
    def fields(self) -> FieldTable:
        """The fields of its kinds that are not carried out."""

    @property
    @abstractmethod
    def record(self) -> type[Record[Any, Any]]:
        """Type of the records of its subjects."""

    @property
    def protecting_label(self) -> str:
        """Label of its own that protects an object from deletion; empty if none."""
        return ""

    def placement_of(self, policy: Manifest) -> tuple[str, str, str] | None:
        """Return kind, namespace and name of the placement that a policy is about; None for all, or
        none.
        """
        return None

    @abstractmethod
    def keys_in(self, manifests: Sequence[Manifest]) -> Iterator[str]:
        """Yield the keys that its subjects may have in a source that is not read: those of all
        objects of the kinds concerned.
        """

    @abstractmethod
    def read_subject(
        self, wire: Mapping[str, Any], inventory: Inventory, policies: Mapping[str, str] | None
    ) -> Subject[Any]:
        """Read a subject back from its wire form.

        Args:
            wire: the form of ``Subject.to_wire``.
            inventory: the members.
            policies: the feed of ``Subject.feed_policies``.
        """

    @abstractmethod
    def read_member(self, data: Mapping[str, Any]) -> Cluster:
        """Return the member that an object of its kind describes.

        Raises:
            ValueError: a time is not one.
        """

    def as_scheduled(self, members: Sequence[Cluster], releases: Releases) -> Sequence[Cluster]:
        """Return members as its scheduler takes them under a release."""
        return members

    def is_answer(self, policy: Manifest) -> bool:
        """Return whether an object that its hub makes says what somebody has answered."""
        return False

    def on_its_hub(self, source: Source) -> Source:
        """Return a source as it is planned where a hub carries everything out."""
        return source

    @abstractmethod
    def load(self) -> None:
        """Load what :meth:`planned` needs, so that the first plan takes no longer than others."""

    @abstractmethod
    def planned(self, planning: Planning) -> SystemPlan:
        """Return its part of a plan: its subjects, decided."""

    # Hub

    @abstractmethod
    def queries(self, listing: Listing) -> tuple[Query, ...]:
        """Return all requests that an observation needs, as far as the answers so far tell."""

    @abstractmethod
    def observation(self, listing: Listing) -> HubObservation:
        """Return the observation that complete answers amount to."""

    def tells_release(self, query: Query) -> bool:
        """Return whether the answer to a request says nothing but the release of the hub."""
        return False

    def later_kinds(self) -> Iterable[tuple[str, str]]:
        """Return groups and kinds that are asked for or not by what a hub is about to do."""
        return ()

    @property
    @abstractmethod
    def marks(self) -> HubMarks:
        """The marks of what its hub sends to members."""

    @abstractmethod
    def member(self, name: str, facts: ClusterFacts | None, old: Object | None = None) -> Object:
        """Return the member that a cluster is.

        Args:
            name: its name.
            facts: what it reports of itself; None if it does not answer.
            old: the object that a hub has of it; None if none has.
        """

    def labels_of_member(self, name: str) -> Mapping[str, str]:
        """Return labels that every member has, whether they are written or not."""
        return {}

    @abstractmethod
    def status_holder(self, subject: Subject[Any], listing: Listing) -> Object | None:
        """Return the object on a hub whose status is about a subject; None if there is none."""

    @abstractmethod
    def complaints(self, status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """Yield the members on which not all is well, each with what the hub says.

        Args:
            status: the status of :meth:`status_holder`.
        """

    # Status

    @abstractmethod
    def facts(self, decided: Decided) -> SubjectFacts:
        """Return the facts of a subject that documents show."""

    @abstractmethod
    def decisions(self, decided: Collection[Decided]) -> Iterable[dict[str, Any]]:
        """Return the decisions about all its subjects, in the form of its API."""

    @abstractmethod
    def statuses(
        self, decided: Decided, observed: Mapping[str, ObservedMember]
    ) -> Iterable[dict[str, Any]]:
        """Return the objects whose status is about a subject, each with its status only.

        Args:
            decided: the subject, as the last update has decided it.
            observed: what is known of its objects, by member.
        """
