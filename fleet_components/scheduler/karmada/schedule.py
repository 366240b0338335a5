"""One run of the Karmada scheduler for one template."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from fleet_components.model.decision import Condition
from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import Placement
from fleet_components.model.memory import TemplateMemory
from fleet_components.model.template import Estimates, Template
from fleet_components.scheduler.framework import Plugin, Profile
from fleet_components.scheduler.karmada.errors import Failure, NoClusterFit
from fleet_components.scheduler.karmada.groups import Outcome, place_in_groups
from fleet_components.scheduler.karmada.profile import PROFILE
from fleet_components.scheduler.karmada.state import CycleState
from fleet_components.scheduler.karmada.status import SUCCESS, BindingStatus, TemplateDecision
from fleet_components.scheduler.karmada.triggers import Changes, looked_at, trigger

_MAX_PASSES = 10
"""Evaluation limit: a change of the targets leads to another evaluation; two evaluations always sufficed."""


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
    status: BindingStatus = BindingStatus(),
    changes: Changes | None = None,
    plugins: Iterable[Plugin] = (),
) -> TemplateDecision:
    """Decide which members get a template and with how many replicas, exactly as Karmada does.

    Args:
        inventory: the fleet.
        template: the template.
        placement: the placement of the policy that has claimed it, after defaulting.
        memory: the past decision; for a new template it holds only the ``uid``.
        estimates: how many replicas the members can take; by default computed from their resource summaries.
        rebalances: the names of the rebalances that ask for a division from scratch.
        suspended: whether scheduling is suspended.
        empty_workloads: whether selected members get the object even with 0 replicas.
        status: the current status of the binding.
        changes: what has changed since the last run; None, the default, means that the binding is always evaluated.
        plugins: plug-ins after those of Karmada. With any, the decision is no longer Karmada's.

    Returns:
        The decision. The ``Scheduled`` condition of its status reports a failure.
    """
    profile = PROFILE.extended(plugins)
    state = CycleState(
        inventory=inventory,
        template=template,
        placement=placement,
        memory=memory,
        estimates=estimates,
        rebalances=frozenset(rebalances),
        empty_workloads=empty_workloads,
    )
    observed = status.observed and not (changes and changes.binding)
    standing = BindingStatus(condition=status.condition, retry=status.retry, observed=observed)
    if not looked_at(state, standing, changes, suspended=suspended):
        return TemplateDecision(memory, standing, memory)
    # While scheduling is suspended, a change of the targets does not lead to another evaluation.
    settled = _settle(profile, state, attrs.evolve(standing, evaluated=True), passes=1 if suspended else _MAX_PASSES)
    return attrs.evolve(settled, before=memory)


def _settle(profile: Profile, state: CycleState, status: BindingStatus, passes: int) -> TemplateDecision:
    """Evaluate the binding until its targets no longer change."""
    for _ in range(passes):
        why = trigger(state)
        if not why:
            quiet = attrs.evolve(status, observed=True, retry=False, condition=status.condition or SUCCESS)
            return TemplateDecision(state.memory, quiet)
        outcome = place_in_groups(profile, state)
        memory = _remembered(state, outcome)
        moved = list(memory.clusters.items()) != list(state.memory.clusters.items())
        status = _shown(attrs.evolve(status, trigger=status.trigger or why), outcome, moved=moved)
        state = attrs.evolve(state, memory=memory)
        if not moved:
            break
    return TemplateDecision(state.memory, status)


def _remembered(state: CycleState, outcome: Outcome) -> TemplateMemory:
    if isinstance(outcome.failure, NoClusterFit):
        return attrs.evolve(state.memory, clusters={}, placement=state.placement)
    if outcome.assignment is None:
        return state.memory
    return attrs.evolve(
        state.memory,
        clusters=outcome.assignment.clusters,
        placement=state.placement,
        observed_group=outcome.group or state.memory.observed_group,
        scheduled=True,
        rebalances=tuple(sorted(state.rebalances)),
    )


def _shown(status: BindingStatus, outcome: Outcome, *, moved: bool) -> BindingStatus:
    failure, divisions = outcome.failure, outcome.assignment.divisions if outcome.assignment else ()
    return attrs.evolve(
        status,
        condition=_condition(failure) if failure else SUCCESS,
        attempts=status.attempts + outcome.attempts,
        divisions=divisions or status.divisions,
        retry=failure is not None and not isinstance(failure, NoClusterFit),
        observed=failure is None or (status.observed and not moved),
    )


def _condition(failure: Failure) -> Condition:
    return Condition("Scheduled", "False", failure.reason, str(failure))
