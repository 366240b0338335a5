"""Collect the placements of a source as subjects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import attrs

from fleet_components.content.secret import redacted_content
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem, in_order
from fleet_components.model.release import Release
from fleet_components.model.text import few
from fleet_components.plan.apply_mode import ABANDON
from fleet_components.plan.asked_objects import AskedObjects
from fleet_components.plan.guard import is_protected
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source
from fleet_components.plan.standing import nothing_on
from fleet_components.scheduler.framework import KUBEFLEET
from fleet_components.scheduler.plugins import meant_for
from fleet_components.systems.kubefleet.content.select import Selection
from fleet_components.systems.kubefleet.model.eviction import (
    BUDGET,
    EVICTION,
    DisruptionBudget,
    Eviction,
)
from fleet_components.systems.kubefleet.model.override import (
    CLUSTER_OVERRIDE,
    OVERRIDE,
    OverrideTarget,
    ResourceOverride,
)
from fleet_components.systems.kubefleet.model.placement import Placement
from fleet_components.systems.kubefleet.model.release import Rule
from fleet_components.systems.kubefleet.plan.asked_members import KubeFleetMembers
from fleet_components.systems.kubefleet.plan.overrides import by_target, concerning
from fleet_components.systems.kubefleet.plan.selection import Placements, SelectedPlacement, mode_of
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.plan.unmatched import in_placement


def placement_subjects(
    placements: Placements,
    selections: tuple[SelectedPlacement, ...],
    inventory: Inventory,
    past: Past,
    options: Options,
) -> Iterator[PlacementSubject]:
    """Yield every placement with all that its decision depends on."""
    source = placements.source
    members, objects = (
        KubeFleetMembers.of(source.clusters, inventory),
        AskedObjects(source.catalogue, bool(options.hub)),
    )
    evictions, budgets, overrides = _evictions(source), _budgets(source), _overrides(source)
    plugins, release = (
        meant_for(KUBEFLEET, options.settings.plugins),
        source.given.releases.kubefleet,
    )
    opens = release.has(Rule.OVERRIDES_IN_ENVELOPES)
    for selected in selections:
        placement, selection = selected.placement, selected.selection
        policy = source.policy(placement.kind, placement.namespace, placement.name)
        # A state that hides secrets can only be compared with content that hides them too.
        content = redacted_content(selected.objects) if past.redacted else selected.objects
        mode, name = (
            mode_of(placement.spec.strategy.apply_strategy),
            f"{placement.kind}/{placement.key}",
        )
        # What was only compared stands nowhere: applied, it is a new placement.
        new = name in past.reporting and not mode.reports
        concerned = concerning(content, overrides, placement.key, opens=opens)
        yield PlacementSubject(
            key=placement.key,
            policy=placement.spec.policy,
            strategy=selected.strategy,
            inventory=inventory,
            content=content,
            namespace=placement.namespace,
            mode=mode,
            abandons=placement.spec.strategy.delete_strategy.propagation_policy == ABANDON,
            done={} if new else past.done.get(name, {}),
            standing_on=nothing_on if new else partial(past.standing_on, name),
            gates=attrs.evolve(
                options.gates, approvals=options.gates.approvals | placements.approvals
            ),
            plugins=plugins,
            untrackable=selected.untrackable,
            protected=is_protected(policy),
            origin=placement.origin.location if placement.origin else "",
            warnings=in_order(
                (
                    *selection.warnings,
                    *in_placement(policy, selected, members, objects),
                    *also_placed(placement, selection, source.policies, release),
                )
            ),
            # Both name a ClusterResourcePlacement, and a ResourcePlacement may have the same name.
            evictions=() if placement.namespace else tuple(evictions.get(placement.name, ())),
            budget=None if placement.namespace else budgets.get(placement.name),
            history=placement.spec.revision_history_limit,
            run_faults=placements.run_faults(placement),
            reports_in=placement.spec.reports_in,
            labels=policy.labels,
            overrides=concerned,
            shapes=source.custom.shapes(content),
            selected=selection.manifests,
            skipped=tuple((str(skipped.key), skipped.reason) for skipped in selection.skipped),
            release=release,
        )


def _overrides(source: Source) -> Mapping[OverrideTarget, Sequence[ResourceOverride]]:
    """Return the overrides by what they select."""
    policies = (policy for policy in source.policies if policy.kind in (CLUSTER_OVERRIDE, OVERRIDE))
    return by_target(map(ResourceOverride.from_manifest, policies))


def _evictions(source: Source) -> Mapping[str, Sequence[Eviction]]:
    """Return the evictions by the placement that they name."""
    found = defaultdict[str, list[Eviction]](list)
    for policy in source.policies:
        if policy.kind == EVICTION:
            eviction = Eviction.from_manifest(policy)
            found[eviction.placement].append(eviction)
    return found


def _budgets(source: Source) -> Mapping[str, DisruptionBudget]:
    """Return the disruption budgets by name, which is that of their placement."""
    budgets = (policy for policy in source.policies if policy.kind == BUDGET)
    return {policy.name: DisruptionBudget.from_manifest(policy) for policy in budgets}


# Objects that roll placements out, and that some releases of KubeFleet place as others.


_KINDS = ("StagedUpdateRun", "StagedUpdateStrategy")
_ALONE = ("NamespaceOnly", "NamespaceWithResourceSelectors")


def also_placed(
    placement: Placement, selection: Selection, policies: Iterable[Manifest], release: Release
) -> Iterator[Problem]:
    """Yield a warning for each selector with which a hub would place what rolls placements out,
    too.

    Args:
        placement: the placement.
        selection: what it selects.
        policies: the objects that steer a hub.
        release: the release of KubeFleet.
    """
    if placement.namespace or release.has(Rule.STAGED_NEVER_PLACED):
        return
    staged = [policy for policy in policies if policy.kind in _KINDS]
    for index, (selector, brought) in enumerate(
        zip(placement.spec.resource_selectors, selection.brought, strict=True)
    ):
        if selector.kind != "Namespace" or selector.selection_scope in _ALONE:
            continue
        spaces = {key.name for key in brought if key.kind == "Namespace"}
        found = [str(item.key) for item in staged if item.namespace in spaces]
        if found:
            manifest = Manifest(
                {"kind": placement.kind, "metadata": {"name": placement.name}}, placement.origin
            )
            what = Message(
                "kubefleet-places-well-members",
                "KubeFleet {name} places {found} as well, which members refuse; here it stays",
                name=release.name,
                found=few(found),
            )
            hint = "select single objects of the namespace, or keep it apart from what rolls it out"
            yield manifest.problem(what, ("spec", "resourceSelectors", index), hint)
