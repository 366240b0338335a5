"""ClusterEviction: rejects members that the object is being evicted from."""

from __future__ import annotations

from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.karmada.scheduler.state import KarmadaState


class ClusterEviction(Filter[KarmadaState]):
    """Filter that rejects members with an eviction task, whatever its purge mode."""

    name = "ClusterEviction"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates without an eviction task."""
        return candidates & ~state.inventory.mask_of_names(state.memory.evictions)

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) is in the process of eviction"

    def remedy(self, state: KarmadaState, position: int) -> str:
        """Return when the member can be chosen again."""
        return "it can be chosen again when the eviction is over"
