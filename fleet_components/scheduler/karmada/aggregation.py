"""The fewest members that can take an amount."""

from __future__ import annotations

from collections.abc import Mapping, Set

from fleet_components.scheduler.karmada import go_sort


def shortest_prefix(weights: Mapping[str, int], preferred: Set[str], amount: int) -> dict[str, int]:
    """The first members that can take the amount together: preferred ones first, then the larger ones.

    Equal ones are in the order in which Karmada's sort leaves them.
    """
    names, sizes = list(weights), list(weights.values())
    stable = sorted(range(len(names)), key=lambda place: -sizes[place])
    order = _in_front(preferred, [names[place] for place in stable])
    end = _reaching(amount, [weights[name] for name in order])
    if _splits_equals(order, end, weights, preferred):
        order = _in_front(preferred, [names[place] for place in go_sort.descending(sizes)])
    return {name: weights[name] for name in order[:end]}


def _in_front(preferred: Set[str], names: list[str]) -> list[str]:
    return [name for name in names if name in preferred] + [name for name in names if name not in preferred]


def _reaching(amount: int, sizes: list[int]) -> int:
    """How many are needed to reach the amount; all of them where it is not reached."""
    total = 0
    for count, size in enumerate(sizes, 1):
        total += size
        if total >= amount:
            return count
    return len(sizes)


def _splits_equals(order: list[str], end: int, weights: Mapping[str, int], preferred: Set[str]) -> bool:
    """Whether the order of equals decides on who is in."""
    if end >= len(order):
        return False
    last, next_ = order[end - 1], order[end]
    return weights[last] == weights[next_] and (last in preferred) == (next_ in preferred)
