"""Webhook checks of a placement's rollout strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object

_NO_PERCENTAGE = "invalid value for IntOrString: invalid type: string is not a percentage"


def check_strategy(strategy: Object) -> Iterator[Finding]:
    """Yield findings on a defaulted rollout strategy."""
    rolling, rollout = strategy.get("rollingUpdate"), strategy.get("type", "RollingUpdate")
    if rollout not in ("RollingUpdate", "External"):
        yield Finding(f"unsupported rollout strategy type `{rollout}`", ("type",), "write type: RollingUpdate")
    if rolling is not None:
        if rollout == "External":
            # The spelling mistake is in KubeFleet's own text.
            what = "rollingUpdateConifg is not valid for ExternalRollout strategy type"
            yield Finding(what, ("rollingUpdate",), "remove rollingUpdate, or write type: RollingUpdate")
        yield from _check_period(rolling.get("unavailablePeriodSeconds", 0))
        for key in ("maxUnavailable", "maxSurge"):
            if key in rolling:
                yield from _check_amount(key, rolling[key])
    apply = strategy.get("applyStrategy", {})
    if apply.get("type", "ClientSideApply") != "ServerSideApply" and "serverSideApplyConfig" in apply:
        what = "serverSideApplyConfig is only valid for ServerSideApply strategy type"
        yield Finding(what, ("applyStrategy", "serverSideApplyConfig"), "write type: ServerSideApply beside it")


def _check_period(seconds: int) -> Iterator[Finding]:
    if seconds < 0:
        what = f"unavailablePeriodSeconds must be greater than or equal to 0, got {seconds}"
        path = ("rollingUpdate", "unavailablePeriodSeconds")
        yield Finding(what, path, "write unavailablePeriodSeconds: 60")


def _check_amount(key: str, value: int | str) -> Iterator[Finding]:
    path = ("rollingUpdate", key)
    if isinstance(value, str) and not value.endswith("%"):
        number = int(value) if re.fullmatch("[0-9]{1,9}", value) else "25%"
        yield Finding(f"{key} `{value}` is invalid: {_NO_PERCENTAGE}", path, f"write {key}: {number}")
    elif isinstance(value, int) and value < 0:
        yield Finding(f"{key} must be greater than or equal to 0, got `{value}`", path, f"write {key}: 1")
