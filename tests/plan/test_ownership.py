"""Whose the objects are that come to members and are there already."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components import Options, Past, plan_fleet, source_of
from fleet_components.content.stamp import STACK_ANNOTATION, manager_of
from fleet_components.plan.ownership import Arrival, anothers, taken_over

STACK = "organization/shop/dev"
PLAN = plan_fleet(source_of([]), Past(), Options(stack=STACK))


def arrival(cluster: str = "a", *, adopts: bool = True, **data: Any) -> Arrival:
    whole = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, **data}
    return Arrival(cluster, whole, adopts)


def owned(stack: str | None, **data: Any) -> dict[str, Any]:
    return {"metadata": {"annotations": {STACK_ANNOTATION: stack} if stack else None}, **data}


@pytest.mark.parametrize(
    ("owner", "manager", "refused"),
    [
        (None, "", False),
        (STACK, "", False),
        ("organization/shop/prod", "", True),
        # The stack was called otherwise when it left the object behind, and has kept its field manager.
        ("organization/shop/old", manager_of("organization/shop/old"), False),
        ("x\x1b[31m" * 1000, "", True),
    ],
)
def test_an_object_of_another_stack(owner: str | None, manager: str, refused: bool) -> None:
    plan = attrs.evolve(PLAN, manager=manager or PLAN.manager)
    found = list(anothers([arrival("b"), arrival("a")], lambda _: owned(owner), plan, {}))
    assert bool(found) is refused
    for problem in found:
        assert str(problem).startswith("Secret shop/s: is on a, b already, and belongs to the stack ")
        assert "\x1b" not in str(problem)
        assert len(str(problem)) < 2000


def test_what_somebody_else_made() -> None:
    wanted: dict[str, Any] = {
        "stringData": {"k": "one"},
        "type": "Opaque",
        "list": [{"x": 1, "y": 2}, {}],
        "longer": [1],
    }
    live = owned(None, data={"k": "dHdv", "more": ""}, type="Opaque", list=[{"x": 3, "z": 4}, {}], longer=[1, 2])
    arriving = [arrival("a", **wanted), arrival("b"), arrival("c", adopts=False)]
    found = list(map(str, taken_over(arriving, lambda _: live)))
    made = "Secret shop/s: somebody else has made it on {}: it is taken over{}"
    assert found == [made.format("b", ""), made.format("a", ", and changed in data.k, list[0].x, longer")]
    assert list(taken_over(arriving, lambda _: owned(STACK))) == []
