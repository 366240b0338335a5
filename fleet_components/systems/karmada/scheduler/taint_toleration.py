"""TaintToleration: NoSchedule and NoExecute taints of a new member must be tolerated."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.cluster import Taint
from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import Edits, Ladder, add_taint, drop_taint, tolerate
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.karmada.scheduler.state import KarmadaState

_EFFECTS = ("NoSchedule", "NoExecute")
_TOLERATIONS = ("spec", "placement", "clusterTolerations")
_DRAINED = tuple(Taint("drained", "true", effect) for effect in _EFFECTS)
"""Taints as somebody may set them to keep a member free, or to free it."""


class TaintToleration(Filter[KarmadaState]):
    """Filter that rejects members with an untolerated taint; members that have the object already
    always pass.
    """

    name = "TaintToleration"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates whose taints are all tolerated, for however short a time, and
        current targets.
        """
        for taint, tainted in state.inventory.taints.items():
            if _repels(state, taint):
                candidates &= ~tainted | state.targets
        return candidates

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text for the first untolerated taint, in spec order."""
        taint = self._untolerated(state, position)[0]
        value = f"={taint.value}" if taint.value else ""
        return f"cluster(s) had untolerated taint {{{taint.key}{value}:{taint.effect}}}"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield that the taints go, and that they are tolerated."""
        member, taints = state.inventory.names[position], self._untolerated(state, position)
        yield tuple(drop_taint(member, taint) for taint in taints)
        yield tuple(tolerate(_TOLERATIONS, taint) for taint in taints)

    def stopping(self, state: KarmadaState, position: int) -> Iterable[Ladder]:
        """Yield that the member gets a taint that is not tolerated: for what is new, then for what
        stands as well.
        """
        member = state.inventory.names[position]
        yield tuple((add_taint(member, taint),) for taint in _DRAINED if _repels(state, taint))

    def _untolerated(self, state: KarmadaState, position: int) -> list[Taint]:
        return [
            taint for taint in state.inventory.clusters[position].taints if _repels(state, taint)
        ]


def _repels(state: KarmadaState, taint: Taint) -> bool:
    return taint.effect in _EFFECTS and not state.placement.tolerations.of(taint)
