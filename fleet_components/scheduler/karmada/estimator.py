"""Replicas that the members can take: from recorded answers, a recorded capacity, or the general estimator."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.scheduler.karmada import general_estimator
from fleet_components.scheduler.karmada.state import CycleState

UNKNOWN = -1
MAX_INT32 = 2**31 - 1


def allocatable(state: CycleState) -> list[int]:
    """Return how many more replicas each member can take, by position.

    For a template without replicas the limit is the largest int32. A member that no estimator knows can take all
    replicas of the template.
    """
    replicas = state.template.replicas
    if not replicas:
        return [MAX_INT32] * len(state.inventory)
    return [replicas if answer in (UNKNOWN, MAX_INT32) else answer for answer in _answers(state)]


def _answers(state: CycleState) -> list[int]:
    estimates, names = state.estimates, state.inventory.names
    if estimates.available is not None:
        return [estimates.available.get(name, UNKNOWN) for name in names]
    if estimates.capacity is not None:
        return [_left(estimates.capacity, name, held) for name, held in zip(names, state.assigned, strict=True)]
    return general_estimator.estimate(state.inventory, state.template.requests)


def _left(capacity: Mapping[str, int], name: str, held: int) -> int:
    return max(0, capacity[name] - held) if name in capacity else UNKNOWN
