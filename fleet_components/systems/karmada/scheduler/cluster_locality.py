"""ClusterLocality: prefers members that have the object already."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model import mask as masks
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Score
from fleet_components.systems.karmada.scheduler.state import KarmadaState

_HERE = 100


class ClusterLocality(Score[KarmadaState]):
    """Score that prefers current targets."""

    name = "ClusterLocality"

    def scores(self, state: KarmadaState, candidates: Mask) -> Mapping[int, Mask]:
        """Return 100 for each current target."""
        return {_HERE: candidates & state.targets}

    def words(self, state: KarmadaState, position: int) -> str:
        """Return whether the member has the object, in words."""
        return (
            "has the object"
            if masks.has(state.targets, position)
            else "does not have the object yet"
        )
