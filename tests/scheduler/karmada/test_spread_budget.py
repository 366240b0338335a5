"""The search for the best set of regions ends, and says so where it does not find it in time."""

from __future__ import annotations

import pytest

from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.scheduler import spread as searching
from tests.scheduler.karmada.builders import decide, member, placement, spread


def many(regions: int) -> Inventory:
    return Inventory(
        member(f"m{region}-{number}", f"r{region}")
        for region in range(regions)
        for number in range(region + 1)
    )


WIDE = placement(spreadConstraints=[spread("region", 4, 8), spread("cluster", 40, 60)])


def test_a_search_within_the_budget_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    template = Template("v1", "ConfigMap", "a", "b")
    found = decide(many(12), template, WIDE)
    assert len(found.memory.clusters) >= 40
    monkeypatch.setattr(searching, "MOST_SETS", 10)
    with pytest.raises(FleetError, match="sets of regions was looked for") as caught:
        decide(many(12), template, WIDE)
    assert caught.value.problems[0].hint
