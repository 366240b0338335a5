"""A control plane follows events: it evaluates a binding when something that concerns it has changed.

An update of a stack evaluates every template instead, so nothing of this is in the package.

Source: Karmada 1.19, ``pkg/scheduler/scheduler.go`` and ``pkg/scheduler/event_handler.go``.
"""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.systems.karmada.model.policy import ClusterAffinity, Placement
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.scheduler import schedule
from fleet_components.systems.karmada.scheduler.groups import group_index
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching
from fleet_components.systems.karmada.scheduler.status import BindingStatus, TemplateDecision


@attrs.frozen
class Changes:
    """Changes since the last run.

    Attributes:
        binding: whether the binding's spec changed: placement, replicas, rebalance, eviction, suspension.
        fleet: the fleet before the changes.
    """

    binding: bool
    fleet: Inventory


def next_run(
    inventory: Inventory,
    template: Template,
    placement: Placement,
    before: TemplateDecision,
    changes: Changes,
    *,
    suspended: bool = False,
    **options: Any,
) -> TemplateDecision:
    """Schedule if the binding is evaluated; the status is the one that the control plane has afterwards."""
    observed = before.status.observed and not changes.binding
    standing = BindingStatus(
        condition=before.status.condition, retry=before.status.retry, observed=observed
    )
    state = KarmadaState(inventory, template, placement, before.memory)
    if not _evaluated(state, standing, changes, suspended=suspended):
        return TemplateDecision(before.memory, standing, before.memory)
    found = schedule(inventory, template, placement, before.memory, **options)
    status = attrs.evolve(found.status, evaluated=True)
    if not status.trigger:  # nothing is scheduled, so nothing writes a condition
        status = attrs.evolve(status, condition=standing.condition or status.condition)
    elif list(found.memory.clusters.items()) == list(before.memory.clusters.items()):
        status = attrs.evolve(status, observed=status.observed or observed)
    return attrs.evolve(found, status=status)


def _evaluated(
    state: KarmadaState, status: BindingStatus, changes: Changes, *, suspended: bool
) -> bool:
    if status.retry:
        return True
    return not suspended and (changes.binding or _concerned(state, status, changes.fleet))


def _concerned(state: KarmadaState, status: BindingStatus, before: Inventory) -> bool:
    """Whether a changed member concerns the binding: it matches the affinity before or after the change.

    With affinity groups, every change concerns a binding whose current generation was never scheduled successfully.
    """
    old, new = _changed(before, state.inventory)
    affinity = _watched(state)
    if affinity is None or (state.placement.cluster_affinities and not status.observed):
        return bool(old or new)
    return bool(old & matching(before, affinity) or new & matching(state.inventory, affinity))


def _watched(state: KarmadaState) -> ClusterAffinity | None:
    """The affinity of the placement or of the active group; overflow affinities do not count."""
    terms = state.placement.cluster_affinities
    return (
        terms[group_index(terms, state.memory.observed_group)]
        if terms
        else state.placement.cluster_affinity
    )


def _changed(before: Inventory, after: Inventory) -> tuple[Mask, Mask]:
    """The members with a relevant change, before and after it. Changes of a member's status do not count."""
    old, new = [], []
    for cluster in after.clusters:
        position = before.position(cluster.name)
        former = before.clusters[position] if position is not None else None
        if former is None or _watched_fields(former) != _watched_fields(cluster):
            new.append(cluster.name)
            # Karmada treats the start of a deletion as one event that carries only the new object.
            if former is not None and former.leaving == cluster.leaving:
                old.append(cluster.name)
    return before.mask_of_names(old), after.mask_of_names(new)


def _watched_fields(cluster: Cluster) -> tuple[object, ...]:
    spec = (
        cluster.provider,
        cluster.region,
        cluster.zones,
        cluster.taints,
        cluster.resource_models,
    )
    return (dict(cluster.labels), cluster.leaving, *spec)
