"""Selectors of policies that match nothing in an observed directory: the hub may have what they select."""

from __future__ import annotations

import attrs

from fleet_components.model.problem import Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided

_SELECTORS = ("spec", "resourceSelectors")
_HINT = "the observation knows nothing of such an object: add its file, or fleet observe --update once this is applied"


def with_unseen(plan: FleetPlan) -> FleetPlan:
    """Return a plan that warns of what its policies select and nobody has observed, since a hub may select it.

    Args:
        plan: a plan that starts from an observed hub, of which only what policies select is observed.
    """
    subjects = tuple(_of_subject(one).by_hub() for one in plan.subjects)
    return attrs.evolve(plan, subjects=subjects, warnings=tuple(map(_hinted, plan.warnings)))


def _of_subject(one: Decided) -> Decided:
    warnings = tuple(map(_hinted, one.subject.warnings))
    if warnings == one.subject.warnings:
        return one
    return attrs.evolve(one, subject=attrs.evolve(one.subject, warnings=warnings))  # type: ignore[misc]


def _hinted(problem: Problem) -> Problem:
    """Return a warning about a selector with the hint that helps where only a part of a hub is known."""
    if problem.path[:2] != _SELECTORS:
        return problem
    return attrs.evolve(problem, hint="; ".join(filter(None, [problem.hint, _HINT])))
