"""Tells what a fleet, a member or a hub costs, and what it did by the last update, which recorded
that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pulumi

from fleet_components.azure.values.cost import Estimate, Monthly
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.components.past import read_stored

COST = "cost"
"""Output of a component: its estimate."""


def tell_cost(
    component: pulumi.ComponentResource,
    names: Collection[str],
    what: str,
    cost: Estimate,
    table: SizeTable,
    parts: Sequence[str] = (),
) -> dict[str, Any]:
    """Log the estimate of a component beside that of the last update, and return the output that
    records it.

    Args:
        component: the component.
        names: its name, and former ones.
        what: the subject of the sentence.
        cost: the estimate.
        table: the prices that it was made with.
        parts: what it is made of, a line each; a single part is not told.
    """
    month = cost.monthly(table)
    stored = read_stored((component.pulumi_resource_type,))
    recorded = (item.outputs.get(COST) for item in stored if item.name in names)
    before = next((Monthly.from_wire(data) for data in recorded if isinstance(data, Mapping)), None)
    lines = (f"{what}: {month.text(before)}", *(parts if len(parts) > 1 else ()))
    pulumi.log.info("\n  ".join(lines), resource=component)
    return {COST: month.to_wire()}
