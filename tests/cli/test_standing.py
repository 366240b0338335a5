"""What counts as standing without a change: of each fleet, and each warning as often as it was given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.remainder import Remainder
from fleet_components.plan.source import source_of
from fleet_components.review.documents.plan import _as_before, _Weighed
from fleet_components.review.documents.schema import AsBeforeDocument
from fleet_components.review.documents.weight import Weight
from fleet_components.review.planning.standing import changed_by_both, on_both
from tests.cli.test_as_before import EDGE, HUB, WIDE
from tests.hub.folder.hubs import kubefleet

FULFILLED = {
    **HUB,
    "wide.yaml": HUB["wide.yaml"].replace("numberOfClusters: 3", "numberOfClusters: 2"),
}


def of(fleet: str, files: dict[str, str] = HUB) -> FleetPlan:
    return plan_fleet(source_of(map(Manifest, kubefleet(files))), Past(), Options(fleet=fleet))


@pytest.mark.parametrize("fleets", [("a", "b"), ("b", "a")])
def test_what_is_new_in_one_fleet_does_not_stand(fleets: tuple[str, str]) -> None:
    base = [of("a"), of("b", FULFILLED)]
    head = [of(fleet) for fleet in fleets]
    assert on_both(base[:1], [of("a")]).of(WIDE) == {"unfulfilled"}
    assert on_both(base, head).of(WIDE) == frozenset()
    assert on_both(base[:1], head).of(WIDE) == frozenset()
    assert changed_by_both(base[:1], [of("a")])[WIDE]
    assert not changed_by_both(base, head)[WIDE]
    assert not changed_by_both(base[:1], head)[WIDE]
    assert changed_by_both(base, head)[EDGE]


def test_a_warning_that_is_given_once_more_is_new() -> None:
    plan, warning = (
        of("a"),
        Problem(Message("field-unknown", "is no field"), ("spec", "x"), file="one.yaml"),
    )
    base = [attrs.evolve(plan, warnings=(warning,))]
    moved, both = (
        attrs.evolve(warning, file="two.yaml"),
        (warning, attrs.evolve(warning, file="two.yaml")),
    )
    assert on_both(base, [attrs.evolve(plan, warnings=(moved,))]).warned(moved)
    assert not on_both(base, [attrs.evolve(plan, warnings=both)]).warned(moved)


@pytest.mark.parametrize(
    ("leaving", "left"), [(("old",), "1 more update"), (("old", "new"), None), (("new",), None)]
)
def test_what_one_leaves_newly_is_not_covered_by_what_another_left(
    leaving: tuple[str, ...], left: str | None
) -> None:
    plan: Any = SimpleNamespace(
        remainders={name: Remainder(updates=int(name in leaving)) for name in ("old", "new")}
    )
    decided: list[Any] = [SimpleNamespace(name=name) for name in ("old", "new")]
    weighed = [
        _Weighed(Weight.HELD, plan, item, {"held"} if item.name == "old" else ())
        for item in decided
    ]
    assert _as_before(weighed) == AsBeforeDocument([], ["old"], left, ())
