"""KubeFleet, behind the contract of a system."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from fleet_components.systems.framework import System

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
    from fleet_components.plan.subject import Decided, Subject
    from fleet_components.scheduler.framework import Profile
    from fleet_components.status.facts import SubjectFacts


class KubeFleet(System):
    """KubeFleet, and Azure Kubernetes Fleet Manager, which runs it."""

    NAME = "kubefleet"
    TITLE = "KubeFleet"
    COMPONENT = "Placement"
    GROUPS = ("placement.kubernetes-fleet.io", "cluster.kubernetes-fleet.io")
    MEMBER = ("cluster.kubernetes-fleet.io/v1", "MemberCluster")
    STEERING = ("ClusterResourcePlacement", "ResourcePlacement")
    RULES = (
        "ClusterResourceOverride",
        "ResourceOverride",
        "ClusterStagedUpdateStrategy",
        "StagedUpdateStrategy",
        "ClusterResourcePlacementDisruptionBudget",
    )
    ONCE = ("ClusterResourcePlacementEviction",)
    JOBS = ("ClusterStagedUpdateRun", "StagedUpdateRun", *ONCE)
    APPROVALS = ("ClusterApprovalRequest", "ApprovalRequest")
    SERVED = (
        ("cluster.kubernetes-fleet.io", "MemberCluster"),
        ("placement.kubernetes-fleet.io", "ClusterResourcePlacement"),
    )
    # Source: KubeFleet v0.3.1, Leave in pkg/controllers/workapplier/controller.go.
    STAYS_ON_LEAVING = True

    @property
    def releases(self) -> ReleaseTable:
        """Release v0.3.1, and a commit of the main branch."""
        from fleet_components.systems.kubefleet.model.release import TABLE

        return TABLE

    @property
    def profile(self) -> Profile:
        """The plug-ins of ``pkg/scheduler/framework/plugins``."""
        from fleet_components.systems.kubefleet.scheduler.profile import PROFILE

        return PROFILE

    def kinds(self, releases: Releases) -> Iterable[AdmittedKind]:
        """Return the kinds as the definitions and webhooks of a release check them."""
        from fleet_components.systems.kubefleet.admission import kinds_in

        return kinds_in(releases.kubefleet)

    @property
    def made_kinds(self) -> Mapping[str, tuple[str, ...]]:
        """Kinds of its groups that users do not write."""
        from fleet_components.systems.kubefleet.admission import MADE_BY_SYSTEM

        return MADE_BY_SYSTEM

    @property
    def fields(self) -> FieldTable:
        """The table of fields."""
        from fleet_components.systems.kubefleet.plan.effects import FIELDS

        return FIELDS

    @property
    def record(self) -> type[Record[Any, Any]]:
        """The record of a placement."""
        from fleet_components.systems.kubefleet.plan.record import PlacementRecord

        return PlacementRecord

    def placement_of(self, policy: Manifest) -> tuple[str, str, str] | None:
        """Return what a run, an eviction, a budget or an override names."""
        from fleet_components.systems.kubefleet.plan.update_runs import placement_of

        return placement_of(policy)

    def keys_in(self, manifests: Sequence[Manifest]) -> Iterator[str]:
        """Yield the keys of placements."""
        for manifest in manifests:
            if manifest.kind in self.STEERING:
                yield "/".join(filter(None, (manifest.namespace, manifest.name)))

    def read_subject(
        self, wire: Mapping[str, Any], inventory: Inventory, policies: Mapping[str, str] | None
    ) -> Subject[Any]:
        """Read a placement back."""
        from fleet_components.systems.kubefleet.plan.subject import PlacementSubject

        return PlacementSubject.from_wire(wire, inventory)

    def read_member(self, data: Mapping[str, Any]) -> Cluster:
        """Return the member that a MemberCluster describes."""
        from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster

        return read_member_cluster(data)

    def is_answer(self, policy: Manifest) -> bool:
        """Return whether it is an approved request for approval."""
        from fleet_components.systems.kubefleet.plan.update_runs import is_approved

        return is_approved(policy)

    def load(self) -> None:
        """Load the planning of placements."""
        import_module("fleet_components.systems.kubefleet.plan.planning")

    def planned(self, planning: Planning) -> SystemPlan:
        """Return the placements, decided."""
        from fleet_components.systems.kubefleet.plan.planning import planned

        return planned(planning)

    def queries(self, listing: Listing) -> tuple[Query, ...]:
        """Return the requests: members, placements, snapshots, bindings, and what they select."""
        from fleet_components.systems.kubefleet.hub.queries import kubefleet_queries

        return kubefleet_queries(listing)

    def observation(self, listing: Listing) -> HubObservation:
        """Return what the answers of the hub amount to."""
        from fleet_components.systems.kubefleet.hub.observation import kubefleet_observation

        return kubefleet_observation(listing)

    def tells_release(self, query: Query) -> bool:
        """Return whether it asks for the hub's agent, whose image has the release."""
        from fleet_components.systems.kubefleet.hub.queries import AGENT

        return query == AGENT

    @property
    def marks(self) -> HubMarks:
        """The marks that were seen on its objects."""
        from fleet_components.systems.kubefleet.hub.marks import MARKS

        return MARKS

    def member(self, name: str, facts: ClusterFacts | None, old: Object | None = None) -> Object:
        """Return the MemberCluster."""
        from fleet_components.systems.kubefleet.hub.plain_members import member_cluster

        return member_cluster(name, facts, old)

    def labels_of_member(self, name: str) -> Mapping[str, str]:
        """Return the label with the name."""
        from fleet_components.systems.kubefleet.model.member_cluster import MEMBER_NAME_LABEL

        return {MEMBER_NAME_LABEL: name}

    def status_holder(self, subject: Subject[Any], listing: Listing) -> Object | None:
        """Return the placement."""
        return listing.object(subject.hub_key)

    def complaints(self, status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """Yield members with a condition that is not True, or with objects that have failed."""
        from fleet_components.systems.kubefleet.status.conditions import complaints

        return complaints(status)

    def facts(self, decided: Decided) -> SubjectFacts:
        """Return the facts of a placement."""
        from fleet_components.systems.kubefleet.status.facts import facts

        return facts(decided)

    def decisions(self, decided: Collection[Decided]) -> Iterable[dict[str, Any]]:
        """Return placements and policy snapshots with their status."""
        from fleet_components.systems.kubefleet.status.placements import api_objects

        return chain.from_iterable(map(api_objects, decided))

    def statuses(
        self, decided: Decided, observed: Mapping[str, ObservedMember]
    ) -> Iterable[dict[str, Any]]:
        """Return the placement, its policy snapshot, its update runs and its evictions."""
        from fleet_components.systems.kubefleet.status import placements, update_runs

        return chain(placements.api_objects(decided, observed), update_runs.api_objects(decided))
