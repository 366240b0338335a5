"""Find what matches nothing in Karmada's policies; a control plane accepts it without a warning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import Vocabulary
from fleet_components.plan.asked_objects import AskedFor, AskedObjects
from fleet_components.plan.no_match import NoMatch, meant, problems_of
from fleet_components.plan.source import Source
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_OVERRIDE,
    CLUSTER_PROPAGATION,
    OVERRIDE,
    Placement,
    PropagationPolicy,
    ResourceSelector,
)
from fleet_components.systems.karmada.plan.asked_members import KarmadaMembers
from fleet_components.systems.karmada.plan.templates import Templates, rebalanced, template_name
from fleet_components.systems.karmada.scheduler.spread import ignores_constraints

_PLACEMENT: FieldPath = ("spec", "placement")
_NONE = Vocabulary(())


def in_policies(
    templates: Templates, members: KarmadaMembers, objects: AskedObjects
) -> Iterator[Problem]:
    """Yield what matches nothing in propagation and override policies."""
    overrides = templates.policies.overrides
    known = _names(overrides)
    for policy in templates.policies.propagation:
        yield from problems_of(policy.manifest, _of_objects(policy, objects))
        yield from problems_of(policy.manifest, _of_placement(policy.spec.placement, members))
        suspended = policy.spec.suspension.dispatching_on_clusters.cluster_names
        path = ("spec", "suspension", "dispatchingOnClusters", "clusterNames")
        yield from problems_of(policy.manifest, members.named(path, suspended))
        yield from problems_of(policy.manifest, _of_overrides(policy, known))
    for override in overrides:
        yield from problems_of(override.manifest, _of_objects(override, objects))
        yield from problems_of(override.manifest, _of_rules(override, members))


def in_requests(
    source: Source, templates: Templates, members: KarmadaMembers, objects: AskedObjects
) -> Iterator[Problem]:
    """Yield rebalancers and observations that name objects or members that do not exist.

    These are warnings, not errors: the objects may have been removed since.
    """
    for rebalancer, index, key in rebalanced(source.policies):
        yield from problems_of(
            rebalancer, _of_template(("spec", "workloads", index), key, templates, objects)
        )
    for health in source.health:
        for index, seen in enumerate(health.unhealthy):
            path: FieldPath = ("spec", "unhealthy", index)
            yield from problems_of(
                health.manifest, _of_template((*path, "name"), seen.key, templates, objects)
            )
            yield from problems_of(health.manifest, members.one((*path, "cluster"), seen.cluster))


def _of_objects(
    policy: PropagationPolicy | OverridePolicy, objects: AskedObjects
) -> Iterator[NoMatch]:
    wanted = [_wanted(selector) for selector in policy.spec.resource_selectors]
    outside = {
        index
        for index, asked in enumerate(wanted)
        if policy.key.namespace and objects.is_cluster_scoped(asked)
    }
    for index in sorted(outside):
        what = Message(
            "never-selects-cluster-scoped",
            "a {kind} never selects a cluster-scoped kind such as {selected}",
            kind=policy.key.kind,
            selected=wanted[index].kind,
        )
        yield NoMatch(("spec", "resourceSelectors", index), what, f"use a Cluster{policy.key.kind}")
    # No selector is left that could match anything in the namespace.
    if outside and len(outside) == len(wanted):
        return
    # One warning about the namespace is enough for all selectors.
    if policy.key.namespace and not objects.catalogue.contents(policy.key.namespace):
        yield NoMatch(("metadata", "namespace"), *objects.nothing_in(policy.key.namespace, wanted))
        return
    for index, asked in enumerate(wanted):
        path: FieldPath = ("spec", "resourceSelectors", index)
        if index in outside:
            continue
        if asked.namespace and not objects.catalogue.contents(asked.namespace):
            yield NoMatch((*path, "namespace"), *objects.nothing_in(asked.namespace, (asked,)))
        elif not any(objects.found(asked)):
            yield NoMatch((*path, "name") if asked.name else path, *objects.missing(asked))


def _wanted(selector: ResourceSelector) -> AskedFor:
    group, _, version = selector.api_version.rpartition("/")
    return AskedFor(
        group=group,
        version=version,
        kind=selector.kind,
        namespace=selector.namespace,
        name=selector.name,
        labels=selector.label_selector,
    )


def _of_placement(placement: Placement, members: KarmadaMembers) -> Iterator[NoMatch]:
    yield from members.affinity((*_PLACEMENT, "clusterAffinity"), placement.cluster_affinity)
    for index, group in enumerate(placement.cluster_affinities):
        path: FieldPath = (*_PLACEMENT, "clusterAffinities", index)
        yield from members.affinity(path, group)
        for place, overflow in enumerate(group.overflow_affinities):
            yield from members.affinity((*path, "overflowAffinities", place), overflow)
    for index, constraint in enumerate(placement.spread_constraints):
        path = (*_PLACEMENT, "spreadConstraints", index)
        yield from members.field((*path, "spreadByField"), constraint.spread_by_field)
        if constraint.spread_by_label:
            yield from members.label((*path, "spreadByLabel"), constraint.spread_by_label)
    yield from _of_groups(placement)
    scheduling = placement.replica_scheduling
    preference = scheduling.weight_preference if scheduling else None
    for index, rule in enumerate(preference.static_weight_list if preference else ()):
        path = (
            *_PLACEMENT,
            "replicaScheduling",
            "weightPreference",
            "staticWeightList",
            index,
            "targetCluster",
        )
        yield from members.affinity(path, rule.target_cluster)


def _of_groups(placement: Placement) -> Iterator[NoMatch]:
    """Yield a spread constraint that lets nothing be selected, since it has no ``maxGroups``.

    Source: karmada-io/karmada 1.19, pkg/scheduler/core/spreadconstraint: the field has no default,
    and counts as 0.
    """
    if ignores_constraints(placement):
        return
    fields = [constraint.spread_by_field for constraint in placement.spread_constraints]
    # With regions, each gives one cluster even so.
    counts = "region" if "region" in fields else "cluster"
    for index, constraint in enumerate(placement.spread_constraints):
        if constraint.spread_by_field == counts and not constraint.max_groups:
            path: FieldPath = (*_PLACEMENT, "spreadConstraints", index)
            what = Message(
                "selects-no-maxgroups-missing",
                "selects no {counts}: maxGroups is missing, and counts as 0",
                counts=counts,
            )
            yield NoMatch(path, what, f"write maxGroups: {max(1, constraint.min_groups)} or more")


def without_apis(source: Source, templates: Templates) -> Iterator[Problem]:
    """Yield the Clusters whose ``status`` lists no API, so that nothing is placed on them.

    Source: karmada-io/karmada 1.19, pkg/scheduler/framework/plugins/apienablement: an API that the
    status does not list is not there. A Cluster without any ``status`` is taken to serve all APIs.
    """
    # Without templates nothing is to be placed, so the warning would help nobody.
    for manifest in source.declarations.values() if templates.keys else ():
        status = manifest.data.get("status") if manifest.kind == "Cluster" else None
        if status is not None and not status.get("apiEnablements"):
            what = Message(
                "no-apienablements-cluster-serves",
                "has no apiEnablements, so the cluster serves no API and nothing is placed on it",
            )
            yield manifest.problem(
                what, ("status",), "list the APIs there, or leave the status out"
            )


def _names(overrides: Sequence[OverridePolicy]) -> Mapping[tuple[str, str], Vocabulary]:
    """Return the names of override policies, by kind and namespace."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for override in overrides:
        found[override.key.kind, override.key.namespace].append(override.key.name)
    return {place: Vocabulary(names) for place, names in found.items()}


