"""ClusterEviction: a member that the object is leaving is not chosen."""

from __future__ import annotations

from fleet_components.model.mask import Mask
from fleet_components.scheduler.karmada.state import CycleState


class ClusterEviction:
    """Filters out members with an eviction task, whatever its purge mode."""

    name = "ClusterEviction"

    def mask(self, state: CycleState, candidates: Mask) -> Mask:
        """Members without an eviction task."""
        return candidates & ~state.inventory.mask_of_names(state.memory.evictions)

    def reason(self, state: CycleState, position: int) -> str:
        """The one text that there is."""
        return "cluster(s) is in the process of eviction"

    def remedy(self, state: CycleState, position: int) -> str:
        """When it can be chosen again."""
        return "it can be chosen again when the eviction is over"
