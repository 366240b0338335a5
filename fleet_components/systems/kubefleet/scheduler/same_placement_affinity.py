"""SamePlacementAffinity: members that the placement has already are not picked again, or are
preferred.
"""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter, Score
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

OBSOLETE = "obsolete"
"""The part of a score that prefers members with a binding of an older policy."""


class SamePlacementAffinity(Filter[KubeFleetState], Score[KubeFleetState]):
    """Filter out members picked under the current policy; prefer those that were picked under an
    older one.
    """

    name = "SamePlacementAffinity"
    part = OBSOLETE
    counts_picks = silent = True

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates that are not picked."""
        return candidates & ~state.present

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return KubeFleet's text, which it shows nowhere."""
        return "resource placement has already been scheduled or bound on the cluster"

    def scores(self, state: KubeFleetState, candidates: Mask) -> Mapping[int, Mask]:
        """Return 1 for members with a binding of an older policy."""
        return {1: candidates & state.obsolete}

    def words(self, state: KubeFleetState, position: int) -> str:
        """Return whether the member was picked under an older policy, in words."""
        return (
            "was picked before the policy changed"
            if state.obsolete >> position & 1
            else "was not picked before"
        )
