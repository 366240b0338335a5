"""Karmada, behind the contract of a system."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import attrs

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
    from fleet_components.plan.source import Source
    from fleet_components.plan.subject import Decided, Subject
    from fleet_components.scheduler.framework import Profile
    from fleet_components.status.facts import SubjectFacts


class Karmada(System):
    """Karmada."""

    NAME = "karmada"
    TITLE = "Karmada"
    COMPONENT = "Template"
    GROUPS = (
        "policy.karmada.io",
        "apps.karmada.io",
        "autoscaling.karmada.io",
        "networking.karmada.io",
        "config.karmada.io",
        "remedy.karmada.io",
        "cluster.karmada.io",
        "work.karmada.io",
    )
    MEMBER = ("cluster.karmada.io/v1alpha1", "Cluster")
    STEERING = ("PropagationPolicy", "ClusterPropagationPolicy")
    RULES = ("OverridePolicy", "ClusterOverridePolicy")
    RULE_GROUPS = ("config.karmada.io",)
    ONCE = JOBS = ("WorkloadRebalancer",)
    SERVED = (
        ("cluster.karmada.io", "Cluster"),
        ("policy.karmada.io", "PropagationPolicy"),
        ("work.karmada.io", "ResourceBinding"),
    )
    AGGREGATED = True
    HANDS_OUT_NAMESPACES = True
    # Source: preserveResourcesOnDeletion; the hub of KubeFleet does not read its deleteStrategy.
    KEEPS_ON_REMOVAL = True

    @property
    def releases(self) -> ReleaseTable:
        """The newest patches of the minor releases."""
        from fleet_components.systems.karmada.model.release import TABLE

        return TABLE

    @property
    def profile(self) -> Profile:
        """The plug-ins of ``pkg/scheduler/framework/plugins``."""
        from fleet_components.systems.karmada.scheduler.profile import PROFILE

        return PROFILE

    def kinds(self, releases: Releases) -> Iterable[AdmittedKind]:
        """Return the kinds as the definitions and webhooks of a release check them."""
        from fleet_components.systems.karmada.admission import kinds_in

        return kinds_in(releases.karmada)

    @property
    def made_kinds(self) -> Mapping[str, tuple[str, ...]]:
        """Kinds of its groups that users do not write."""
        from fleet_components.systems.karmada.admission import MADE_BY_SYSTEM

        return MADE_BY_SYSTEM

    @property
    def fields(self) -> FieldTable:
        """The table of fields."""
        from fleet_components.systems.karmada.plan.effects import FIELDS

        return FIELDS

    @property
    def record(self) -> type[Record[Any, Any]]:
        """The record of a template."""
        from fleet_components.systems.karmada.plan.record import TemplateRecord

        return TemplateRecord

    @property
    def protecting_label(self) -> str:
        """The label of protected templates."""
        from fleet_components.systems.karmada.plan.templates import PROTECTED_LABEL

        return PROTECTED_LABEL

    def keys_in(self, manifests: Sequence[Manifest]) -> Iterator[str]:
        """Yield the keys of the objects of kinds that policies select."""
        policies = (item for item in manifests if item.kind in self.STEERING)
        asked = (item.data["spec"]["resourceSelectors"] for item in policies)
        kinds = {selector.get("kind") for selectors in asked for selector in selectors}
        for manifest in manifests:
            if manifest.kind in kinds:
                yield "/".join(filter(None, (manifest.namespace, manifest.kind, manifest.name)))

    def read_subject(
        self, wire: Mapping[str, Any], inventory: Inventory, policies: Mapping[str, str] | None
    ) -> Subject[Any]:
        """Read a template back; there is a feed of the policies."""
        from fleet_components.systems.karmada.plan.feed import read_policies
        from fleet_components.systems.karmada.plan.subject import TemplateSubject

        return TemplateSubject.from_wire(wire, inventory, read_policies(policies or {}))

    def read_member(self, data: Mapping[str, Any]) -> Cluster:
        """Return the member that a Cluster describes."""
        from fleet_components.systems.karmada.model.cluster import read_karmada_cluster

        return read_karmada_cluster(data)

    def as_scheduled(self, members: Sequence[Cluster], releases: Releases) -> Sequence[Cluster]:
        """Return the members, in all their zones before a zone of several is enough."""
        from fleet_components.systems.karmada.model.release import Rule

        if releases.karmada.has(Rule.ANY_ZONE):
            return members
        return [attrs.evolve(member, in_all_zones=True) for member in members]

    def on_its_hub(self, source: Source) -> Source:
        """Return the source with the settings of a control plane that is there: it brings every
        namespace to every member by itself, and leaves nothing to a later update.
        """
        settings = attrs.evolve(source.settings, exact=True, brings_namespaces=True)
        return attrs.evolve(source, settings=settings)

    def load(self) -> None:
        """Load the planning of templates."""
        import_module("fleet_components.systems.karmada.plan.planning")

    def planned(self, planning: Planning) -> SystemPlan:
        """Return the templates, decided."""
        from fleet_components.systems.karmada.plan.planning import planned

        return planned(planning)

    def queries(self, listing: Listing) -> tuple[Query, ...]:
        """Return the requests: members, policies, bindings, and what they select."""
        from fleet_components.systems.karmada.hub.observation import karmada_queries

        return karmada_queries(listing)

    def observation(self, listing: Listing) -> HubObservation:
        """Return what the answers of the control plane amount to."""
        from fleet_components.systems.karmada.hub.observation import karmada_observation

        return karmada_observation(listing)

    def later_kinds(self) -> Iterable[tuple[str, str]]:
        """Return the Works."""
        return (("work.karmada.io", "Work"),)

    @property
    def marks(self) -> HubMarks:
        """The marks that were seen on its objects."""
        from fleet_components.systems.karmada.hub.marks import MARKS

        return MARKS

    def member(self, name: str, facts: ClusterFacts | None, old: Object | None = None) -> Object:
        """Return the Cluster."""
        from fleet_components.systems.karmada.hub.plain_members import karmada_cluster

        return karmada_cluster(name, facts, old)

    def status_holder(self, subject: Subject[Any], listing: Listing) -> Object | None:
        """Return the binding."""
        from fleet_components.systems.karmada.status.bindings import binding_of

        return binding_of(subject.hub_key, listing)

    def complaints(self, status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """Yield members on which the template is not applied, or Unhealthy."""
        from fleet_components.systems.karmada.status.bindings import complaints

        return complaints(status)

    def facts(self, decided: Decided) -> SubjectFacts:
        """Return the facts of a template."""
        from fleet_components.systems.karmada.status.bindings import facts

        return facts(decided)

    def decisions(self, decided: Collection[Decided]) -> Iterable[dict[str, Any]]:
        """Return the bindings."""
        from fleet_components.systems.karmada.status.decisions import bindings

        return bindings(decided)

    def statuses(
        self, decided: Decided, observed: Mapping[str, ObservedMember]
    ) -> Iterable[dict[str, Any]]:
        """Return the binding and the template."""
        from fleet_components.systems.karmada.status.bindings import api_objects

        return api_objects(decided, observed)
