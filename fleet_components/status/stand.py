"""States of objects and members in one word, for people: what of a status has to be looked at
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.rollout.rollout import Change, Entry
from fleet_components.status.last import NOT_BEGUN


class Stand(StrEnum):
    """State of an object on a member, or of all objects of a placement there: the worst comes
    first.
    """

    REFUSED = "refused"
    NOT_TAKEN_OVER = "not taken over"
    NOT_COMPARED = "not compared"
    UNREACHED = "not reached"
    UNFINISHED = "unfinished"
    UNREADY = "not ready"
    UNDELETED = "not deleted"
    MISSING = "missing"
    UNRECORDED = "not recorded"
    NOT_BEGUN = "not begun"
    HELD = "held"
    LEAVING = "leaving"
    DRIFTED = "drifted"
    DIFFERENT = "differs"
    STANDS = "available"

    @property
    def broken(self) -> bool:
        """True if something went wrong."""
        return self in _BROKEN

    @property
    def settled(self) -> bool:
        """True if nothing more is to be done or to be waited for."""
        return self in _SETTLED


_BROKEN = (
    Stand.REFUSED,
    Stand.NOT_TAKEN_OVER,
    Stand.NOT_COMPARED,
    Stand.UNREACHED,
    Stand.UNFINISHED,
    Stand.UNREADY,
    Stand.UNDELETED,
    Stand.MISSING,
)
_SETTLED = (Stand.DRIFTED, Stand.DIFFERENT, Stand.STANDS)
_WORST_FIRST = list(Stand)
_FAILED: Mapping[str, Stand] = {
    "ManifestApplyFailed": Stand.REFUSED,
    "FailedToTakeOver": Stand.NOT_TAKEN_OVER,
    "NotTakenOver": Stand.NOT_TAKEN_OVER,
    "FoundDrifts": Stand.DRIFTED,
    "FoundDriftsInDegradedMode": Stand.DRIFTED,
    "FailedToRunDriftDetection": Stand.NOT_COMPARED,
}
_COMPARED: Mapping[str, Stand] = {
    "NoDiffFound": Stand.STANDS,
    "FoundDiff": Stand.DIFFERENT,
    "FoundDiffInDegradedMode": Stand.DIFFERENT,
    "FailedToReportDiff": Stand.NOT_COMPARED,
}


def stand_of(found: ObservedObject) -> Stand:
    """Return the state of an object."""
    if found.leaving:
        return Stand.UNDELETED if found.error or found.causes else Stand.LEAVING
    if found.compared:
        return _COMPARED[found.compared]
    if found.applied in _FAILED:
        return _FAILED[found.applied]
    if found.applied == "Applied":
        if found.available == "ManifestNotAvailableYet":
            return Stand.UNREADY
        return Stand.DRIFTED if found.differences else Stand.STANDS
    if found.absent:
        return Stand.MISSING
    return Stand.UNREACHED if found.error else Stand.UNFINISHED if found.causes else Stand.MISSING


def stand_on(member: ObservedMember, entry: Entry | None) -> Stand:
    """Return the state of a placement or template on a member.

    Args:
        member: what is known of its objects there.
        entry: what the last update did, or was to do, there.
    """
    if member.unreached:
        return Stand.UNREACHED
    worst = min(
        map(stand_of, member.objects.values()), key=_WORST_FIRST.index, default=Stand.STANDS
    )
    if entry is None or (worst.broken and worst is not Stand.MISSING):
        return worst
    if worst is Stand.LEAVING and entry.change is Change.KEEP:
        return worst
    match entry.change:
        case Change.REMOVE:
            return Stand.LEAVING
        case Change.HELD:
            return Stand.NOT_BEGUN if entry.reason == NOT_BEGUN else Stand.HELD
        case Change.ADD | Change.UPDATE:
            # The binding comes last, once all objects stand.
            return Stand.UNRECORDED if worst.settled else Stand.UNFINISHED
    return worst
