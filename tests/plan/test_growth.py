"""The cost of a plan grows with the text that asks for it, counted in calls of functions: no clock, no noise."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType

import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from tests.growth import DIMENSIONS

pytestmark = pytest.mark.long

_SIZE = 33
_MOST_GROWTH = 2.4
"""Twice what is added takes twice the calls; with a cost that grows as the square it would be four times."""


def _plan(dimension: str, size: int) -> None:
    with suppress(FleetError):
        plan_fleet(source_of(map(Manifest, DIMENSIONS[dimension](size))), Past(), Options())


def _calls(dimension: str, size: int) -> int:
    """The calls that planning a fleet of a size takes."""
    found = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal found
        found += event == "call"

    sys.setprofile(count)
    try:
        _plan(dimension, size)
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_cost_grows_with_the_size(dimension: str) -> None:
    _plan(dimension, 1)  # what is made once, for all sizes
    small, middle, large = (_calls(dimension, size) for size in (_SIZE, 2 * _SIZE, 4 * _SIZE))
    # Of the differences, so that what each plan costs however small it is does not hide the growth.
    assert (large - middle) / (middle - small) < _MOST_GROWTH
