"""Conditions under which Karmada evaluates a binding, and under which it then schedules it.

Source: Karmada 1.19, ``pkg/scheduler/scheduler.go`` and ``pkg/scheduler/event_handler.go``.
"""

from __future__ import annotations

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import ClusterAffinity, ClusterAffinityTerm, Placement
from fleet_components.model.mask import Mask
from fleet_components.scheduler.karmada.affinity import matching
from fleet_components.scheduler.karmada.groups import group_index
from fleet_components.scheduler.karmada.state import CycleState
from fleet_components.scheduler.karmada.status import BindingStatus


@attrs.frozen
class Changes:
    """Changes since the last run, for callers that follow every event as a control plane does.

    Attributes:
        binding: whether the binding's spec changed: placement, replicas, rebalance, eviction, suspension.
        fleet: the fleet before the changes.
    """

    binding: bool
    fleet: Inventory


def looked_at(state: CycleState, status: BindingStatus, changes: Changes | None, *, suspended: bool) -> bool:
    """Return whether the scheduler evaluates the binding.

    Without ``changes`` it always does, unless scheduling is suspended and no retry is pending.
    """
    if status.retry:
        return True
    if suspended:
        return False
    return changes is None or changes.binding or _concerned(state, status, changes.fleet)


def trigger(state: CycleState) -> str:
    """Return why an evaluated binding is scheduled; empty if it stays as it is."""
    if placement_changed(state.placement, state.memory.placement, state.memory.observed_group):
        return "the placement changed"
    if _replicas_changed(state):
        return "the replicas changed"
    if state.fresh:
        return "a rebalance was asked for"
    if not (state.template.workload and state.placement.divided):
        return "it is not divided, so every look counts"
    if _loses_target(state):
        return "a member that has it leaves the fleet"
    return ""


def placement_changed(placement: Placement, applied: Placement | None, observed_group: str) -> bool:
    """Return whether the placement differs from the applied one; of the affinity groups only the active one counts."""
    if applied is None:
        return True
    if placement == applied:
        return False
    same_groups = attrs.evolve(placement, cluster_affinities=applied.cluster_affinities)
    if same_groups != applied or not observed_group:
        return True
    new, old = _group(placement, observed_group), _group(applied, observed_group)
    return new is None or new != old


def _group(placement: Placement, name: str) -> ClusterAffinityTerm | None:
    return next((term for term in placement.cluster_affinities if term.affinity_name == name), None)


def _replicas_changed(state: CycleState) -> bool:
    held, wanted = state.memory.clusters.values(), state.template.replicas
    if state.placement.replica_scheduling is None:
        return False
    return sum(held) != wanted if state.placement.divided else any(replicas != wanted for replicas in held)


def _loses_target(state: CycleState) -> bool:
    positions = map(state.inventory.position, state.memory.clusters)
    return bool(state.targets & state.inventory.leaving) or None in positions


def _concerned(state: CycleState, status: BindingStatus, before: Inventory) -> bool:
    """Return whether a changed member concerns the binding: it matches the affinity before or after the change.

    With affinity groups, every change concerns a binding whose current generation was never scheduled successfully.
    """
    old, new = _changed(before, state.inventory)
    affinity = _watched(state)
    if affinity is None or (state.placement.cluster_affinities and not status.observed):
        return bool(old or new)
    return bool(old & matching(before, affinity) or new & matching(state.inventory, affinity))


def _watched(state: CycleState) -> ClusterAffinity | None:
    """Return the affinity of the placement or of the active group; overflow affinities do not count."""
    terms = state.placement.cluster_affinities
    return terms[group_index(terms, state.memory.observed_group)] if terms else state.placement.cluster_affinity


def _changed(before: Inventory, after: Inventory) -> tuple[Mask, Mask]:
    """Return the members with a relevant change, before and after it. Changes of a member's status do not count."""
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
    spec = (cluster.provider, cluster.region, cluster.zones, cluster.taints, cluster.resource_models)
    return (dict(cluster.labels), cluster.leaving, *spec)
