"""TaintToleration: every taint of the member must be tolerated."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.cluster import Taint
from fleet_components.model.kubefleet.placement import Toleration
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter
from fleet_components.scheduler.kubefleet.state import KubeFleetState


class TaintToleration(Filter[KubeFleetState]):
    """Filter that rejects members with a taint that the policy does not tolerate."""

    name = "TaintToleration"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates whose taints are all tolerated."""
        for taint, tainted in state.inventory.taints.items():
            if not tolerated(taint, state.policy.tolerations):
                candidates &= ~tainted
        return candidates

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return the text for the first untolerated taint, in spec order."""
        taint = self._untolerated(state, position)
        return f"taint &{{Key:{taint.key} Value:{taint.value} Effect:{taint.effect}}} cannot be tolerated"

    def remedy(self, state: KubeFleetState, position: int) -> str:
        """Return the missing toleration."""
        taint = self._untolerated(state, position)
        return f'tolerate {{key: {taint.key}, operator: Equal, value: "{taint.value}"}}, or remove the taint'

    def _untolerated(self, state: KubeFleetState, position: int) -> Taint:
        taints = state.inventory.clusters[position].taints
        return next(taint for taint in taints if not tolerated(taint, state.policy.tolerations))


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any toleration covers the taint. Exists without a key covers every taint."""
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", taint.key)
    # Unlike in Kubernetes, no operator does not mean Equal, and Equal without a key does not mean every key
    # (``canTolerationTolerateTaint`` in plugins/tainttoleration/filtering.go, v0.3.1).
    return toleration.operator == "Equal" and (toleration.key, toleration.value) == (taint.key, taint.value)
