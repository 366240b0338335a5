"""TaintToleration: every taint of the member must be tolerated."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.cluster import Taint
from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import Edits, Ladder, add_taint, drop_taint, tolerate
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.kubefleet.model.placement import Toleration
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

_TOLERATIONS = ("spec", "policy", "tolerations")
_DRAINED = Taint("drained", "true")
"""A taint as somebody may set it to keep a member free."""


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
        taint = self._untolerated(state, position)[0]
        return (
            f"taint &{{Key:{taint.key} Value:{taint.value} Effect:{taint.effect}}} cannot be"
            " tolerated"
        )

    def admitting(self, state: KubeFleetState, position: int) -> Iterable[Edits]:
        """Yield that the taints go, and that they are tolerated."""
        member, taints = state.inventory.names[position], self._untolerated(state, position)
        yield tuple(drop_taint(member, taint) for taint in taints)
        yield tuple(tolerate(_TOLERATIONS, taint) for taint in taints)

    def stopping(self, state: KubeFleetState, position: int) -> Iterable[Ladder]:
        """Yield that the member gets a taint that the policy does not tolerate."""
        if not tolerated(_DRAINED, state.policy.tolerations):
            yield ((add_taint(state.inventory.names[position], _DRAINED),),)

    def _untolerated(self, state: KubeFleetState, position: int) -> list[Taint]:
        taints = state.inventory.clusters[position].taints
        return [taint for taint in taints if not tolerated(taint, state.policy.tolerations)]


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any toleration covers the taint. Exists without a key covers every taint."""
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", taint.key)
    # Unlike in Kubernetes, no operator does not mean Equal, and Equal without a key does not mean
    # every key (``canTolerationTolerateTaint`` in plugins/tainttoleration/filtering.go, v0.3.1).
    return toleration.operator == "Equal" and (toleration.key, toleration.value) == (
        taint.key,
        taint.value,
    )
