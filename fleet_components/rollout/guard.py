"""Refuses an update that would take away more than it is likely to mean."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from fleet_components.model.problem import Problem

_AT_LEAST = 2
_SHOWN = 10


def guard(
    what: str,
    before: Collection[str],
    after: Collection[str],
    *,
    limit: float = 0.5,
    confirm: Collection[str] = (),
) -> Problem | None:
    """Refuse to lose more than a share of the clusters of a placement, or of the member list.

    Args:
        what: what would lose them, as ``placement web`` or ``the member list``.
        before: clusters by name, as last decided.
        after: clusters as decided now.
        limit: the share, from 0 to 1, that may be lost at once; half by default. One cluster always may.
        confirm: tokens of losses that are meant. A token fits this loss alone.

    Returns:
        The refusal, whose hint names the token; None when the update may go on.
    """
    lost = sorted(set(before) - set(after))
    if len(lost) < _AT_LEAST or len(lost) <= limit * len(set(before)):
        return None
    token = loss_token(what, lost)
    if token in confirm:
        return None
    shown = ", ".join(lost[:_SHOWN]) + (", ..." if len(lost) > _SHOWN else "")
    return Problem(
        f"{what} would lose {len(lost)} of {len(set(before))} clusters ({shown}), more than the {limit:.0%} allowed",
        hint=f"if that is meant, allow exactly this once: fleet:confirm={token}",
    )


def loss_token(what: str, lost: Collection[str]) -> str:
    """A short stable hash of what would be lost."""
    return hashlib.sha256("\n".join((what, *sorted(lost))).encode()).hexdigest()[:8]
