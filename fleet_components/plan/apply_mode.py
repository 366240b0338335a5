"""Modes of writing objects to members: one form for KubeFleet's apply strategies and Karmada's
conflict resolution.
"""

from __future__ import annotations

from enum import StrEnum

import attrs


class TakeOver(StrEnum):
    """Treatment of an object that somebody else has made, and that is on a member already."""

    ALWAYS = "Always"
    IF_NO_DIFF = "IfNoDiff"
    NEVER = "Never"


@attrs.frozen
class ApplyMode:
    """Mode in which the objects of a delivery are written.

    Attributes:
        takes_over: which of the objects that are there already are taken over; the others are
            refused.
        forces: True to overwrite fields that others have set, False to fail on them.
        reports: True to write nothing, and to report what differs.
        full: True to compare all fields of an object, False only those that are sent.
        stops_at_drift: True to leave an object alone that somebody has changed, until the source
            changes it.
        co_owned: True to write objects that have owners on the member.
    """

    takes_over: TakeOver = TakeOver.ALWAYS
    forces: bool = True
    reports: bool = False
    full: bool = False
    stops_at_drift: bool = False
    co_owned: bool = True

    @property
    def at_drift(self) -> ApplyMode:
        """The mode as far as it says what of a standing object is drift, and what becomes of
        that.
        """
        return ApplyMode(forces=self.forces, full=self.full, stops_at_drift=self.stops_at_drift)

    @property
    def adopts(self) -> bool:
        """True if anything that is there already is taken over."""
        return self.takes_over is not TakeOver.NEVER


OVERWRITES = ApplyMode()
"""Karmada's ``conflictResolution: Overwrite``."""
ABORTS = ApplyMode(takes_over=TakeOver.NEVER)
"""Karmada's ``conflictResolution: Abort``: an object that is on a member already is refused."""
ABANDON = "Abandon"
