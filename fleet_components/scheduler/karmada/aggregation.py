"""Selection of the fewest members that can take an amount of replicas, for Aggregated division."""

from __future__ import annotations

from collections.abc import Mapping, Set

from fleet_components.scheduler.karmada import go_sort


def shortest_prefix(weights: Mapping[str, int], preferred: Set[str], amount: int) -> dict[str, int]:
    """Return the first members that together can take the amount: preferred ones first, then by weight descending.

    Members of equal weight are in the order in which Karmada's sort leaves them.
    """
    names, sizes = list(weights), list(weights.values())
    stable = sorted(range(len(names)), key=lambda place: -sizes[place])
    # A stable sort is cheaper than the port of Go's; it suffices unless the prefix ends among equal members.
    order = _in_front(preferred, [names[place] for place in stable])
    end = _reaching(amount, [weights[name] for name in order])
    if _splits_equals(order, end, weights, preferred):
        order = _in_front(preferred, [names[place] for place in go_sort.descending(sizes)])
    return {name: weights[name] for name in order[:end]}


def _in_front(preferred: Set[str], names: list[str]) -> list[str]:
    return [name for name in names if name in preferred] + [name for name in names if name not in preferred]


def _reaching(amount: int, sizes: list[int]) -> int:
    """Return how many leading sizes are needed to reach the amount; their number if it is not reached."""
    total = 0
    for count, size in enumerate(sizes, 1):
        total += size
        if total >= amount:
            return count
    return len(sizes)


def _splits_equals(order: list[str], end: int, weights: Mapping[str, int], preferred: Set[str]) -> bool:
    """Return whether the prefix ends between two equal members, so that their order decides which is included."""
    if end >= len(order):
        return False
    last, next_ = order[end - 1], order[end]
    return weights[last] == weights[next_] and (last in preferred) == (next_ in preferred)
