"""The cost of a plan grows with the text that asks for it, counted in calls of functions: no clock, no noise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from fleet_components.review.planning.past import parse_state, to_render
from tests.growth import DIMENSIONS, FLEETS

pytestmark = pytest.mark.long

_OPTIONS = Options(stack="dev", fleet="fleet")
_CHANGES = {
    "kubefleet": "ClusterResourcePlacement/app-000",
    "karmada": "Template/app-000/Deployment/web",
}
_SIZE = 33
_MOST_GROWTH = 2.4
"""Twice what is added takes twice the calls; with a cost that grows as the square it would be four times."""


def _plan(dimension: str, size: int) -> Callable[[], object]:
    def run() -> None:
        with suppress(FleetError):
            plan_fleet(source_of(map(Manifest, DIMENSIONS[dimension](size))), Past(), Options())

    return run


def _plan_again(system: str, members: int, apps: int) -> Callable[[], object]:
    """Reading the state of a fleet that stands, and planning that one image changes."""
    old, new = (
        source_of(map(Manifest, FLEETS[system](members, apps, image)))
        for image in ("web:1", "web:2")
    )
    state = json.dumps(
        to_render("dev", delivered(plan_fleet(old, Past(), _OPTIONS), redacted=True))
    ).encode()

    def run() -> None:
        plan = plan_fleet(new, parse_state(state, "state.json").past("fleet"), _OPTIONS)
        assert [subject.name for subject in plan.subjects if subject.changes] == [_CHANGES[system]]

    return run


def _calls(run: Callable[[], object]) -> int:
    """The calls that a run takes."""
    found = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal found
        found += event == "call"

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_cost_grows_with_the_size(dimension: str) -> None:
    _plan(dimension, 1)()  # what is made once, for all sizes
    assert _growth(lambda size: _plan(dimension, size)) < _MOST_GROWTH


@pytest.mark.parametrize("system", FLEETS)
@pytest.mark.parametrize("sizes", [(1, 0), (0, 1)], ids=["members", "apps"])
def test_cost_of_the_next_plan_grows_with_the_size(system: str, sizes: tuple[int, int]) -> None:
    _plan_again(system, 5, 2)()
    assert (
        _growth(lambda size: _plan_again(system, 10 + size * sizes[0], 4 + size * sizes[1]))
        < _MOST_GROWTH
    )


def _growth(set_up: Callable[[int], Callable[[], object]]) -> float:
    small, middle, large = (_calls(set_up(size)) for size in (_SIZE, 2 * _SIZE, 4 * _SIZE))
    # Of the differences, so that what each plan costs however small it is does not hide the growth.
    return (large - middle) / (middle - small)
