"""One run of the algorithm on the whole fleet: filter, rank, select, assign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fleet_components.model import mask as masks
from fleet_components.scheduler.cycle import Filtered
from fleet_components.scheduler.karmada.assignment import Assignment
from fleet_components.scheduler.karmada.candidates import rank
from fleet_components.scheduler.karmada.division import assign
from fleet_components.scheduler.karmada.errors import Failure, NoClusterFit
from fleet_components.scheduler.karmada.profile import filter_members
from fleet_components.scheduler.karmada.spread import select
from fleet_components.scheduler.karmada.state import CycleState


def place(state: CycleState) -> Assignment:
    """Select members for the template and divide its replicas among them.

    Raises:
        NoClusterFit: no member passes the filters.
        Unschedulable: the members cannot take the replicas.
        Failure: the spread constraints cannot be met.
    """
    filtered = filter_members(state)
    if not filtered.passed:
        raise NoClusterFit(_no_fit(state, filtered))
    candidates = rank(state, filtered.passed)
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
    except Failure as failure:
        raise type(failure)(f"failed to {doing}: {failure}") from None


def _no_fit(state: CycleState, filtered: Filtered[CycleState]) -> str:
    """Return Karmada's message with the number of members and how many each reason rules out."""
    reasons: Counter[str] = Counter()
    for plugin, stopped in filtered.stopped:
        reasons.update(plugin.reason(state, position) for position in masks.positions(stopped))
    counted = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{len(state.inventory)} clusters are available: {counted or 'no cluster exists'}."
