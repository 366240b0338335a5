"""Karmada's taint manager: when a NoExecute taint evicts an object from a member.

Every NoExecute taint must be tolerated. For each taint only the first matching toleration is used, and the used
toleration that expires first decides. Source: Karmada 1.19, ``pkg/controllers/cluster/taint_manager.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import attrs

from fleet_components.model.cluster import Taint
from fleet_components.systems.karmada.model.policy import (
    DIRECTLY,
    GRACEFULLY,
    Failover,
    Placement,
    Toleration,
    Tolerations,
)

NO_EXECUTE = "NoExecute"
_MOST_SECONDS = 2**63 // 10**9
"""Go counts a duration in nanoseconds of 64 bits, some 292 years: a toleration beyond that does not expire."""
NO_PLACEMENT = "the applied placement for ResourceBining can not be empty"
"""Karmada's error message, including its spelling mistake."""


@attrs.frozen
class EvictionSettings:
    """Settings of the control plane that affect evictions.

    Attributes:
        enabled: the flag ``--enable-no-execute-taint-eviction`` together with the feature gate ``Failover``; both
            are off by default.
        purge_mode: the flag ``--no-execute-taint-eviction-purge-mode``.
    """

    enabled: bool = False
    purge_mode: str = GRACEFULLY

    def purge_mode_for(self, failover: Failover | None) -> str:
        """Return how the copy on the old member is removed: the policy's purge mode, or else that of the flag."""
        if failover and failover.cluster:
            return failover.cluster.purge_mode or GRACEFULLY
        return DIRECTLY if self.purge_mode == DIRECTLY else GRACEFULLY


@attrs.frozen
class Eviction:
    """Result of the taint check for one object on one member.

    Attributes:
        now: whether the object has to leave at once.
        due: when it will have to leave if the taints stay; None for never, or if the taint's time is not recorded.
    """

    now: bool = False
    due: datetime | None = None


def evict(
    taints: Iterable[Taint],
    placement: Placement | None,
    as_of: datetime | None,
    settings: EvictionSettings = EvictionSettings(),
) -> Eviction:
    """Check one object on one member.

    Args:
        taints: the member's taints.
        placement: the placement that was last applied, which may differ from the policy's current one.
        as_of: the time of the check; None means that no toleration expires.
        settings: settings of the control plane.

    Raises:
        ValueError: no placement was ever applied.
    """
    if placement is None:
        raise ValueError(NO_PLACEMENT)
    harmful = [taint for taint in taints if taint.effect == NO_EXECUTE] if settings.enabled else []
    # The first in the list, even if a later one lasts longer (``GetMatchingTolerations`` in pkg/util/helper/taint.go).
    used = [next(iter(placement.tolerations.of(taint)), None) for taint in harmful]
    tolerations = [toleration for toleration in used if toleration]
    if len(tolerations) < len(used):
        return Eviction(now=True)
    due = min(_ends(harmful, placement.tolerations, frozenset(tolerations)), default=None)
    return Eviction(due is not None and as_of is not None and due <= as_of, due)


def _ends(taints: Iterable[Taint], tolerations: Tolerations, used: frozenset[Toleration]) -> Iterator[datetime]:
    """Yield when each used toleration expires, counted from every taint that it tolerates."""
    # Every taint that it matches, also one for which another toleration was used: Karmada tries each with all.
    for taint in taints:
        for toleration in used.intersection(tolerations.of(taint)):
            seconds = toleration.toleration_seconds
            if taint.time_added and seconds is not None and seconds <= _MOST_SECONDS:
                yield taint.time_added + timedelta(seconds=max(seconds, -_MOST_SECONDS))
