"""A hub keeps the status of a placement between cycles: a cycle may write none, or what only differs in its order.

Source: KubeFleet v0.3.1, ``pkg/scheduler/framework/framework.go`` and ``pkg/controllers/placement``.
"""

from __future__ import annotations

import attrs

from fleet_components.model.decision import Condition, Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.scheduler import schedule


@attrs.frozen
class HubStatus(Status):
    """The status that stands; pending while it is older than the policy, because the last cycle wrote none."""

    pending: bool = True

    def placement_condition(self, kind: str) -> Condition:
        return (
            Status().placement_condition(kind)
            if self.pending
            else super().placement_condition(kind)
        )


PENDING = Decision(PlacementMemory(), Status())
"""What a hub has before the first cycle."""


def next_cycle(
    inventory: Inventory,
    policy: PlacementPolicy | None,
    before: Decision[PlacementMemory],
    *,
    namespace: str = "",
) -> Decision[PlacementMemory]:
    """Schedule again; the status is the one that the hub has afterwards."""
    found = schedule(inventory, policy, before.memory, namespace=namespace)
    return attrs.evolve(found, status=standing(before, found))


def standing(before: Decision[PlacementMemory], found: Decision[PlacementMemory]) -> Status:
    """The status that the hub has after a cycle."""
    old, new = before.status, found.status
    same_policy = before.memory.snapshot >= 0 and found.memory.policy == before.memory.policy
    if new.condition is None:
        if found.memory.snapshot != before.memory.snapshot:
            return Status()
        pending = getattr(old, "pending", True) or not same_policy
        return HubStatus(old.decisions, old.condition, pending=pending)
    same_decisions = len(old.decisions) == len(new.decisions) and set(old.decisions) == set(
        new.decisions
    )
    if same_policy and same_decisions and _same(old.condition, new.condition):
        return old
    return HubStatus(new.decisions, new.condition, pending=False)


def _same(old: Condition | None, new: Condition | None) -> bool:
    return bool(old and new and (old.status, old.reason) == (new.status, new.reason))
