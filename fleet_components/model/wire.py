"""Values that the members of both systems have in the same form: times, taints, amounts of resources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fleet_components.model.cluster import Taint
from fleet_components.model.codec import in_reach


def read_time(text: str | None) -> datetime | None:
    """Parse an RFC 3339 time; None for None.

    Raises:
        ValueError: the text is not an RFC 3339 time, has no time zone, or is too far from the present to add a wait to
            it.
    """
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise ValueError(f'"{text}" is not a time; write it as 2026-01-31T12:00:00Z') from None
    if time.tzinfo is None:
        raise ValueError(f'"{text}" has no time zone; write it as 2026-01-31T12:00:00Z')
    if not in_reach(time):
        raise ValueError(f'"{text}" is too far away for any wait; write it as 2026-01-31T12:00:00Z')
    return time


def read_taint(taint: Mapping[str, Any]) -> Taint:
    """Return a taint from its API form."""
    return Taint(taint["key"], taint.get("value") or "", taint["effect"], read_time(taint.get("timeAdded")))


def read_amounts(amounts: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return amounts by resource, as text."""
    return {resource: str(amount) for resource, amount in (amounts or {}).items()}
