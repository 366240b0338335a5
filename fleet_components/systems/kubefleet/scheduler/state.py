"""Input of the KubeFleet plug-ins during one scheduling cycle."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy

T = TypeVar("T")


@attrs.frozen
class KubeFleetState:
    """State of one scheduling cycle.

    Attributes:
        inventory: the fleet.
        policy: the policy to schedule.
        namespace: the namespace of a ResourcePlacement; empty for a cluster-scoped placement.
        present: members with a scheduled or bound binding under the current policy snapshot.
        obsolete: members with a binding under an older policy snapshot.
    """

    inventory: Inventory
    policy: PlacementPolicy
    namespace: str = ""
    present: Mask = 0
    obsolete: Mask = 0
    _shared: dict[Hashable, Any] = attrs.field(factory=dict, repr=False, eq=False)

    @property
    def placed(self) -> Mask:
        """Members with a binding, under the current or an older policy snapshot."""
        return self.present | self.obsolete

    def next(self, present: Mask, obsolete: Mask) -> KubeFleetState:
        """Return the state of the next cycle on the same fleet and policy."""
        return attrs.evolve(self, present=present, obsolete=obsolete)

    def once(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return a cached value, built on first use and shared with all later cycles of the run.

        The key must contain everything that the value depends on besides fleet, policy and namespace.
        """
        if key not in self._shared:
            self._shared[key] = build()
        value: T = self._shared[key]
        return value
