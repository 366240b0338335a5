"""Find the templates of a source: objects that Karmada's policies claim, what these need, and
what still stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property, partial
from typing import Any

import attrs

from fleet_components.content.catalogue import Alike, Catalogue
from fleet_components.content.custom_kinds import CustomKind
from fleet_components.content.dependencies import Dependency, dependencies_of
from fleet_components.model.inventory import Inventory
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey, shape_of
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.reader import API_VERSION
from fleet_components.model.selector import LabelSelector
from fleet_components.model.text import count
from fleet_components.plan.guard import is_protected
from fleet_components.plan.names import NAMESPACE_KEY, TEMPLATE_KIND
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.planning import Taken
from fleet_components.plan.record import digest
from fleet_components.plan.source import Source
from fleet_components.scheduler.framework import KARMADA
from fleet_components.scheduler.plugins import meant_for
from fleet_components.systems.karmada.content.template import as_matched
from fleet_components.systems.karmada.model.application_health import by_object
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_OVERRIDE,
    CLUSTER_PROPAGATION,
    OVERRIDE,
    PROPAGATION,
    PropagationPolicy,
)
from fleet_components.systems.karmada.plan.needs import Needs
from fleet_components.systems.karmada.plan.record import template_uid
from fleet_components.systems.karmada.plan.subject import Policies, TemplateSubject
from fleet_components.systems.karmada.scheduler.matching import (
    best_policy,
    matches,
    propagates,
    skips,
    syncs,
    watches,
)

REBALANCER = "WorkloadRebalancer"
PROTECTED_LABEL = "resourcetemplate.karmada.io/deletion-protected"
"""Karmada's label that protects an object from deletion; the value is ``Always``."""
SKIP_AUTO_PROPAGATION = "namespace.karmada.io/skip-auto-propagation"
"""Karmada's label of a namespace that it does not bring to members by itself; the value is
``true``.
"""
_PRIORITY_CLASS = ("scheduling.k8s.io", "PriorityClass")
_PRIORITIES = ("system-cluster-critical", "system-node-critical")
"""Priority classes that every API server has."""
_SKIPPED = Message(
    "no-effect-karmada-propagates",
    "has no effect: Karmada propagates nothing of the namespaces kube-*, karmada-system,"
    " karmada-cluster, karmada-es-*",
)
_NOT_SKIPPED = "place objects of other namespaces"


@attrs.frozen
class TemplateWorkload:
    """A template with its relations to others.

    Attributes:
        key: its name in a stack: ``namespace/Kind/name``.
        manifest: the object.
        needed_by: keys of the templates that it goes along with; True if it does so even without
            ``propagateDeps``, as a namespace does.
        rebalances: names of the rebalancers that ask for it.
        unhealthy: members on which it was observed to be Unhealthy, and since when.
        custom: its kind if that is custom; None if its definition is unknown.
    """

    key: str
    manifest: Manifest
    needed_by: Mapping[str, bool] = attrs.field(factory=dict)
    rebalances: frozenset[str] = frozenset()
    unhealthy: Mapping[str, datetime | None] = attrs.field(factory=dict)
    custom: CustomKind | None = None


