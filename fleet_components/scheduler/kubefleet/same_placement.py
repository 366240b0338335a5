"""SamePlacementAffinity: a member is picked once; one that had an obsolete binding wins a tie."""

from __future__ import annotations

from fleet_components.model.mask import Mask
from fleet_components.scheduler.kubefleet.state import CycleState


class SamePlacementAffinity:
    """Silently drops members that are selected already, before spread is looked at."""

    name = "SamePlacementAffinity"

    def mask(self, state: CycleState, candidates: Mask) -> Mask:
        """Members that are not selected under the current policy snapshot."""
        return candidates & ~state.present

    def reason(self, state: CycleState, position: int) -> str:
        """For completeness; the real scheduler keeps silent about such members."""
        return "already selected under this policy"

    def remedy(self, state: CycleState, position: int) -> str:
        """Nothing needs to be done."""
        return ""
