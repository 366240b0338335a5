"""Ordered affinity groups: the template goes to the first group that fits, starting at the active one.

Source of the rules: Karmada 1.19, ``pkg/scheduler/scheduler.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from fleet_components.model.karmada import ClusterAffinityTerm
from fleet_components.scheduler.framework import Profile
from fleet_components.scheduler.karmada.algorithm import place
from fleet_components.scheduler.karmada.assignment import Assignment
from fleet_components.scheduler.karmada.errors import Failure, NoClusterFit
from fleet_components.scheduler.karmada.state import CycleState
from fleet_components.scheduler.karmada.status import Attempt


@attrs.frozen
class Outcome:
    """Result of scheduling one template.

    Attributes:
        attempts: the attempts, in order.
        assignment: the result; None if scheduling failed.
        group: the affinity group that was used; empty if the placement has no groups.
        failure: the failure that determines condition, targets and retry; None on success.
    """

    attempts: tuple[Attempt, ...]
    assignment: Assignment | None = None
    group: str = ""
    failure: Failure | None = None


def place_in_groups(profile: Profile, state: CycleState) -> Outcome:
    """Place a template, trying its affinity groups in order if it has any.

    If all groups fail, the failure of the first attempt determines the outcome.
    """
    terms = state.placement.cluster_affinities
    if not terms:
        return _alone(profile, state)
    attempts: list[Attempt] = []
    failures: list[Failure] = []
    for index in range(0 if state.fresh else group_index(terms, state.memory.observed_group), len(terms)):
        try:
            assignment = place(profile, attrs.evolve(state, group=terms[index]))
        except Failure as failure:
            failures.append(failure)
            said = f"failed to schedule {state.template.binding} with clusterAffiliates index({index}): {failure}"
            attempts.append(Attempt(error=said))
        else:
            return Outcome((*attempts, _success(state, assignment)), assignment, terms[index].affinity_name)
    if isinstance(failures[0], NoClusterFit):
        attempts.append(Attempt(error=str(failures[0])))
    return Outcome(tuple(attempts), failure=failures[0])


def group_index(terms: Sequence[ClusterAffinityTerm], observed: str) -> int:
    """Return the index of the active affinity group; 0 if no group has that name."""
    return next((index for index, term in enumerate(terms) if term.affinity_name == observed), 0)


def _alone(profile: Profile, state: CycleState) -> Outcome:
    try:
        assignment = place(profile, state)
    except Failure as failure:
        return Outcome((Attempt(error=str(failure)),), failure=failure)
    return Outcome((_success(state, assignment),), assignment)


def _success(state: CycleState, assignment: Assignment) -> Attempt:
    return Attempt(assignment.clusters, cluster_scoped=not state.template.namespace)
