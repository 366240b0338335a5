"""ClusterLocality: members that have the object already are preferred."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model import mask as masks
from fleet_components.model.mask import Mask
from fleet_components.scheduler.karmada.state import CycleState

HERE = 100
"""The score of a current target; all others have 0, and no other plug-in scores."""


class ClusterLocality:
    """Scores current targets."""

    name = "ClusterLocality"

    def scores(self, state: CycleState, candidates: Mask) -> Mapping[int, int]:
        """100 for each current target."""
        return dict.fromkeys(masks.positions(candidates & state.targets), HERE)

    def words(self, state: CycleState, position: int) -> str:
        """Whether it has the object."""
        return "has the object" if masks.has(state.targets, position) else "does not have the object yet"
