"""Weight of what happens to a placement or template: what a reviewer has to see first."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change


class Weight(StrEnum):
    """Gravest part of what happens to a subject; in the order in which subjects are shown."""

    REFUSED = "refused"
    LOST = "lost"
    UNFULFILLED = "unfulfilled"
    MOVED = "moved"
    UPDATED = "updated"
    HELD = "held"
    RECORDED = "recorded"
    UNCHANGED = "unchanged"

    @property
    def order(self) -> int:
        """Position among all weights, from 0 for the gravest."""
        return list(Weight).index(self)

    @property
    def picks(self) -> bool:
        """True where it is a question of which members are picked, and of why others are not."""
        return self.order <= Weight.MOVED.order or self is Weight.RECORDED


# What is kept on its member, or moves to another subject, is not lost.
_LOSSES = (Fate.DELETED, Fate.FORGOTTEN, *UNRECORDED)
_CHANGES = {Change.ADD: Weight.MOVED, Change.UPDATE: Weight.UPDATED, Change.HELD: Weight.HELD}


def weight_of(plan: FleetPlan, decided: Decided, standing: Collection[str] = ()) -> Weight:
    """Return the weight of what a plan does to a subject.

    Args:
        plan: the plan.
        decided: the subject.
        standing: the conditions that it is in already, see
            :mod:`fleet_components.review.planning.standing`. They count only where nothing else
            happens.
    """
    weight = _weight(plan, decided, standing)
    return (
        min(map(Weight, standing), key=lambda item: item.order)
        if standing and weight is Weight.UNCHANGED
        else weight
    )


def is_as_before(weight: str, standing: Collection[str]) -> bool:
    """Return whether the weight of a subject is a condition that it has already, so that nothing
    else happens.
    """
    return weight in standing


def _weight(plan: FleetPlan, decided: Decided, standing: Collection[str]) -> Weight:
    changes = {entry.change for entry in decided.entries.values()}
    # What is held already is no news; anything else that happens still counts.
    changes -= {Change.HELD} if Weight.HELD in standing else set()
    leaving, replacing = plan.leaving.get(decided.name, ()), plan.replacing.get(decided.name, ())
    if _refused(plan, decided):
        return Weight.REFUSED
    if (
        Change.REMOVE in changes
        or replacing
        or any(departure.fate in _LOSSES for departure in leaving)
    ):
        return Weight.LOST
    if decided.outcome.unfulfilled and Weight.UNFULFILLED not in standing:
        return Weight.UNFULFILLED
    if leaving:
        return Weight.MOVED
    found = [_CHANGES[change] for change in changes & _CHANGES.keys()]
    if found:
        return min(found, key=lambda weight: weight.order)
    # Nothing is decided anew, but the last update broke: this one writes the rest.
    if plan.is_unfinished(decided):
        return Weight.UPDATED
    if decided.outcome.untaken and Weight.HELD not in standing:
        return Weight.HELD
    return Weight.RECORDED if decided.changes or plan.asks_otherwise(decided) else Weight.UNCHANGED


def _refused(plan: FleetPlan, decided: Decided) -> bool:
    """Return whether a refusal names the subject, what it is counted under, or an object that
    leaves it.
    """
    about = {problem.subject for problem in plan.refused}
    if not about:
        return False
    leaving, replacing = plan.leaving.get(decided.name, ()), plan.replacing.get(decided.name, ())
    # A refusal may count the loss under the policy that several subjects share.
    known = {decided.name, decided.before.guarded_as(decided.name)}
    return not about.isdisjoint(known.union(str(item.key) for item in (*leaving, *replacing)))
