"""Find what matches nothing in KubeFleet's policies; a hub accepts it without a warning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from fleet_components.content.catalogue import DEFAULT_NAMESPACE
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.selector import LabelSelector
from fleet_components.model.text import Vocabulary, few
from fleet_components.plan.asked_objects import AskedFor, AskedObjects
from fleet_components.plan.no_match import NoMatch, meant, problems_of
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.content.override import RULES, label_variables, targets_of
from fleet_components.systems.kubefleet.model.eviction import BUDGET, EVICTION
from fleet_components.systems.kubefleet.model.memory import UNSCHEDULED
from fleet_components.systems.kubefleet.model.override import (
    CLUSTER_OVERRIDE,
    NAMESPACED,
    OVERRIDE,
    OverrideRule,
    OverrideTarget,
    ResourceOverride,
)
from fleet_components.systems.kubefleet.model.placement import (
    Placement,
    PlacementPolicy,
    ResourceSelector,
)
from fleet_components.systems.kubefleet.plan.asked_members import KubeFleetMembers
from fleet_components.systems.kubefleet.plan.selection import SelectedPlacement
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.plan.update_runs import PLACEMENT_OF, STRATEGY_OF
from fleet_components.systems.kubefleet.rollout.strategy import External

_POLICY: FieldPath = ("spec", "policy")
_AFFINITY: FieldPath = (*_POLICY, "affinity", "clusterAffinity")
_STAGES: FieldPath = ("spec", "stages")
_NONE = Vocabulary(())


def in_placement(
    policy: Manifest, selected: SelectedPlacement, members: KubeFleetMembers, objects: AskedObjects
) -> Iterator[Problem]:
    """Yield what matches nothing in a placement.

    Args:
        policy: the manifest of the placement.
        selected: the placement with what it selects.
        members: the members.
        objects: the objects of the source.
    """
    yield from problems_of(policy, _of_objects(selected, objects))
    yield from problems_of(
        policy, _of_members(selected.placement.spec.policy or PlacementPolicy(), members)
    )


def in_runs(source: Source, members: KubeFleetMembers) -> Iterator[Problem]:
    """Yield what matches nothing in update runs and in the strategies that they may follow."""
    placements: dict[tuple[str, str], dict[str, Placement]] = defaultdict(dict)
    for placement in source.placements:
        placements[placement.kind, placement.namespace][placement.name] = placement
    names = {place: Vocabulary(known) for place, known in placements.items()}
    for manifest in source.policies:
        if manifest.kind in PLACEMENT_OF:
            # `placements` has an empty map where a namespace has no placement, `names` has no
            # entry.
            place = PLACEMENT_OF[manifest.kind], manifest.namespace
            yield from problems_of(
                manifest, _of_run(manifest, placements[place], names.get(place, _NONE))
            )
        elif manifest.kind in STRATEGY_OF.values():
            for index, stage in enumerate(manifest.data["spec"].get("stages") or ()):
                yield from problems_of(manifest, _of_stage((*_STAGES, index), stage, members))


def in_evictions(source: Source) -> Iterator[Problem]:
    """Yield the evictions and disruption budgets that belong to no placement."""
    # Evictions and budgets concern ClusterResourcePlacements only.
    names = Vocabulary(placement.name for placement in source.placements if not placement.namespace)
    for manifest in source.policies:
        if (
            manifest.kind == EVICTION
            and (name := manifest.data["spec"]["placementName"]) not in names
        ):
            yield from problems_of(manifest, [_nowhere(("spec", "placementName"), name, names)])
        elif manifest.kind == BUDGET and manifest.name not in names:
            yield from problems_of(manifest, [_nowhere(("metadata", "name"), manifest.name, names)])


def _targets(placement: PlacementSubject) -> frozenset[OverrideTarget]:
    manifests = map(Manifest, placement.content)
    return frozenset(
        target for manifest in manifests for target in targets_of(manifest, opens=placement.opens)
    )


def _of_override(
    override: ResourceOverride,
    brought: Mapping[str, Collection[OverrideTarget]],
    objects: AskedObjects,
) -> Iterator[NoMatch]:
    """Yield the placement that is missing, and the objects that are, or that no placement of the
    override brings.
    """
    keys = [key for key in brought if override.is_for(key)]
    # Without the placement nothing brings a target, and one message is enough.
    if override.spec.placement and not keys:
        yield _no_placement(override, brought)
        return
    namespace, targets = override.manifest.namespace, override.targets
    theirs, asked = (
        frozenset[OverrideTarget]().union(*(brought[key] for key in keys)),
        list(map(_asked, targets)),
    )
    outside = {
        index for index, item in enumerate(asked) if _is_out_of_scope(override, item, objects)
    }
    if (
        # One message for the namespace instead of one for each of its objects.
        namespace
        and not outside
        and not objects.catalogue.contents(namespace)
        and theirs.isdisjoint(targets)
    ):
        yield NoMatch(("metadata", "namespace"), *objects.nothing_in(namespace, asked))
        return
    selectors = (
        "clusterResourceSelectors"
        if override.manifest.kind == CLUSTER_OVERRIDE
        else "resourceSelectors"
    )
    for index, (target, item) in enumerate(zip(targets, asked, strict=True)):
        path: FieldPath = ("spec", selectors, index, "name")
        if index in outside:
            yield NoMatch(("spec", selectors, index), *_scope_of(override, item))
            continue
        if target in theirs:
            continue
        if any(objects.found(item)):
            whose = (
                f"{override.spec.placement.name} does not bring"
                if override.spec.placement
                else "no placement brings"
            )
            yield NoMatch(
                path,
                Message(
                    "override-target-not-placed",
                    "{whose} {named}",
                    whose=whose,
                    named=_named(target),
                ),
                "select it with a placement, or take it out",
            )
        elif not _is_default(item):
            yield NoMatch(path, *objects.missing(item))


def _is_out_of_scope(override: ResourceOverride, asked: AskedFor, objects: AskedObjects) -> bool:
    """Return whether an override asks by name for objects of the other scope, which it never
    changes.

    A ClusterResourceOverride of a Namespace changes the objects in it as well.

    Source: kubefleet-dev/kubefleet v0.3.1, pkg/controllers/workgenerator/override.go.
    """
    if override.manifest.kind == CLUSTER_OVERRIDE:
        return objects.is_namespaced(asked)
    return objects.is_cluster_scoped(asked)


def _scope_of(override: ResourceOverride, asked: AskedFor) -> tuple[Message, str]:
    """Return what an override of the other scope takes, and which one takes the objects."""
    if override.manifest.kind == CLUSTER_OVERRIDE:
        what, instead = "cluster-scoped", f"a {OVERRIDE} in the namespace of the {asked.kind}"
    else:
        what, instead = "namespaced", f"a {CLUSTER_OVERRIDE}"
    return (
        Message(
            "override-of-other-scope",
            "a {override} selects {what} objects only, and no {kind}",
            override=override.manifest.kind,
            what=what,
            kind=asked.kind,
        ),
        f"use {instead}",
    )


def _asked(target: OverrideTarget) -> AskedFor:
    return AskedFor(
        group=target.group,
        version=target.version,
        kind=target.kind,
        namespace=target.namespace,
        name=target.name,
    )


def _named(target: OverrideTarget) -> ObjectKey:
    return ObjectKey(target.group, target.kind, target.namespace, target.name)


def _no_placement(override: ResourceOverride, keys: Collection[str]) -> NoMatch:
    """Return that the placement of an override is missing."""
    wanted, namespace = override.spec.placement, override.manifest.namespace
    # Only called for an override that names a placement.
    assert wanted
    inside = wanted.scope == NAMESPACED and override.manifest.kind == OVERRIDE
    prefix = f"{namespace}/" if inside else ""
    path, kind = (
        ("spec", "placement", "name"),
        "ResourcePlacement" if inside else "ClusterResourcePlacement",
    )
    missing = f'{kind} "{prefix}{wanted.name}"'
    other = wanted.name if inside else f"{namespace}/{wanted.name}"
    if other in keys:
        of_other = f"ClusterResourcePlacement {other}" if inside else f"ResourcePlacement {other}"
        hint = f"there is a {of_other}: write scope: {'Cluster' if inside else NAMESPACED}"
        return NoMatch(
            path, Message("no-such-placement", "there is no {missing}", missing=missing), hint
        )
    known = Vocabulary(
        key.removeprefix(prefix)
        for key in keys
        if key.startswith(prefix) and ("/" in key) == inside
    )
    return _nowhere(path, wanted.name, known, missing)


def _of_rule(path: FieldPath, rule: OverrideRule, members: KubeFleetMembers) -> Iterator[NoMatch]:
    """Yield what matches no member in a rule."""
    if rule.cluster_selector is None:
        yield NoMatch(
            path,
            Message("selector-selects-no-member", "selects no member"),
            "write clusterSelector: {clusterSelectorTerms: []} for all of them",
        )
        return
    for index, term in enumerate(rule.cluster_selector.cluster_selector_terms):
        at = (*path, "clusterSelector", "clusterSelectorTerms", index)
        yield from members.labelled((*at, "labelSelector"), term.label_selector)
    selected = [cluster for cluster in members.inventory.clusters if rule.applies_to(cluster)]
    for index, operation in enumerate(rule.json_patch_overrides if selected else ()):
        for key in label_variables(operation.value):
            yield from members.label_of(
                (*path, "jsonPatchOverrides", index, "value"), key, selected
            )


def _nowhere(path: FieldPath, name: str, names: Vocabulary, shown: str = "") -> NoMatch:
    missing = shown or f'ClusterResourcePlacement "{name}"'
    return NoMatch(
        path,
        Message("no-such-placement", "there is no {missing}", missing=missing),
        meant(name, names, "there is"),
    )


def in_overrides(
    source: Source, subjects: Iterable[Decided], members: KubeFleetMembers, objects: AskedObjects
) -> Iterator[Problem]:
    """Yield what matches nothing in overrides."""
    placements = [
        decided.subject for decided in subjects if isinstance(decided.subject, PlacementSubject)
    ]
    brought = {placement.key: _targets(placement) for placement in placements}
    for manifest in source.policies:
        if manifest.kind in (CLUSTER_OVERRIDE, OVERRIDE):
            override = ResourceOverride.from_manifest(manifest)
            yield from problems_of(manifest, _of_override(override, brought, objects))
            for index, rule in enumerate(override.spec.policy.override_rules):
                yield from problems_of(manifest, _of_rule((*RULES, index), rule, members))


def in_approvals(subjects: Iterable[Decided], given: Iterable[str]) -> Iterator[Problem]:
    """Yield given approvals that no update run asks for."""
    # Subjects of Karmada have no strategy.
    strategies = (getattr(decided.subject, "strategy", None) for decided in subjects)
    runs = (
        run for strategy in strategies if isinstance(strategy, External) for run in strategy.runs
    )
    asked = {name for run in runs for name in run.approvals}
    known = Vocabulary(asked)
    for name in sorted(set(given) - asked):
        what = Message(
            "no-update-run-asks", 'no update run asks for the approval "{name}"', name=name
        )
        yield Problem(what, ("approvals",), meant(name, known, "asked for is"))


def skipped_stages(
    source: Source, decided: Decided, members: KubeFleetMembers
) -> Iterator[Problem]:
    """Yield the stages of an update run that are skipped because none of the placement's members is
    in them.
    """
    subject = decided.subject
    if not isinstance(subject, PlacementSubject) or not isinstance(subject.strategy, External):
        return
    run = decided.outcome.runs.run if decided.outcome.runs else None
    bindings = decided.record.memory.bindings
    picked = sorted(name for name, binding in bindings.items() if binding.state != UNSCHEDULED)
    # A run that does not begin says why itself.
    if run is None or not picked or decided.outcome.rollout.failure:
        return
    namespace, _, name = run.strategy.rpartition("/")
    kind = "StagedUpdateStrategy" if namespace else "ClusterStagedUpdateStrategy"
    strategy = source.policy(kind, namespace, name)
    theirs = members.inventory.mask_of_names(picked)
    for index, stage in enumerate(run.stages):
        # A missing selector has a warning of `in_runs`, and a run fails on an invalid one.
        if stage.selector is None or stage.selector.error:
            continue
        selected = members.inventory.matching(stage.selector)
        # A stage that selects no member at all has a warning of `in_runs`.
        if selected and not selected & theirs:
            what = Message(
                "stage-skipped-tasks-none",
                "stage {name} is skipped, with its tasks: none of the members of {subject_name} is"
                " in it",
                name=stage.name,
                subject_name=subject.name,
            )
            yield strategy.problem(
                what, (*_STAGES, index, "labelSelector"), f"they are: {few(picked)}"
            )


def _of_objects(selected: SelectedPlacement, objects: AskedObjects) -> Iterator[NoMatch]:
    """Yield the selectors that find no object, except those that the selection itself reports."""
    placement, selection = selected.placement, selected.selection
    wanted = list(_wanted(placement, objects))
    if placement.namespace and not objects.catalogue.contents(placement.namespace):
        yield NoMatch(("metadata", "namespace"), *objects.nothing_in(placement.namespace, wanted))
        return
    warned = {warning.path for warning in selection.warnings}
    for index, asked in enumerate(wanted):
        path: FieldPath = ("spec", "resourceSelectors", index)
        if selection.brought[index] or path in warned or any(objects.found(asked)):
            continue
        at = (*path, "name") if asked.name else path
        yield NoMatch(
            at,
            *(
                objects.nothing_in(DEFAULT_NAMESPACE, ())
                if _is_default(asked)
                else objects.missing(asked)
            ),
        )


def _wanted(placement: Placement, objects: AskedObjects) -> Iterator[AskedFor]:
    """Yield what the selectors ask for.

    If a namespace is selected in part, the other selectors look for namespaced objects in it.
    """
    selectors = placement.spec.resource_selectors
    partly = [
        selector.name
        for selector in selectors
        if selector.selection_scope == "NamespaceWithResourceSelectors"
    ]
    # Admission lets at most one selector of this scope pass.
    inner = placement.namespace or next(iter(partly), "")
    for selector in selectors:
        kind = objects.catalogue.kind(selector.group, selector.kind)
        yield AskedFor(
            group=selector.group,
            kind=selector.kind,
            namespace=inner if kind and kind.namespaced else "",
            name=selector.name,
            labels=selector.label_selector,
        )


def _is_namespace(selector: ResourceSelector | AskedFor) -> bool:
    return (selector.group, selector.kind) == ("", "Namespace")


def _is_default(wanted: AskedFor) -> bool:
    """Return whether it is the default namespace, which every hub has."""
    return _is_namespace(wanted) and wanted.name == DEFAULT_NAMESPACE


def _of_members(policy: PlacementPolicy, members: KubeFleetMembers) -> Iterator[NoMatch]:
    yield from members.named((*_POLICY, "clusterNames"), policy.cluster_names)
    required = (
        *_AFFINITY,
        "requiredDuringSchedulingIgnoredDuringExecution",
        "clusterSelectorTerms",
    )
    for index, term in enumerate(policy.required_terms):
        yield from members.term((*required, index), term)
    preferred = (*_AFFINITY, "preferredDuringSchedulingIgnoredDuringExecution")
    for index, weighted in enumerate(policy.preferred_terms):
        path, preference = (*preferred, index, "preference"), weighted.preference
        yield from members.labelled((*path, "labelSelector"), preference.label_selector)
        if preference.property_sorter:
            yield from members.property(
                (*path, "propertySorter", "name"), preference.property_sorter.name
            )
    for index, constraint in enumerate(policy.topology_spread_constraints):
        yield from members.label(
            (*_POLICY, "topologySpreadConstraints", index, "topologyKey"), constraint.topology_key
        )


def _of_run(
    run: Manifest, placements: Mapping[str, Placement], names: Vocabulary
) -> Iterator[NoMatch]:
    """Yield what is wrong with the placement that a run names: it must exist and leave its rollout
    to update runs.

    Args:
        run: the run.
        placements: the placements that it may name.
        names: their names.
    """
    kind, name, path = (
        PLACEMENT_OF[run.kind],
        run.data["spec"].get("placementName", ""),
        ("spec", "placementName"),
    )
    named = placements.get(name)
    if named is None:
        yield NoMatch(
            path,
            Message("no-such-policy", 'there is no {kind} "{name}"', kind=kind, name=name),
            meant(name, names, "there is"),
        )
    elif named.spec.strategy.type != "External":
        what = Message(
            "does-not-leave-rollout",
            "{kind} {key} does not leave its rollout to update runs, so this one does nothing",
            kind=kind,
            key=named.key,
        )
        yield NoMatch(path, what, "write strategy: {type: External} there, or take the run out")


def _of_stage(
    path: FieldPath, stage: Mapping[str, Any], members: KubeFleetMembers
) -> Iterator[NoMatch]:
    if stage.get("labelSelector") is None:
        yield NoMatch(
            path,
            Message(
                "stage-selects-no-member", "stage {stage} selects no member", stage=stage["name"]
            ),
            "write labelSelector: {} for all of them",
        )
    else:
        yield from members.labelled(
            (*path, "labelSelector"), decode(LabelSelector, stage["labelSelector"])
        )
    key = stage.get("sortingLabelKey")
    if key:
        yield from members.label((*path, "sortingLabelKey"), key)