@attrs.frozen(slots=False)
class Templates:
    """The templates of a source, parents before what they need.

    Attributes:
        workloads: the templates; one that needs another comes before it.
        policies: the policies, and how the control plane would be set up.
        unclaimed: the objects that neither a policy nor a placement claims.
        waiting: a digest of each unclaimed object, and of each namespace that comes by itself, by
            key: a lazy policy that is added later leaves it until it changes. Empty if no Karmada
            policy is involved.
        warnings: warnings about policies without effect.
        problems: what cannot be carried out.
        refused: objects that both systems claim.
        matched: the objects of the source as policies select them.
    """

    workloads: tuple[TemplateWorkload, ...]
    policies: Policies
    unclaimed: tuple[Manifest, ...]
    waiting: Mapping[str, str]
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    refused: tuple[Problem, ...] = ()
    matched: Catalogue = Catalogue(())

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of the templates."""
        return frozenset(workload.key for workload in self.workloads)

    def subject(
        self,
        workload: TemplateWorkload,
        inventory: Inventory,
        past: Past,
        options: Options,
        needs: Needs,
    ) -> TemplateSubject:
        """Return a template with all that its decision depends on.

        Args:
            workload: the template.
            inventory: the members.
            past: what was decided and what stands.
            options: the options; ties between members depend on the stack's name.
            needs: what it takes over from the templates that need it.
        """
        manifest, origin = workload.manifest, workload.manifest.origin
        name = f"{TEMPLATE_KIND}/{workload.key}"
        return TemplateSubject(
            key=workload.key,
            manifest=manifest,
            inventory=inventory,
            policies=self.policies,
            uid=template_uid(options.stack, workload.key),
            rebalances=workload.rebalances,
            waited=past.waiting.get(workload.key, ""),
            unhealthy=workload.unhealthy,
            custom=workload.custom,
            needs=needs,
            done=past.done.get(name, {}),
            standing_on=partial(past.standing_on, name),
            plugins=meant_for(KARMADA, options.settings.plugins),
            protected=is_protected(manifest) or manifest.labels.get(PROTECTED_LABEL) == "Always",
            origin=origin.location if origin else "",
        )


def templates_of(source: Source, brought: Taken, known: Collection[str]) -> Templates:
    """Return the templates of a source.

    Args:
        source: the parsed fleet.
        brought: objects that another system brings; an object must not be claimed by two of them.
        known: keys of the templates of the past. They stay templates when no policy matches them
            any more, since deleting a policy leaves what it placed, unless a placement selects
            them now.
    """
    reader = _Reading(source, brought, known)
    return Templates(
        reader.workloads(),
        reader.policies,
        reader.unclaimed,
        reader.waiting(),
        (*reader.without_effect(), *reader.unwatched(), *reader.undivided()),
        tuple(reader.without_priority()),
        tuple(reader.claimed_twice()),
        reader.catalogue,
    )


def template_name(manifest: Manifest | ObjectKey) -> str:
    """Return ``namespace/Kind/name``; kinds that are not built in have their group, as in
    ``Widget.example.com``.
    """
    kind = manifest.kind
    if (manifest.group, kind) not in BUILT_IN and manifest.group:
        kind = f"{kind}.{manifest.group}"
    return "/".join(part for part in (manifest.namespace, kind, manifest.name) if part)


def rebalanced(policies: Iterable[Manifest]) -> Iterator[tuple[Manifest, int, ObjectKey]]:
    """Yield the objects that rebalancers name: the rebalancer, the index in its list, and the
    object's key.
    """
    for rebalancer in (m for m in policies if m.kind == REBALANCER):
        for index, asked in enumerate(rebalancer.data["spec"].get("workloads") or ()):
            group = asked["apiVersion"].rpartition("/")[0]
            yield (
                rebalancer,
                index,
                ObjectKey(group, asked["kind"], asked.get("namespace") or "", asked["name"]),
            )


@attrs.frozen(slots=False)
class _Reading:
    source: Source
    brought: Taken
    known: Collection[str]

    @cached_property
    def propagation(self) -> tuple[PropagationPolicy, ...]:
        kinds = (PROPAGATION, CLUSTER_PROPAGATION)
        return tuple(
            PropagationPolicy.from_manifest(m) for m in self.source.policies if m.kind in kinds
        )

    @cached_property
    def overrides(self) -> tuple[OverridePolicy, ...]:
        kinds = (OVERRIDE, CLUSTER_OVERRIDE)
        return tuple(
            OverridePolicy.from_manifest(m) for m in self.source.policies if m.kind in kinds
        )

    @cached_property
    def policies(self) -> Policies:
        """All policies with the settings, as the templates share them."""
        return Policies(self.propagation, self.overrides, self.source.settings)

    @cached_property
    def objects(self) -> dict[str, Manifest]:
        """All objects that could be templates."""
        # Objects of this package's own API are input, never templates.
        manifests = (m for m in self.source.catalogue.manifests if m.api_version != API_VERSION)
        return {template_name(m): m for m in manifests if propagates(m)}

    @cached_property
    def catalogue(self) -> Catalogue:
        """The objects of the source as policies select them."""
        source = self.source
        matched = (
            as_matched(item, source.custom.kind(item)) for item in source.catalogue.manifests
        )
        return attrs.evolve(source.catalogue, manifests=tuple(matched))

    @cached_property
    def matched(self) -> dict[str, Manifest]:
        """The same objects as policies select them."""
        manifests = (m for m in self.catalogue.manifests if m.api_version != API_VERSION)
        return {template_name(m): m for m in manifests if template_name(m) in self.objects}

    @cached_property
    def matching(self) -> dict[str, list[PropagationPolicy]]:
        """Matching policies of each object that has any."""
        index = self.policies.index
        found = {
            key: [p for p in index.candidates(m) if matches(p, m)]
            for key, m in self.matched.items()
        }
        return {key: policies for key, policies in found.items() if policies}

    @cached_property
    def own(self) -> dict[str, None]:
        """Objects that a policy matches, or that stand and that no placement has taken over."""
        left = {
            key
            for key in self.known
            if key in self.objects and self.objects[key].key not in self.brought
        }
        # A dict, since it keeps the order of the source, in which problems are reported.
        return {key: None for key in self.objects if key in self.matching or key in left}

    @cached_property
    def dependencies(self) -> dict[str, dict[str, bool]]:
        """Objects that go along with templates, each with those templates."""
        found: dict[str, dict[str, bool]] = {}
        for parent in self.own:
            # Any policy that matches may claim the object, so any of them may take dependencies
            # along.
            takes = any(policy.spec.propagate_deps for policy in self.matching.get(parent, ()))
            for dependency in dependencies_of(self.matched[parent], self.source.settings.shapes):
                for key in self._meant(dependency):
                    # Even without propagateDeps: where both go to one member, what is needed is
                    # delivered first.
                    if takes or key in self.own:
                        found.setdefault(key, {})[parent] = False
        return found

    @cached_property
    def namespaces(self) -> dict[str, dict[str, bool]]:
        """Namespaces of the templates that no placement brings, each with the templates in it."""
        found: dict[str, dict[str, bool]] = {}
        if self.source.settings.brings_namespaces:
            return found
        # A template that goes along with others may be selected itself, and counts once.
        for parent in dict.fromkeys((*self.own, *self.dependencies)):
            # The key of a cluster-scoped parent ends with the slash, and is no object.
            key = f"{NAMESPACE_KEY}{self.objects[parent].namespace}"
            if (
                key in self.objects
                and self.objects[key].key not in self.brought
                and _is_synced(self.objects[key])
            ):
                found.setdefault(key, {})[parent] = True
        return found

    def workloads(self) -> tuple[TemplateWorkload, ...]:
        """Return the templates, parents first."""
        keys = dict.fromkeys((*self.own, *self.dependencies, *self.namespaces))
        unhealthy = by_object(self.source.health)
        found = [
            TemplateWorkload(
                key,
                self.objects[key],
                {**self.dependencies.get(key, {}), **self.namespaces.get(key, {})},
                self.rebalances.get(self.objects[key].key, frozenset()),
                unhealthy.get(self.objects[key].key, {}),
                self.source.custom.kind(self.objects[key]),
            )
            for key in keys
        ]
        # False sorts first: what policies select, then dependencies, then namespaces.
        return tuple(
            sorted(
                found,
                key=lambda item: (
                    item.key in self.namespaces,
                    item.key in self.dependencies,
                    item.key,
                ),
            )
        )

    @cached_property
    def unclaimed(self) -> tuple[Manifest, ...]:
        """Objects that nothing claims; namespaces that a control plane brings by itself are not
        among them.
        """
        if not self.source.settings.brings_namespaces:
            return self._left
        return tuple(
            item for item in self._left if item.key[:2] != ("", "Namespace") or not _is_synced(item)
        )

    @cached_property
    def _left(self) -> tuple[Manifest, ...]:
        """Objects that no policy, template or placement takes."""
        taken = {*self.own, *self.dependencies, *self.namespaces}
        return tuple(
            m for key, m in self.objects.items() if key not in taken and m.key not in self.brought
        )

    def waiting(self) -> dict[str, str]:
        """Return digests of what no policy claims; empty if the fleet has placements but no
        propagation policy.
        """
        if self.source.placements and not self.propagation:
            return {}
        return {template_name(manifest): digest((manifest.data,)) for manifest in self._left}

    @cached_property
    def rebalances(self) -> dict[ObjectKey, frozenset[str]]:
        """Names of the rebalancers, by the object that they name."""
        found: dict[ObjectKey, frozenset[str]] = {}
        for rebalancer, _, key in rebalanced(self.source.policies):
            found[key] = found.get(key, frozenset()) | {rebalancer.name}
        return found

    def without_priority(self) -> Iterator[Problem]:
        """Yield policies with a missing PriorityClass: Karmada's detector never makes a binding
        for them.

        Source: karmada-io/karmada 1.19, pkg/detector/detector.go, with the feature gate
        PriorityBasedScheduling.
        """
        known = {*_PRIORITIES, *(m.name for m in self.source.catalogue.find(*_PRIORITY_CLASS))}
        for policy in self.propagation:
            name = policy.data.get("schedulePriority", {}).get("priorityClassName")
            if name is not None and name not in known:
                what = Message(
                    "no-priorityclass-without-karmada",
                    'there is no PriorityClass "{name}", and without it Karmada places nothing',
                    name=name,
                )
                path = ("spec", "schedulePriority", "priorityClassName")
                yield policy.manifest.problem(
                    what, path, "add it to the manifests, or take schedulePriority out"
                )

    def without_effect(self) -> Iterator[Problem]:
        """Yield policies and selectors of namespaces and kinds of which Karmada propagates
        nothing.
        """
        policies: tuple[PropagationPolicy | OverridePolicy, ...] = (
            *self.propagation,
            *self.overrides,
        )
        for policy in policies:
            if skips(policy.key.namespace):
                yield policy.manifest.problem(_SKIPPED, ("metadata", "namespace"), _NOT_SKIPPED)
                continue
            for index, selector in enumerate(policy.spec.resource_selectors):
                if skips(selector.namespace):
                    path = ("spec", "resourceSelectors", index, "namespace")
                    yield policy.manifest.problem(_SKIPPED, path, _NOT_SKIPPED)
                elif not watches(selector.api_version.rpartition("/")[0], selector.kind):
                    path = ("spec", "resourceSelectors", index, "kind")
                    what = Message(
                        "no-effect-karmada-propagates-no",
                        "has no effect: Karmada propagates no {kind}",
                        kind=selector.kind,
                    )
                    yield policy.manifest.problem(what, path, "take it out")

    def unwatched(self) -> Iterator[Problem]:
        """Yield policies with application failover in a source without observations of failing
        applications.
        """
        for policy in self.propagation if not self.source.health else ():
            if policy.spec.failover and policy.spec.failover.application:
                # A hub watches applications itself, so it moves them even if the forecast does not.
                what, hint = _LEFT_OUT if self.source.given.hub else _NO_EFFECT
                yield policy.manifest.problem(what, ("spec", "failover", "application"), hint)

    def undivided(self) -> Iterator[Problem]:
        """Yield a warning for each kind whose replicas a policy divides but nobody can
        determine.
        """
        found: dict[tuple[int, str, str], tuple[PropagationPolicy, list[Manifest]]] = {}
        for key in self.own:
            manifest = self.matched[key]
            # The source does not say which policy has claimed the object: the best match stands for
            # it.
            policy = best_policy(manifest, self.matching.get(key, ()))
            if policy and policy.spec.placement.divided and self._may_have_replicas(manifest):
                # The id stands for the policy, which `propagation` keeps alive.
                kind = (id(policy), manifest.api_version, manifest.kind)
                found.setdefault(kind, (policy, []))[1].append(manifest)
        for policy, manifests in found.values():
            first = manifests[0]
            place = f" ({first.origin.location})" if first.origin else ""
            others = (
                f", as {count(len(manifests) - 1, 'other')} of the kind"
                if len(manifests) > 1
                else ""
            )
            what = Message(
                "goes-whole-every-member",
                "{key}{place} goes whole to every member that is selected{others}: nobody knows its"
                " replicas",
                key=first.key,
                place=place,
                others=others,
            )
            hint = (
                "if it has replicas, say where in spec.workloads of a KarmadaSettings:"
                f" {{apiVersion: {first.api_version}, kind: {first.kind}, replicas:"
                " spec.replicas}; else give it a policy that divides nothing"
            )
            yield policy.manifest.problem(what, ("spec", "placement", "replicaScheduling"), hint)

    def _may_have_replicas(self, manifest: Manifest) -> bool:
        """Return whether it may have unknown replicas: of a custom kind, with a number in its
        spec.
        """
        known = (manifest.group, manifest.kind) in BUILT_IN or shape_of(
            manifest, self.source.settings.shapes
        )
        return not known and _has_number(manifest.data.get("spec"))

    def claimed_twice(self) -> Iterator[Problem]:
        """Yield the objects that both systems claim."""
        for key in dict.fromkeys((*self.own, *self.dependencies)):
            manifest = self.objects[key]
            placement, origin = self.brought.get(manifest.key, ("", None))
            if placement and origin and manifest.origin and origin.envelope:
                placement += f" in {origin.seen_from(manifest.origin).place}"
            if placement:
                yield manifest.problem(
                    Message(
                        "is-claimed-by-and",
                        "is claimed by {placement} and by {claimant}",
                        placement=placement,
                        claimant=self._claimant(key),
                    ),
                    (),
                    _TWICE,
                )

    def _claimant(self, key: str) -> str:
        policy = best_policy(self.matched[key], self.matching.get(key, ()))
        if policy:
            return f"{policy.key.kind} {policy.key}"
        parents = self.dependencies.get(key)
        return (
            # The first by name, so that the message is the same in every run.
            f"{min(parents)}, which takes it along"
            if parents
            else "a Karmada policy that left it standing"
        )

    def _meant(self, dependency: Dependency) -> Iterable[str]:
        alike = self._alike.get(
            (dependency.api_version, dependency.kind, dependency.namespace), Alike()
        )
        found = (
            alike.named(dependency.name)
            if dependency.name
            else alike.labelled(LabelSelector(dict(dependency.labels)))
        )
        return map(template_name, found)

    @cached_property
    def _alike(self) -> dict[tuple[str, str, str], Alike]:
        found: dict[tuple[str, str, str], list[Manifest]] = defaultdict(list)
        for manifest in self.matched.values():
            found[manifest.api_version, manifest.kind, manifest.namespace].append(manifest)
        return {key: Alike(tuple(manifests)) for key, manifests in found.items()}


def _is_synced(namespace: Manifest) -> bool:
    """Return whether Karmada brings a namespace to members by itself.

    Source: karmada-io/karmada 1.19, pkg/controllers/namespace/namespace_sync_controller.go,
    Reconcile.
    """
    return (
        syncs(namespace.name) and namespace.labels.get(SKIP_AUTO_PROPAGATION, "").lower() != "true"
    )


def _has_number(value: Any) -> bool:
    match value:
        case Mapping():
            return any(map(_has_number, value.values()))
        case list():
            return any(map(_has_number, value))
    # A bool is an int in Python, and no number of replicas.
    return isinstance(value, int) and not isinstance(value, bool)


_NO_EFFECT = (
    Message(
        "failover-unwatched",
        "has no effect yet: nothing watches applications, an ApplicationHealth says which of them"
        " fail",
    ),
    "add one; while all are well, with spec: {unhealthy: []}",
)
_LEFT_OUT = (
    Message(
        "failover-left-out",
        "is left out of this forecast: on the hub what fails moves to other members",
    ),
    "say in an ApplicationHealth what fails; if nothing does, with spec: {unhealthy: []}",
)
_TWICE = "leave it to one of the two: take it out of the one's selectors"
