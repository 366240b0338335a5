"""When a NoExecute taint drives an object from a member: Karmada's taint manager.

Source: Karmada facts. Every NoExecute taint must be tolerated; of each taint only the first matching toleration is
used, and the used one whose time is up first decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import attrs

from fleet_components.model.cluster import Taint
from fleet_components.model.karmada import DIRECTLY, GRACEFULLY, Failover, Placement, Toleration

NO_EXECUTE = "NoExecute"
NO_PLACEMENT = "the applied placement for ResourceBining can not be empty"
"""Karmada's own words, the slip included."""


@attrs.frozen
class EvictionSettings:
    """How the control plane is set up.

    Attributes:
        enabled: the flag ``--enable-no-execute-taint-eviction`` together with the feature gate ``Failover``; both
            are off by default.
        purge_mode: the flag ``--no-execute-taint-eviction-purge-mode``.
    """

    enabled: bool = False
    purge_mode: str = GRACEFULLY

    def purge_mode_for(self, failover: Failover | None) -> str:
        """What happens to the copy that is left behind: the policy decides, or else the flag."""
        if failover and failover.cluster:
            return failover.cluster.purge_mode or GRACEFULLY
        return DIRECTLY if self.purge_mode == DIRECTLY else GRACEFULLY


@attrs.frozen
class Eviction:
    """Whether an object has to leave a member.

    Attributes:
        now: it has to leave at once.
        due: when it will have to leave, if the taints stay; None for never, or when the time is not recorded.
    """

    now: bool = False
    due: datetime | None = None


def evict(
    taints: Iterable[Taint],
    placement: Placement | None,
    as_of: datetime | None,
    settings: EvictionSettings = EvictionSettings(),
) -> Eviction:
    """Judge one object on one member.

    Args:
        taints: the member's taints.
        placement: the placement that was last applied, not the one that the policy has now.
        as_of: the time of judging; None means that no toleration runs out.
        settings: how the control plane is set up.

    Raises:
        ValueError: no placement was ever applied.
    """
    if placement is None:
        raise ValueError(NO_PLACEMENT)
    harmful = [taint for taint in taints if taint.effect == NO_EXECUTE] if settings.enabled else []
    used = [_first_toleration(taint, placement.cluster_tolerations) for taint in harmful]
    tolerations = [toleration for toleration in used if toleration]
    if len(tolerations) < len(used):
        return Eviction(now=True)
    due = min(_ends(harmful, tolerations), default=None)
    return Eviction(due is not None and as_of is not None and due <= as_of, due)


def _first_toleration(taint: Taint, tolerations: Iterable[Toleration]) -> Toleration | None:
    return next((toleration for toleration in tolerations if toleration.tolerates(taint)), None)


def _ends(taints: Iterable[Taint], used: Iterable[Toleration]) -> list[datetime]:
    """When each used toleration runs out, counted from every taint that it tolerates."""
    return [
        taint.time_added + timedelta(seconds=toleration.toleration_seconds)
        for toleration in used
        for taint in taints
        if toleration.toleration_seconds is not None and taint.time_added and toleration.tolerates(taint)
    ]
