"""One run of the Karmada scheduler for one template.

Source: Karmada 1.19, ``pkg/scheduler/scheduler.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from fleet_components.model.decision import Condition
from fleet_components.model.inventory import Inventory
from fleet_components.scheduler.framework import Plugin, Profile
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import ClusterAffinityTerm, Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler.candidates import CycleFailure, NoClusterFit
from fleet_components.systems.karmada.scheduler.groups import GroupsResult, place_in_groups
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.rest import looked_at, rests
from fleet_components.systems.karmada.scheduler.state import KarmadaState
from fleet_components.systems.karmada.scheduler.status import (
    SUCCESS,
    BindingStatus,
    TemplateDecision,
)

_MAX_PASSES = 10
"""Evaluation limit: a change of the targets leads to another evaluation; two evaluations always
sufficed.
"""


def schedule(
    inventory: Inventory,
    template: Template,
    placement: Placement,
    memory: TemplateMemory = TemplateMemory(),
    *,
    estimates: Estimates = Estimates(),
    rebalances: Collection[str] = (),
    suspended: bool = False,
    empty_workloads: bool = False,
    plugins: Iterable[Plugin] = (),
    binding: Mapping[str, Any] | None = MappingProxyType({}),
) -> TemplateDecision:
    """Decide which members get a template and with how many replicas, exactly as Karmada does.

    Args:
        inventory: the fleet.
        template: the template.
        placement: the placement of the policy that has claimed it, after defaulting.
        memory: the past decision; for a new template it holds only the ``uid``.
        estimates: how many replicas the members can take; by default computed from their resource
            summaries.
        rebalances: the names of the rebalances that ask for a division from scratch.
        suspended: whether scheduling is suspended.
        empty_workloads: whether selected members get the object even with 0 replicas.
        plugins: plug-ins after those of Karmada. With any, the decision is no longer Karmada's.
        binding: what else the spec of the binding holds, whose changes make an observed scheduler
            look again; None for a binding without a policy: once it was looked at, only changes of
            members make the scheduler look again.

    Returns:
        The decision. The ``Scheduled`` condition of its status reports a failure.
    """
    profile = PROFILE.extended(plugins)
    state = KarmadaState(
        inventory=inventory,
        template=template,
        placement=placement,
        memory=memory,
        estimates=estimates,
        rebalances=frozenset(rebalances),
        empty_workloads=empty_workloads,
    )
    if suspended:
        return TemplateDecision(memory, BindingStatus(), memory)
    if memory.looked and rests(state, binding):
        return TemplateDecision(memory, _at_rest(profile, state), memory)
    settled = _settle(profile, state)
    after = settled.memory
    # What comes of this look is a change of the binding, which does not lead to another one.
    if binding is None:
        after = attrs.evolve(after, looked=looked_at(attrs.evolve(state, memory=after), None))
    return attrs.evolve(settled, memory=after, before=memory)


def _settle(profile: Profile, state: KarmadaState) -> TemplateDecision:
    """Evaluate the binding until its targets no longer change."""
    status = BindingStatus(evaluated=True)
    for _ in range(_MAX_PASSES):
        why = trigger(state)
        if not why:
            quiet = attrs.evolve(
                status, observed=True, retry=False, condition=status.condition or SUCCESS
            )
            return TemplateDecision(state.memory, quiet)
        outcome = place_in_groups(profile, state)
        memory = _remembered(state, outcome)
        # With the order: targets in another order are a changed spec too, and a changed spec is
        # evaluated again.
        moved = list(memory.clusters.items()) != list(state.memory.clusters.items())
        # The first reason stays: later passes only follow from it.
        status = _shown(attrs.evolve(status, trigger=status.trigger or why), outcome, moved=moved)
        state = attrs.evolve(state, memory=memory)
        if not moved:
            break
    return TemplateDecision(state.memory, status)


def _at_rest(profile: Profile, state: KarmadaState) -> BindingStatus:
    """Return the status of a binding that is not looked at again: a failure is still there."""
    failed = state.memory.retries or not state.memory.clusters
    failure = place_in_groups(profile, state).failure if failed else None
    condition, retry = _condition(failure) if failure else SUCCESS, state.memory.retries
    return BindingStatus(condition=condition, retry=retry, observed=failure is None, resting=True)


def _remembered(state: KarmadaState, outcome: GroupsResult) -> TemplateMemory:
    if isinstance(outcome.failure, NoClusterFit):
        return attrs.evolve(state.memory, clusters={}, placement=state.placement)
    if outcome.assignment is None:
        # Nothing is kept of a run that failed, so the next evaluation finds the same reason to
        # schedule: the retry.
        return state.memory
    return attrs.evolve(
        state.memory,
        clusters=outcome.assignment.clusters,
        placement=state.placement,
        # Karmada leaves the name of the group when a policy goes over to a single affinity.
        observed_group=outcome.group or state.memory.observed_group,
        scheduled=True,
        rebalances=tuple(sorted(state.rebalances)),
    )


def _shown(status: BindingStatus, outcome: GroupsResult, *, moved: bool) -> BindingStatus:
    failure, divisions = outcome.failure, outcome.assignment.divisions if outcome.assignment else ()
    return attrs.evolve(
        status,
        condition=_condition(failure) if failure else SUCCESS,
        attempts=status.attempts + outcome.attempts,
        divisions=divisions or status.divisions,
        retry=failure is not None and not isinstance(failure, NoClusterFit),
        observed=failure is None or (status.observed and not moved),
    )


def _condition(failure: CycleFailure) -> Condition:
    return Condition("Scheduled", "False", failure.reason, str(failure))


def trigger(state: KarmadaState) -> str:
    """Return why an evaluated binding is scheduled; empty if it stays as it is."""
    # In the order of ``doScheduleBinding``: the first reason is the one that is reported.
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
    """Return whether the placement differs from the applied one; of the affinity groups only the
    active one counts.
    """
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


def _replicas_changed(state: KarmadaState) -> bool:
    held, wanted = state.memory.clusters.values(), state.template.replicas
    # Duplicated by default, but ``IsBindingReplicasChanged`` skips it; it is scheduled anyway, for
    # being duplicated.
    if state.placement.replica_scheduling is None:
        return False
    return (
        sum(held) != wanted
        if state.placement.divided
        else any(replicas != wanted for replicas in held)
    )


def _loses_target(state: KarmadaState) -> bool:
    positions = map(state.inventory.position, state.memory.clusters)
    # A member that is gone altogether counts as well: Karmada keeps its object until no binding
    # names it.
    return bool(state.targets & state.inventory.leaving) or None in positions
