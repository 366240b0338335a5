"""Words for what an observed directory does not show: the hub may have what policies select, and what it sent."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fleet_components.hub.folder.reading import Remembered
from fleet_components.model.problem import Problem
from fleet_components.plan.asked_objects import UNSEEN
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.record import LACKS_HINT, LACKS_HINT_ON_HUB
from fleet_components.plan.subject import Decided

_SELECTORS = ("spec", "resourceSelectors")
_HINT = "the observation knows nothing of such an object: add its file, or fleet observe --update once this is applied"


def with_unseen(plan: FleetPlan) -> FleetPlan:
    """Return a plan that warns of what its policies select and nobody has observed, since a hub may
    select it.

    Args:
        plan: a plan that starts from an observed hub, of which only what policies select is
            observed.
    """
    subjects = tuple(_of_subject(subject).by_hub() for subject in plan.subjects)
    return attrs.evolve(plan, subjects=subjects, warnings=tuple(map(_hinted, plan.warnings)))


def new_selectors(plans: Iterable[FleetPlan], observed: Remembered) -> tuple[str, ...]:
    """Return the policies that were not observed and select what was not: the hub may have more of
    it.

    What a policy selected when it was observed is in the observation, so that it may well select
    nothing.
    """
    found = (
        problem
        for plan in plans
        for problem in (
            *plan.warnings,
            *(each for subject in plan.subjects for each in subject.subject.warnings),
        )
        if UNSEEN in problem.what
    )
    written = {str(observed.folder / path) for path in observed.written}
    return tuple(sorted({problem.subject for problem in found if problem.file not in written}))


def for_hub(problem: Problem) -> Problem:
    """Return a problem with the hint that helps where a plan starts from an observed hub instead of a state."""
    if problem.hint != LACKS_HINT:
        return problem
    what = problem.what.replace("the state ", "the observation ")
    return attrs.evolve(problem, what=what, hint=LACKS_HINT_ON_HUB)


def _of_subject(decided: Decided) -> Decided:
    warnings = tuple(map(_hinted, decided.subject.warnings))
    if warnings == decided.subject.warnings:
        return decided
    return attrs.evolve(decided, subject=attrs.evolve(decided.subject, warnings=warnings))  # type: ignore[misc]


def _hinted(problem: Problem) -> Problem:
    """Return a warning about a selector with the hint that helps where only a part of a hub is known."""
    if problem.path[:2] != _SELECTORS or problem.what.endswith(UNSEEN):
        return problem
    return attrs.evolve(problem, hint="; ".join(filter(None, [problem.hint, _HINT])))
