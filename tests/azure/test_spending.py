"""An estimate says what the last update recorded, where that was another one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import attrs
import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    AzureMember,
    AzureMemberArgs,
)
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.cost import Estimate, Monthly
from fleet_components.azure.values.vm_size import built_in_sizes
from tests.azure import world
from tests.azure.build import aks, pool


def member(most: int = 10) -> AksMember:
    return aks(pools=(pool(max_count=most),))


def of_fleet(most: int, name: str = "shop", opts: pulumi.ResourceOptions | None = None) -> Any:
    return AzureFleet(name, AzureFleetArgs(members=(member(most),)), opts)


def of_member(most: int) -> Any:
    return AzureMember("weu-1", AzureMemberArgs(member=member(most)))


def of_hub(_: int) -> Any:
    return AzureHub("shop", AzureHubArgs(resource_group="rg", region="westeurope"))


FORMS: tuple[Callable[[int], Any], ...] = (of_fleet, of_member, of_hub)


def told(run: world.Run) -> str:
    """The only sentence about a cost."""
    assert run.error is None, run.error
    (line,) = (message for message in run.messages if "USD a month" in message)
    return line


def amount(line: str) -> str:
    """The figures of now."""
    found = re.search(r"about ([0-9, to]+) USD a month", line)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("made", FORMS)
def test_before_is_told_where_it_was_another(made: Callable[[int], Any]) -> None:
    first = world.run(lambda: made(10))
    assert "before" not in told(first)
    assert told(world.run(lambda: made(10), before=first)) == told(first)
    recorded = {
        urn: outputs["cost"] for urn, outputs in first.components.items() if "cost" in outputs
    }
    assert len(recorded) == 1
    (cost,) = recorded.values()
    assert cost.keys() == {"lowUsdMonth", "highUsdMonth", "pricesAsOf"}
    changed = {
        urn: {**each, "cost": {**cost, "highUsdMonth": 9999}}
        for urn, each in first.components.items()
    }
    after = told(world.run(lambda: made(10), before=attrs.evolve(first, components=changed)))
    assert f"(before: {cost['lowUsdMonth']:,.0f} to 9,999)" in after
    assert amount(after) == amount(told(first))


def test_a_pool_that_may_grow_further() -> None:
    first = world.run(lambda: of_fleet(10))
    second = world.run(lambda: of_fleet(20), before=first)
    assert f"(before: {amount(told(first))})" in told(second)
    assert amount(told(second)) != amount(told(first))


def test_a_fleet_keeps_its_cost_under_another_name() -> None:
    first = world.run(lambda: of_fleet(10))
    opts = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="shop")])
    renamed = world.run(lambda: of_fleet(20, "store", opts), before=first)
    assert f"(before: {amount(told(first))})" in told(renamed)


def test_another_fleet_of_the_stack_says_nothing() -> None:
    first = world.run(lambda: of_fleet(10))
    assert "before" not in told(world.run(lambda: of_fleet(20, "store"), before=first))


def test_prices_of_another_day_are_named() -> None:
    now = Monthly(1000, 2000, "2026-06-18")
    assert "(before: 900 to 1,800 at list prices of 2026-01-01)" in now.text(
        Monthly(900, 1800, "2026-01-01")
    )
    assert "before" not in now.text(Monthly(1000, 2000, "2026-01-01"))


@pytest.mark.parametrize(
    "recorded", [{}, {"lowUsdMonth": "1", "highUsdMonth": 2}, {"lowUsdMonth": 1}]
)
def test_what_no_update_has_written_is_not_told(recorded: dict[str, Any]) -> None:
    assert Monthly.from_wire(recorded) is None


def test_a_record_reads_as_it_was_written() -> None:
    month = Estimate(1.234, 5.678).monthly(built_in_sizes())
    assert Monthly.from_wire(month.to_wire()) == month
