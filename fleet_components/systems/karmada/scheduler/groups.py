"""Ordered affinity groups: the template goes to the first group that fits, starting at the active
one.

Source of the rules: Karmada 1.19, ``pkg/scheduler/scheduler.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import attrs

from fleet_components.model import mask as masks
from fleet_components.scheduler.cycle import Filtered, reason_of, run_filters
from fleet_components.scheduler.framework import Profile, SchedulingError
from fleet_components.systems.karmada.model.policy import ClusterAffinityTerm
from fleet_components.systems.karmada.scheduler.candidates import CycleFailure, NoClusterFit, rank
from fleet_components.systems.karmada.scheduler.division import Assignment, assign
from fleet_components.systems.karmada.scheduler.spread import select
from fleet_components.systems.karmada.scheduler.state import KarmadaState
from fleet_components.systems.karmada.scheduler.status import Attempt


def place(profile: Profile, state: KarmadaState) -> Assignment:
    """Select members for the template and divide its replicas among them.

    Raises:
        NoClusterFit: no member passes the filters.
        Unschedulable: the members cannot take the replicas.
        Failure: the spread constraints cannot be met.
    """
    with _while("find fit clusters"):
        # Members that are leaving the fleet are not candidates and get no reason.
        filtered = run_filters(
            profile, state, state.inventory.everything & ~state.inventory.leaving
        )
    if not filtered.passed:
        raise NoClusterFit(_no_fit(state, filtered))
    with _while("prioritize clusters"):
        candidates = rank(profile, state, filtered.passed)
    with _while("select clusters"):
        chosen = select(state, candidates)
    with _while("assign replicas"):
        assignment = assign(state, candidates, chosen)
    names = state.inventory.names
    return (
        assignment.reaching(names[position] for position in chosen)
        if state.empty_workloads
        else assignment
    )


@contextmanager
def _while(doing: str) -> Iterator[None]:
    try:
        yield
    except SchedulingError as failure:
        # The class decides about targets and retries, so it stays.
        kind = type(failure) if isinstance(failure, CycleFailure) else CycleFailure
        raise kind(f"failed to {doing}: {failure}") from None


def _no_fit(state: KarmadaState, filtered: Filtered) -> str:
    """Return Karmada's message with the number of members and how many each reason rules out."""
    reasons: Counter[str] = Counter()
    for plugin, stopped in filtered.stopped:
        reasons.update(reason_of(plugin, state, position) for position in masks.positions(stopped))
    # Sorted as texts, with the number in front, which is Karmada's message.
    counted = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{len(state.inventory)} clusters are available: {counted or 'no cluster exists'}."


@attrs.frozen
class GroupsResult:
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
    failure: CycleFailure | None = None


def place_in_groups(profile: Profile, state: KarmadaState) -> GroupsResult:
    """Place a template, trying its affinity groups in order if it has any.

    If all groups fail, the failure of the first attempt determines the outcome.
    """
    terms = state.placement.cluster_affinities
    if not terms:
        return _alone(profile, state)
    attempts: list[Attempt] = []
    failures: list[CycleFailure] = []
    # Never back to an earlier group that fits again, except by a rebalance: Karmada starts at the
    # observed one.
    for index in range(
        0 if state.fresh else group_index(terms, state.memory.observed_group), len(terms)
    ):
        try:
            assignment = place(profile, attrs.evolve(state, group=terms[index]))
        except CycleFailure as failure:
            failures.append(failure)
            message = (
                f"failed to schedule {state.template.binding} with clusterAffiliates"
                f" index({index}): {failure}"
            )
            attempts.append(Attempt(error=message))
        else:
            return GroupsResult(
                (*attempts, _success(state, assignment)), assignment, terms[index].affinity_name
            )
    # Only for this failure does Karmada write a result and record the first error once more; others
    # return before (``scheduleResourceBindingWithClusterAffinities`` in pkg/scheduler/scheduler.go,
    # 1.19).
    if isinstance(failures[0], NoClusterFit):
        attempts.append(Attempt(error=str(failures[0])))
    return GroupsResult(tuple(attempts), failure=failures[0])


def group_index(terms: Sequence[ClusterAffinityTerm], observed: str) -> int:
    """Return the index of the active affinity group; 0 if no group has that name."""
    return next((index for index, term in enumerate(terms) if term.affinity_name == observed), 0)


def _alone(profile: Profile, state: KarmadaState) -> GroupsResult:
    try:
        assignment = place(profile, state)
    except CycleFailure as failure:
        return GroupsResult((Attempt(error=str(failure)),), failure=failure)
    return GroupsResult((_success(state, assignment),), assignment)


def _success(state: KarmadaState, assignment: Assignment) -> Attempt:
    return Attempt(assignment.clusters, cluster_scoped=not state.template.namespace)
