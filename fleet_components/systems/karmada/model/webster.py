"""Divides a whole number by weights with the Webster (Sainte-Laguë) method, as Karmada does.

Source: ``pkg/util/helper/webstermethod.go`` and ``binding.go`` of Karmada 1.19. Seats are assigned
one by one to the highest ``weight / (2 * seats + 1)``, in 64-bit floating point; ties go to the
name with fewer seats, then by name, in a direction that depends on the template's uid.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

_FNV_OFFSET, _FNV_PRIME, _32_BITS = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def divide(total: int, weights: Mapping[str, int], uid: str = "") -> dict[str, int]:
    """Divide ``total`` in proportion to the weights.

    Args:
        total: the number to divide, at least 0.
        weights: a weight of at least 0 for each name.
        uid: uid of the template; decides the direction of ties between names.

    Returns:
        The number for each name, ordered by name, zeros included; empty if all weights are 0.
    """
    if not any(weights.values()):
        return {}
    # In the order in which ties between names are decided, so that the place stands for the name in
    # the queue.
    names = sorted(weights, reverse=larger_names_first(uid))
    votes = [float(weights[name]) for name in names]
    seats = _certain_seats(total, votes)
    # heapq yields the smallest: the highest priority, then the fewest seats, then the first name.
    queue = [
        (-_priority(vote, seats[place]), seats[place], place) for place, vote in enumerate(votes)
    ]
    heapq.heapify(queue)
    for _ in range(total - sum(seats)):
        place = queue[0][2]
        seats[place] += 1
        heapq.heapreplace(queue, (-_priority(votes[place], seats[place]), seats[place], place))
    return dict(sorted(zip(names, seats, strict=True)))


def larger_names_first(uid: str) -> bool:
    """Return whether ties go to the larger name: if the 32-bit FNV-1a hash of the uid is odd. False
    without a uid.
    """
    if not uid:
        return False
    value = _FNV_OFFSET
    for byte in uid.encode():
        value = (value ^ byte) * _FNV_PRIME & _32_BITS
    return value % 2 == 1


def turned(uid: str) -> str:
    """Return a uid with which ties between names go the other way."""
    # The prime is odd, so that each byte counts with its lowest bit.
    # Hence "a", an odd byte, turns the parity; and of "a" and "b", one gives an odd hash.
    return f"{uid}a" if uid else next(text for text in ("a", "b") if larger_names_first(text))


def _certain_seats(total: int, votes: list[float]) -> list[int]:
    """Return the seats that can be assigned at once: those above a priority that fewer than
    ``total`` seats exceed.

    At priority p, a vote v has fewer than v / 2p + 1/2 seats before it. All votes together then
    have fewer than ``total`` for p = sum of votes / (2 * total - number of votes). This saves most
    steps of the one-by-one assignment.
    """
    spare = 2 * total - len(votes)
    if spare <= 0:
        return [0] * len(votes)
    threshold = sum(votes) / spare
    return [_seats_above(threshold, vote) for vote in votes]


def _seats_above(threshold: float, vote: float) -> int:
    # The division may be off by rounding; the loops find the exact number.
    seats = round(vote / (2 * threshold))
    while _priority(vote, seats) > threshold:
        seats += 1
    while seats and _priority(vote, seats - 1) <= threshold:
        seats -= 1
    return seats


def _priority(vote: float, seats: int) -> float:
    return vote / (2 * seats + 1)
