"""Rough cost of declared members: nodes at the prices of the size table, and the fee of the control
plane.

Disks, traffic and what add-ons ingest or scan (logs, metrics, Defender) are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.vm_size import SizeTable

HOURS_A_MONTH = 730
CONTROL_PLANE = {"Free": 0.0, "Standard": 0.10, "Premium": 0.60}
"""Fee in USD per hour of a cluster by tier (Azure's price list of AKS; its day is in
``dated.py``).
"""

HUB_SIZE = "Standard_D4s_v4"
"""The VM size that Azure tries first for the one node of a hub (Fleet Manager quickstart,
2026-06).
"""


@attrs.frozen
class Estimate:
    """Estimated cost in USD per hour.

    Attributes:
        low: with the fewest nodes.
        high: with the most nodes that the autoscalers may add.
        unpriced: VM sizes without a price in the table, as ``size in region``.
    """

    low: float = 0.0
    high: float = 0.0
    unpriced: tuple[str, ...] = ()

    def __add__(self, other: Estimate) -> Estimate:
        unpriced = dict.fromkeys((*self.unpriced, *other.unpriced))
        return Estimate(self.low + other.low, self.high + other.high, tuple(unpriced))

    def monthly(self, table: SizeTable) -> Monthly:
        """Return the cost of a month, at the prices of a table."""
        low, high = (round(hourly * HOURS_A_MONTH) for hourly in (self.low, self.high))
        return Monthly(low, high, table.prices_as_of, self.unpriced)


@attrs.frozen
class Monthly:
    """Estimated cost in whole USD per month; an update records it in the state.

    Attributes:
        low: with the fewest nodes.
        high: with the most nodes that the autoscalers may add.
        prices_as_of: the date of the list prices; empty for given ones.
        unpriced: VM sizes without a price, as ``size in region``; not recorded.
    """

    low: int
    high: int
    prices_as_of: str = ""
    unpriced: tuple[str, ...] = ()

    @classmethod
    def from_wire(cls, recorded: Mapping[str, Any]) -> Monthly | None:
        """Return what was recorded; None for what no update has written."""
        low, high, dated = (recorded.get(key) for key in _RECORDED)
        # The engine hands numbers back as floats.
        if not (isinstance(low, int | float) and isinstance(high, int | float)):
            return None
        return cls(int(low), int(high), str(dated or ""))

    def to_wire(self) -> dict[str, Any]:
        """Return what is recorded."""
        return dict(zip(_RECORDED, (self.low, self.high, self.prices_as_of), strict=True))

    def text(self, before: Monthly | None = None) -> str:
        """Return a sentence for users: the cost, what it was before, what it includes, and what it
        does not.

        Args:
            before: the cost by the last update; named only where it was another.
        """
        missing = (
            f"; without {', '.join(self.unpriced)}, of which no price is known"
            if self.unpriced
            else ""
        )
        return (
            f"about {self.amount} USD a month{self._before(before)} for nodes and control planes,"
            f" at {self._dated}{missing}; disks, traffic and add-ons such as monitoring are extra"
        )

    @property
    def amount(self) -> str:
        """The figure, or both."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    @property
    def _dated(self) -> str:
        return f"list prices of {self.prices_as_of}" if self.prices_as_of else "the given prices"

    def _before(self, before: Monthly | None) -> str:
        # Compared as they are shown, so that every difference can be seen in the text.
        if before is None or before.amount == self.amount:
            return ""
        dated = "" if before.prices_as_of == self.prices_as_of else f" at {before._dated}"
        return f" (before: {before.amount}{dated})"


_RECORDED = ("lowUsdMonth", "highUsdMonth", "pricesAsOf")


def member_cost(member: AksMember, table: SizeTable) -> Estimate:
    """Return the cost of one member. Spot nodes count at the on-demand price, which is an upper
    bound.
    """
    fee = CONTROL_PLANE[member.tier]
    return sum_of(
        (_pool_cost(pool, member.region, table) for pool in member.node_pools), Estimate(fee, fee)
    )


def hub_cost(region: str, vm_size: str | None, table: SizeTable) -> Estimate:
    """Return the cost of a fleet's hub cluster: one node and a control plane of tier Standard."""
    node = NodePool("hub", vm_size or HUB_SIZE, count=1)
    return _pool_cost(node, region, table) + Estimate(
        CONTROL_PLANE["Standard"], CONTROL_PLANE["Standard"]
    )


def sum_of(estimates: Iterable[Estimate], start: Estimate | None = None) -> Estimate:
    """Return the sum of the estimates."""
    return sum(estimates, start or Estimate())


def _pool_cost(pool: NodePool, region: str, table: SizeTable) -> Estimate:
    price = pool.price(region, table)
    if price is None:
        return Estimate(unpriced=(f"{pool.vm_size} in {region}",))
    return Estimate(price * pool.nodes, price * pool.most_nodes)
