"""TaintToleration: NoSchedule and NoExecute taints of a new member must be tolerated."""

from __future__ import annotations

from fleet_components.model.cluster import Taint
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter
from fleet_components.scheduler.karmada.state import KarmadaState

_EFFECTS = ("NoSchedule", "NoExecute")


class TaintToleration(Filter[KarmadaState]):
    """Filter that rejects members with an untolerated taint; members that have the object already always pass."""

    name = "TaintToleration"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates whose taints are all tolerated, for however short a time, and current targets."""
        for taint, tainted in state.inventory.taints.items():
            if _repels(state, taint):
                candidates &= ~tainted | state.targets
        return candidates

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text for the first untolerated taint, in spec order."""
        taint = self._untolerated(state, position)
        value = f"={taint.value}" if taint.value else ""
        return f"cluster(s) had untolerated taint {{{taint.key}{value}:{taint.effect}}}"

    def remedy(self, state: KarmadaState, position: int) -> str:
        """Return the missing toleration."""
        taint = self._untolerated(state, position)
        return f'tolerate {{key: {taint.key}, operator: Equal, value: "{taint.value}"}}, or remove the taint'

    def _untolerated(self, state: KarmadaState, position: int) -> Taint:
        return next(taint for taint in state.inventory.clusters[position].taints if _repels(state, taint))


def _repels(state: KarmadaState, taint: Taint) -> bool:
    return taint.effect in _EFFECTS and not state.placement.tolerations.of(taint)
