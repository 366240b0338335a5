"""Refuses what would delete objects because they go another way than until now: from members to a hub, or back."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.ways import NAMES

_KEPT_FIRST = (
    "let it stay direct for one update that keeps its objects, with deleteStrategy: {propagationPolicy: Abandon} of a "
    "placement or preserveResourcesOnDeletion: true of a policy; then they stay where they are, and the hub takes them"
)
_RELEASED_FIRST = "the hub deletes what it has placed when it goes from there: take its marks off the members first"


def moved_over(plan: FleetPlan) -> Iterator[Problem]:
    """Yield the subjects whose objects would be deleted on members, to be made anew by another way.

    What stays on its members when it leaves the stack, or the hub, may move.
    """
    before = plan.past.forecast
    for manifest in plan.consignment.hidden:
        if manifest.key in plan.past.on_hub:
            what = "the source hides its data, and without it the hub would lose what this stack has sent there"
            yield manifest.problem(what, (), "write it as it is, or fleet observe --secrets")
    for one in plan.subjects:
        stands = [it for member in one.subject.done for it in plan.standing_of.get((one.name, member), ())]
        losing = sorted({it.cluster for it in stands if not it.kept and it.hub != bool(one.hub)})
        if not losing:
            continue
        if one.hub and one.name not in before:
            what = (
                f"is to go through a hub of {NAMES[one.hub]}, and its objects would be deleted on {few(losing)} first"
            )
            yield Problem(what, subject=one.name, hint=_KEPT_FIRST)
        elif not one.hub and one.name in before:
            what = f"leaves its hub of {NAMES[before[one.name]]}, which would delete its objects on {few(losing)}"
            yield Problem(what, subject=one.name, hint=_RELEASED_FIRST)
