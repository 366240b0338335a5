"""Spread by cluster: selects the best members up to the allowed number and swaps in larger ones if replicas do not fit.

Source: Karmada 1.19, ``pkg/scheduler/core/spreadconstraint/select_clusters_by_cluster.go``.
"""

from __future__ import annotations

import heapq

from fleet_components.model.karmada import SpreadConstraint
from fleet_components.scheduler.karmada.candidates import Candidates
from fleet_components.scheduler.karmada.errors import Failure


def select_by_cluster(candidates: Candidates, by_cluster: SpreadConstraint, replicas: int | None) -> list[int]:
    """Select the best members, as many as the constraint allows.

    Args:
        candidates: the members that can be chosen.
        by_cluster: the bounds for the number of members.
        replicas: how many replicas must fit; None if capacity does not count.

    Raises:
        Failure: there are too few members, or too few of them are large enough.
    """
    if len(candidates.order) < by_cluster.min_groups:
        raise Failure("the number of feasible clusters is less than spreadConstraint.MinGroups")
    count = min(len(candidates.order), by_cluster.max_groups)
    chosen, rest = candidates.order[:count], candidates.order[count:]
    if replicas is None:
        return chosen
    missing = replicas - sum(candidates.available[position] for position in chosen)
    if missing > 0:
        missing -= _exchange(chosen, rest, candidates, missing)
    if not chosen or missing > 0:
        raise Failure(f"no enough resource when selecting {count} clusters")
    return chosen


def _exchange(chosen: list[int], rest: list[int], candidates: Candidates, missing: int) -> int:
    """Swap chosen members, the last first, for the largest of the rest; return the capacity gained."""
    available = candidates.available
    largest = [(-available[position], place, position) for place, position in enumerate(rest)]
    heapq.heapify(largest)
    won = 0
    for slot in reversed(range(len(chosen))):
        if won >= missing or not largest:
            break
        old = chosen[slot]
        size, place, new = largest[0]
        if -size > available[old]:
            # The replaced member takes the other's place in the rest, so it can be swapped in again for a later slot.
            heapq.heapreplace(largest, (-available[old], place, old))
            chosen[slot] = new
            won += -size - available[old]
    return won