def _of_overrides(
    policy: PropagationPolicy, overrides: Mapping[tuple[str, str], Vocabulary]
) -> Iterator[NoMatch]:
    """Yield missing override policies that it waits for: of its own namespace, or cluster-wide as
    itself.
    """
    kind = CLUSTER_OVERRIDE if policy.key.kind == CLUSTER_PROPAGATION else OVERRIDE
    known = overrides.get((kind, policy.key.namespace), _NONE)
    for index, name in enumerate(policy.spec.dependent_overrides):
        if name not in known:
            hint = f"what it selects waits for it; {meant(name, known, 'there is')}"
            yield NoMatch(
                ("spec", "dependentOverrides", index),
                Message("no-such-policy", 'there is no {kind} "{name}"', kind=kind, name=name),
                hint,
            )


def _of_rules(override: OverridePolicy, members: KarmadaMembers) -> Iterator[NoMatch]:
    """Yield what matches no member in the rules.

    The fields of the form before ``overrideRules``, deprecated since Karmada 1.0, count as one
    rule.
    """
    for index, rule in enumerate(override.spec.override_rules):
        yield from members.affinity(
            ("spec", "overrideRules", index, "targetCluster"), rule.target_cluster
        )
    if not override.spec.override_rules:
        yield from members.affinity(("spec", "targetCluster"), override.spec.target_cluster)


def _of_template(
    path: FieldPath, key: ObjectKey, templates: Templates, objects: AskedObjects
) -> Iterator[NoMatch]:
    """Yield an object that is missing or that a placement has; an unclaimed object is reported as
    such elsewhere.
    """
    manifest = objects.catalogue.get(key)
    if manifest is None:
        wanted = AskedFor(group=key.group, kind=key.kind, namespace=key.namespace, name=key.name)
        near = objects.near(wanted)
        yield NoMatch(
            path,
            Message("no-such-template", "there is no {key}", key=key),
            (
                f"{near}{' else' if near.endswith('?') else '; else'} take it out"
                if near
                else "take it out"
            ),
        )
    elif template_name(manifest) not in templates.keys and manifest not in templates.unclaimed:
        yield NoMatch(
            path,
            Message(
                "no-policy-karmada-placement",
                "no policy of Karmada has {key}, a placement has it",
                key=key,
            ),
            "take it out",
        )
