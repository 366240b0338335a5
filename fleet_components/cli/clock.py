"""The clock: asked by commands alone, so that all below them gives the same answer at any time."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)
