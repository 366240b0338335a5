"""Masks against sets of positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.model import mask as masks

SIZE = 70
members = st.sets(st.integers(0, SIZE - 1))


def mask_of(positions: set[int]) -> masks.Mask:
    return sum(1 << position for position in positions)


@given(members)
def test_a_mask_holds_what_it_was_made_of(positions: set[int]) -> None:
    mask = masks.from_positions(positions, SIZE)
    assert mask == mask_of(positions)
    assert masks.positions(mask) == sorted(positions)
    assert {position for position in range(SIZE) if masks.has(mask, position)} == positions
    flags = bytes(position in positions for position in range(SIZE))
    assert masks.from_flags(flags) == mask
    assert masks.to_flags(mask, SIZE) == flags


@given(members, members)
def test_operations_are_those_of_sets(left: set[int], right: set[int]) -> None:
    a, b = mask_of(left), mask_of(right)
    assert masks.positions(a & b) == sorted(left & right)
    assert masks.positions(a | b) == sorted(left | right)
    assert masks.positions(a & ~b) == sorted(left - right)
    assert masks.positions(masks.full(SIZE) & ~a) == sorted(set(range(SIZE)) - left)


@pytest.mark.parametrize(("size", "mask"), [(0, 0), (1, 1), (3, 0b111)])
def test_full(size: int, mask: int) -> None:
    assert masks.full(size) == mask


def test_nobody() -> None:
    assert masks.from_positions([], 0) == masks.from_flags(b"") == 0
    assert masks.positions(0) == []
    assert masks.to_flags(0, 3) == b"\0\0\0"


def test_flags_reach_as_far_as_the_set() -> None:
    assert masks.to_flags(0b100, 1) == b"\0\0\1"
    assert masks.positions(1 << 100_000) == [100_000]
