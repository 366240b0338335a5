"""One run of the algorithm on the whole fleet: filter, rank, select, assign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fleet_components.model import mask as masks
from fleet_components.scheduler.cycle import Filtered, run_filters
from fleet_components.scheduler.framework import Profile, SchedulingError
from fleet_components.scheduler.karmada.assignment import Assignment
from fleet_components.scheduler.karmada.candidates import rank
from fleet_components.scheduler.karmada.division import assign
from fleet_components.scheduler.karmada.errors import Failure, NoClusterFit
from fleet_components.scheduler.karmada.spread import select
from fleet_components.scheduler.karmada.state import CycleState


def place(profile: Profile, state: CycleState) -> Assignment:
    """Select members for the template and divide its replicas among them.

    Raises:
        NoClusterFit: no member passes the filters.
        Unschedulable: the members cannot take the replicas.
        Failure: the spread constraints cannot be met.
    """
    with _while("find fit clusters"):
        # Members that are leaving the fleet are not candidates and get no reason.
        filtered = run_filters(profile, state, state.inventory.everything & ~state.inventory.leaving)
    if not filtered.passed:
        raise NoClusterFit(_no_fit(state, filtered))
    with _while("prioritize clusters"):
        candidates = rank(profile, state, filtered.passed)
    with _while("select clusters"):
        chosen = select(state, candidates)
    with _while("assign replicas"):
        assignment = assign(state, candidates, chosen)
    names = state.inventory.names
    return assignment.reaching(names[position] for position in chosen) if state.empty_workloads else assignment


@contextmanager
def _while(doing: str) -> Iterator[None]:
    try:
        yield
    except SchedulingError as failure:
        kind = type(failure) if isinstance(failure, Failure) else Failure
        raise kind(f"failed to {doing}: {failure}") from None


def _no_fit(state: CycleState, filtered: Filtered) -> str:
    """Return Karmada's message with the number of members and how many each reason rules out."""
    reasons: Counter[str] = Counter()
    for plugin, stopped in filtered.stopped:
        reasons.update(plugin.reason(state, position) for position in masks.positions(stopped))
    counted = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{len(state.inventory)} clusters are available: {counted or 'no cluster exists'}."
