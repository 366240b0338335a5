"""Declaration of how the nodes of a pool are replaced in an upgrade.

Source: ``upgradeSettings`` of ``agentPools`` at API version 2025-09-01, and "Configure rolling
upgrades for AKS node pools" (Microsoft, 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.azure.values import checks
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Typed

_SHARE = re.compile("0|[1-9][0-9]{0,3}|([1-9][0-9]?|100|0)%")
_NONE = ("0", "0%")


@attrs.frozen(kw_only=True)
class PoolUpgrade(Typed):
    """Pace of an upgrade: the nodes that it takes at a time, and its waits. None leaves a setting
    to Azure.

    Attributes:
        surge: nodes that are added meanwhile, as a number or a percentage of the pool, such as
            ``33%``; 10% is Azure's default.
        unavailable: nodes that may be missing meanwhile, as a number or a percentage; 0 is Azure's
            default. Not for system pools.
        drain_minutes: how long pods may take to leave a node, in minutes, 5 to 1440; 30 is Azure's
            default. An upgrade stops when it is over.
        soak_minutes: the wait after each drained node, in minutes, 0 to 30; 0 is Azure's default.
        undrainable: a node that cannot be drained is taken out of service and left alone
            (``Cordon``), or stops the upgrade (``Schedule``).
    """

    surge: str | None = None
    unavailable: str | None = None
    drain_minutes: int | None = None
    soak_minutes: int | None = None
    undrainable: str | None = None

    def problems(self, is_system: bool, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        for field, share in (("surge", self.surge), ("unavailable", self.unavailable)):
            if share is not None and not _SHARE.fullmatch(share):
                yield Problem(
                    Message("not-number-nodes", '"{share}" is not a number of nodes', share=share),
                    (*path, field),
                    "for example 1 or 33%",
                )
        none_missing = self.unavailable in (None, *_NONE)
        if self.surge in _NONE and none_missing:
            hint = "surge of 1 or more" if is_system else "surge or unavailable of 1 or more"
            yield Problem(
                Message("upgrade-could-not-replace", "an upgrade could not replace any node"),
                (*path, "surge"),
                hint,
            )
        if is_system and not none_missing:
            yield Problem(
                Message("no-node-system-pool", "no node of a system pool may be missing"),
                (*path, "unavailable"),
                "use surge",
            )
        yield from checks.in_range(self.drain_minutes, 5, 1440, (*path, "drainMinutes"))
        yield from checks.in_range(self.soak_minutes, 0, 30, (*path, "soakMinutes"))
        if self.undrainable is not None:
            yield from checks.choice_of(
                self.undrainable, ("Cordon", "Schedule"), (*path, "undrainable")
            )
