"""Sets of members as the bits of one integer: bit i stands for the i-th member of the inventory.

A set operation on 10,000 members takes about a microsecond, independent of the selector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress, count

Mask = int
"""A set of members. ``a & b``, ``a | b`` and ``a & ~b`` are intersection, union and difference."""

# Translation tables between flags (bytes 0 and 1) and ASCII digits, so that int() and format() do
# the conversion.
_TO_DIGITS = bytes([48, 49]) + bytes(254)
_TO_FLAGS = bytes(49) + b"\x01" + bytes(206)


def full(size: int) -> Mask:
    """Return the set of all ``size`` members."""
    return (1 << size) - 1


def from_positions(positions: Iterable[int], size: int) -> Mask:
    """Return the set of the members at these positions."""
    flags = bytearray(size)
    for position in positions:
        flags[position] = 1
    return from_flags(flags)


def from_flags(flags: bytes | bytearray) -> Mask:
    """Return the set of the members whose byte is 1."""
    # Reversed, since the lowest bit of a number is written last. Python's limit on the digits of
    # a text does not apply to base 2.
    return int(flags[::-1].translate(_TO_DIGITS), 2) if flags else 0


def by_value(values: Mapping[int, int], size: int) -> dict[int, Mask]:
    """Return the positions of a map by their value, as sets of members."""
    found: dict[int, list[int]] = {}
    for position, value in values.items():
        found.setdefault(value, []).append(position)
    return {value: from_positions(where, size) for value, where in found.items()}


def to_flags(mask: Mask, size: int = 0) -> bytes:
    """Return one byte per member, 1 for those in the set: at least ``size`` bytes, more if the set
    reaches further.
    """
    return f"{mask:0{size}b}".encode()[::-1].translate(_TO_FLAGS)


def positions(mask: Mask) -> list[int]:
    """Return the positions in a set, ascending."""
    if not mask:
        return []
    # From the lowest bit on, so that a single member far back does not cost a text as long as the
    # fleet.
    first = (mask & -mask).bit_length() - 1
    return list(compress(count(first), to_flags(mask >> first)))


def has(mask: Mask, position: int) -> bool:
    """Return whether the member at this position is in the set."""
    return bool(mask >> position & 1)
