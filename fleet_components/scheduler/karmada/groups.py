"""Ordered affinity groups: the first group, from the one in use on, in which the template can be placed."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from fleet_components.model.karmada import ClusterAffinityTerm
from fleet_components.scheduler.karmada.algorithm import place
from fleet_components.scheduler.karmada.assignment import Assignment
from fleet_components.scheduler.karmada.errors import Failure, NoClusterFit
from fleet_components.scheduler.karmada.state import CycleState
from fleet_components.scheduler.karmada.status import Attempt


@attrs.frozen
class Outcome:
    """How scheduling ended.

    Attributes:
        attempts: what was tried, in order.
        assignment: the result; None when it failed.
        group: the affinity group that was taken; empty where there are none.
        failure: the failure that decides what becomes of it; None when there is none.
    """

    attempts: tuple[Attempt, ...]
    assignment: Assignment | None = None
    group: str = ""
    failure: Failure | None = None


def place_in_groups(state: CycleState) -> Outcome:
    """Place a template, trying its affinity groups in order if it has any. When all fail, the first failure counts."""
    terms = state.placement.cluster_affinities
    if not terms:
        return _alone(state)
    attempts: list[Attempt] = []
    failures: list[Failure] = []
    for index in range(0 if state.fresh else group_index(terms, state.memory.observed_group), len(terms)):
        try:
            assignment = place(attrs.evolve(state, group=terms[index]))
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
    """The place of the group in use; the first where there is none of that name."""
    return next((index for index, term in enumerate(terms) if term.affinity_name == observed), 0)


def _alone(state: CycleState) -> Outcome:
    try:
        assignment = place(state)
    except Failure as failure:
        return Outcome((Attempt(error=str(failure)),), failure=failure)
    return Outcome((_success(state, assignment),), assignment)


def _success(state: CycleState, assignment: Assignment) -> Attempt:
    return Attempt(assignment.clusters, cluster_scoped=not state.template.namespace)
