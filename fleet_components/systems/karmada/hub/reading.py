"""Reads the answers of a Karmada control plane as a fleet: its source, its templates, and what is
bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

import attrs

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.eligible import why_skipped
from fleet_components.content.outline import outlined
from fleet_components.content.secret import is_secret, redacted, redacted_policy
from fleet_components.hub.listing import Listing, Object, Query
from fleet_components.hub.observation import ObservedSubject
from fleet_components.model.cluster import read_time
from fleet_components.model.codec import MisfitError
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.releases import Releases
from fleet_components.plan.given import Given
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, gathered
from fleet_components.systems.karmada.hub.binding import (
    MEMBER_NAMESPACE,
    Binding,
    as_written,
    is_leaving,
    marks_of,
)
from fleet_components.systems.karmada.hub.copies import Copies
from fleet_components.systems.karmada.hub.kinds import (
    BINDINGS,
    MEMBER,
    MEMBER_GROUP,
    NAMESPACE,
    STEERING,
    WORK,
    WORK_GROUP,
)
from fleet_components.systems.karmada.hub.settings import settings_of
from fleet_components.systems.karmada.hub.template import BoundTemplate, member_as_written, unbound
from fleet_components.systems.karmada.hub.workloads import workloads_of
from fleet_components.systems.karmada.model.policy import PropagationPolicy
from fleet_components.systems.karmada.model.settings import CustomWorkload
from fleet_components.systems.karmada.plan.needs import needs_of
from fleet_components.systems.karmada.plan.record import TemplateState
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.plan.templates import (
    REBALANCER,
    Templates,
    TemplateWorkload,
    template_name,
    templates_of,
)
from fleet_components.systems.karmada.scheduler.matching import matches, propagates, syncs


@attrs.frozen(slots=False)
class Reading:
    """A control plane, read from what it has answered.

    Attributes:
        listing: the answers.
    """

    listing: Listing

    @cached_property
    def bindings(self) -> Mapping[ObjectKey, Binding]:
        """The bindings by the key of their template."""
        # A template has one binding, whose name is made of the template's kind and name.
        found = (Binding(data) for kind in BINDINGS for data in self.listing.all(kind, WORK_GROUP))
        return {binding.template: binding for binding in found}

    @cached_property
    def members(self) -> tuple[Object, ...]:
        """The members as users declare them."""
        return tuple(map(member_as_written, self.listing.all(MEMBER, MEMBER_GROUP)))

    @cached_property
    def policies(self) -> tuple[Object, ...]:
        """All that steers the control plane, as users have written it, with the settings that its
        objects show.
        """
        given = [
            data
            for data in self.listing
            if Manifest(data).group in STEERING and not is_leaving(data)
        ]
        written = [as_written(data) for data in given]
        shown = written if self.listing.secrets else map(redacted_policy, written)
        settings = settings_of(self.bindings.values(), self.workloads)
        return tuple(sorted((*shown, settings), key=lambda data: Manifest(data).key))

    @cached_property
    def workloads(self) -> tuple[CustomWorkload, ...]:
        """The custom workload kinds, as far as bindings show where they have their replicas."""
        templates = {key: data for key in self.bindings if (data := self.listing.object(key))}
        return tuple(workloads_of(self.bindings.values(), templates))

    @cached_property
    def unanswered(self) -> Mapping[Query, str]:
        """Reasons why requests for templates were not answered, including requests that nobody
        could make.

        Something is bound of a kind that is not served: an API server of its own is away, or its
        definition is gone.
        """
        known = (
            (binding.template.group, binding.template.kind) for binding in self.bindings.values()
        )
        gone = {(group, kind) for group, kind in known if (group, kind) not in self.listing.served}
        lists = (
            Query(binding.api_version, binding.template.kind, binding.template.namespace)
            for binding in self.bindings.values()
            if (binding.template.group, binding.template.kind) in gone
        )
        # A reason of the API server comes last, since it says more.
        return {**dict.fromkeys(lists, "is not served"), **self.listing.refused}

    @cached_property
    def unknown(self) -> tuple[ObjectKey, ...]:
        """The templates that are bound, and were not answered."""
        absent = (key for key in self.bindings if self.listing.object(key) is None)
        return tuple(
            sorted(key for key in absent if any(query.asks_for(key) for query in self.unanswered))
        )

    @cached_property
    def leaving(self) -> tuple[Object, ...]:
        """Policies and templates that are being deleted."""
        return tuple(
            data for data in self.listing if is_leaving(data) and Manifest(data).group != WORK_GROUP
        )

    @cached_property
    def objects(self) -> tuple[Object, ...]:
        """Objects that have a binding or that a policy selects, and others that no policy has
        claimed.

        Namespaces that the control plane brings to its members by itself, or may be asked to
        bring, are among them.
        """
        policies = [*self._propagation]
        found = []
        for data in self._candidates:
            manifest = Manifest(data)
            bound = manifest.key in self.bindings
            if (
                bound
                or any(matches(policy, manifest) for policy in policies)
                or self._may_be_placed(manifest)
            ):
                found.append(_public(data) if not self.listing.secrets else as_written(data))
        return tuple(found)

    @cached_property
    def _propagation(self) -> tuple[PropagationPolicy, ...]:
        """The propagation policies, defaulted."""
        # Not from `source`, which has the objects, and these are found by the policies.
        source = gathered(Given(tuple(map(Manifest, self.policies)), releases=self._releases))
        kinds = ("PropagationPolicy", "ClusterPropagationPolicy")
        return tuple(
            PropagationPolicy.from_manifest(policy)
            for policy in source.policies
            if policy.kind in kinds
        )

    @property
    def _candidates(self) -> Iterator[Object]:
        for data in self.listing:
            group = Manifest(data).group
            if (
                not group.endswith(".karmada.io")
                and not is_leaving(data)
                and propagates(Manifest(data))
            ):
                yield data

    def _may_be_placed(self, manifest: Manifest) -> bool:
        """Return whether an unclaimed object may be one that its user would place."""
        if (manifest.group, manifest.kind) == ("", NAMESPACE):
            return syncs(manifest.name)
        if (
            not manifest.namespace
            or is_secret(manifest.data)
            or manifest.metadata.get("ownerReferences")
        ):
            return False
        return not why_skipped(manifest, Catalogue(()))

    @cached_property
    def source(self) -> Source:
        """The fleet as a plan reads it."""
        documents = (*self.members, *self.policies, *self.objects)
        return gathered(Given(tuple(map(Manifest, documents)), releases=self._releases))

    @property
    def _releases(self) -> Releases:
        return Releases.named(karmada=self.listing.release)

    @cached_property
    def inventory(self) -> Inventory:
        """The members."""
        return Inventory(self.source.clusters, self.listing.as_of)

    @cached_property
    def templates(self) -> Templates:
        """The templates; those that have a binding are known."""
        known = [
            template_name(Manifest(item))
            for item in self.objects
            if Manifest(item).key in self.bindings
        ]
        # A control plane of Karmada has no placements, so no other system brings anything.
        return templates_of(self.source, {}, known)

    @cached_property
    def copies(self) -> Mapping[str, Copies]:
        """The templates that have a binding, by key, those that need others first."""
        found: dict[str, Copies] = {}
        states: dict[str, TemplateState] = {}
        # Parents come first, so `states` has them when a template that they need is read.
        for workload in self.templates.workloads:
            binding = self.bindings.get(workload.manifest.key)
            if binding:
                subject = self.subject(workload, states)
                original = self.listing.object(workload.manifest.key) or {}
                bound = BoundTemplate(
                    subject, binding, original, self._carried_out(workload, binding)
                )
                found[workload.key] = Copies(bound, self._works.get(binding.mark, {}))
                states[workload.key] = _checked(bound)
        return found

    @cached_property
    def unclear(self) -> tuple[Copies, ...]:
        """Templates of which members may run another content than the one now, and whose Works may
        be asked for.
        """
        # A Work contains the whole object, so Works of Secrets are read only if Secrets are.
        hidden = () if self.listing.secrets else ("Secret",)
        return tuple(
            copy
            for copy in self.copies.values()
            if copy.unlike and copy.bound.binding.template.kind not in hidden
        )

    def subject(
        self, workload: TemplateWorkload, states: Mapping[str, TemplateState]
    ) -> TemplateSubject:
        """Return a template with all that its decision depends on, where nothing runs yet."""
        parents = {key: states[key] for key in workload.needed_by if key in states}
        needs = needs_of(parents, {key for key, always in workload.needed_by.items() if always})
        past = Past(waiting=self.templates.waiting)
        return self.templates.subject(workload, self.inventory, past, Options(), needs)

    @cached_property
    def unbound(self) -> tuple[ObservedSubject, ...]:
        """Templates that a policy selects and that have no binding, if it is settled that they get
        none.

        A lazy policy has claimed them, or the override policies are missing that theirs waits for.
        """
        states = {key: copy.bound.state for key, copy in self.copies.items()}
        found = []
        for workload in self.templates.workloads:
            original = self.listing.object(workload.manifest.key)
            if workload.key not in states and original:
                found.append(unbound(self.subject(workload, states), original))
        # None stands for a template that is still to get a binding.
        return tuple(filter(None, found))

    @property
    def pending(self) -> Iterator[TemplateWorkload]:
        """Templates that a policy selects and that are still to get a binding."""
        known = {
            *(copy.bound.subject.name for copy in self.copies.values()),
            *(observed_subject.name for observed_subject in self.unbound),
        }
        return (
            workload
            for workload in self.templates.workloads
            if f"{TEMPLATE_KIND}/{workload.key}" not in known
        )

    def _carried_out(self, workload: TemplateWorkload, binding: Binding) -> tuple[str, ...]:
        """Return the names of the rebalancers that ask for a template and whose rebalance was
        carried out.

        Source: karmada-io/karmada 1.19, pkg/controllers/workloadrebalancer: the binding gets the
        time at which the rebalancer was created, and is scheduled for it if that is later than its
        last success.
        """
        triggered, scheduled = binding.triggered, binding.scheduled
        if triggered is None or scheduled is None or scheduled < triggered:
            return ()
        rebalancers = {data["metadata"]["name"]: data for data in self.listing.all(REBALANCER)}
        asking = (rebalancers[name] for name in workload.rebalances if name in rebalancers)
        created = {
            data["metadata"]["name"]: read_time(data["metadata"].get("creationTimestamp"))
            for data in asking
        }
        return tuple(
            sorted(name for name, time in created.items() if time is None or time <= triggered)
        )

    @cached_property
    def _works(self) -> Mapping[str, Mapping[str, Object]]:
        """The manifests of the Works that were asked for, by the mark of their binding and by
        member.
        """
        found: dict[str, dict[str, Object]] = {}
        for work in self.listing.all(WORK, WORK_GROUP):
            member = work["metadata"]["namespace"].removeprefix(MEMBER_NAMESPACE)
            # Karmada makes one Work for each object, so a Work has one manifest.
            manifest = value_at(work, ("spec", "workload", "manifests", 0))
            for mark in marks_of(work) if manifest and not is_leaving(work) else ():
                found.setdefault(mark, {})[member] = manifest
        return found


def _checked(bound: BoundTemplate) -> TemplateState:
    """Return the state of a template.

    Raises:
        FleetError: its binding cannot be read.
    """
    try:
        return bound.state
    except MisfitError as misfit:
        words = "; ".join(problem.what for problem in misfit.problems)
    except ValueError as error:
        words = str(error)
    what = Message("binding-cannot-read", "its binding cannot be read: {words}", words=words)
    raise FleetError(
        [Problem(what, subject=str(bound.binding.template), hint="see its placement and its times")]
    )


@attrs.frozen
class _Same:
    """A listing, compared by identity."""

    listing: Listing = attrs.field(eq=id)


def reading_of(listing: Listing) -> Reading:
    """Return the reading of a listing; the last one is kept, since the listing that needs no more
    requests is read.
    """
    return _reading(_Same(listing))


@lru_cache(maxsize=1)
def _reading(same: _Same) -> Reading:
    return Reading(same.listing)


def _public(data: Object) -> dict[str, Any]:
    return dict(redacted(as_written(outlined(data))))
