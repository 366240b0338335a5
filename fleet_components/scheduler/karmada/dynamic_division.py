"""Division of replicas by the capacity of the members: over all of them, or over as few as possible (Aggregated).

Source of the rules: Karmada 1.19, ``pkg/scheduler/core/division_algorithm.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.scheduler.karmada.aggregation import shortest_prefix
from fleet_components.scheduler.karmada.assignment import Assignment, divided, without_zeros
from fleet_components.scheduler.karmada.candidates import Candidates
from fleet_components.scheduler.karmada.errors import Unschedulable
from fleet_components.scheduler.karmada.state import CycleState


@attrs.frozen
class _Step:
    """Amount to divide and its weights, besides the replicas that members keep."""

    doing: str
    amount: int
    weights: Mapping[str, int]
    basis: str
    kept: Mapping[str, int] = attrs.field(factory=dict)


def divide_dynamically(
    state: CycleState, candidates: Candidates, chosen: list[int], replicas: int, *, aggregated: bool
) -> Assignment:
    """Divide the replicas with as few changes as possible; from scratch if a rebalance asks for it.

    Raises:
        Unschedulable: the members cannot take the replicas.
    """
    previous = _previous(state, chosen)
    if not state.fresh and sum(previous.values()) == replicas:
        return Assignment(without_zeros(previous))
    step = _step(state, candidates, chosen, replicas, previous)
    total = _int32(sum(step.weights.values()))
    if total < step.amount:
        message = f"Clusters available replicas {total} are not enough to schedule."
        raise Unschedulable(f"failed to {step.doing}: {message}")
    weights = step.weights
    if aggregated:
        weights = shortest_prefix(weights, {name for name, held in step.kept.items() if held}, step.amount)
    return divided(step.amount, weights, step.basis, state.memory.uid, step.kept)


def _previous(state: CycleState, chosen: list[int]) -> dict[str, int]:
    """Return the replicas of the targets that were selected again; replicas of the other targets are placed anew."""
    selected = {state.inventory.names[position] for position in chosen}
    return {name: replicas for name, replicas in state.memory.clusters.items() if name in selected}


def _step(
    state: CycleState, candidates: Candidates, chosen: list[int], replicas: int, previous: Mapping[str, int]
) -> _Step:
    names, held = state.inventory.names, sum(previous.values())
    if state.fresh:
        weights = {names[position]: candidates.available[position] for position in chosen}
        return _Step("do fresh scale", replicas, weights, "available and own replicas")
    if held > replicas:
        return _Step("scale down", replicas, previous, "previous replicas")
    weights = {names[position]: candidates.allocatable[position] for position in chosen}
    return _Step("scale up", replicas - held, weights, "available replicas", previous)


def _int32(total: int) -> int:
    """Wrap a sum like Go's int32: Karmada overflows when it adds up members without a limit."""
    return (total + 2**31) % 2**32 - 2**31
