"""Tells what a fleet, a member or a hub costs, and what it did by the last update, which recorded that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pulumi
from pulumi.runtime.settings import get_monitor

from fleet_components.azure.values.cost import Estimate, Monthly
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.components.past import read_stored
from fleet_components.plan.state import StoredResource

COST = "cost"
"""Output of a component: its estimate."""
_TYPES = ("fleet:index:AzureFleet", "fleet:index:AzureMember", "fleet:index:AzureHub")


def tell_cost(
    component: pulumi.ComponentResource,
    names: Collection[str],
    what: str,
    cost: Estimate,
    table: SizeTable,
    parts: Sequence[str] = (),
) -> dict[str, Any]:
    """Log the estimate of a component beside that of the last update, and return the output that records it.

    Args:
        component: the component.
        names: its name, and former ones.
        what: the subject of the sentence.
        cost: the estimate.
        table: the prices that it was made with.
        parts: what it is made of, a line each; a single part is not told.
    """
    month = cost.monthly(table)
    kind = component.pulumi_resource_type
    recorded = (one.outputs.get(COST) for one in _stored(get_monitor()) if one.type == kind and one.name in names)
    before = next((Monthly.from_wire(one) for one in recorded if isinstance(one, Mapping)), None)
    lines = (f"{what}: {month.text(before)}", *(parts if len(parts) > 1 else ()))
    pulumi.log.info("\n  ".join(lines), resource=component)
    return {COST: month.to_wire()}


@lru_cache(maxsize=1)
def _stored(_monitor: Any) -> tuple[StoredResource, ...]:
    """Return what the state said of the components that record a cost; it is read once a run."""
    return read_stored(_TYPES)
