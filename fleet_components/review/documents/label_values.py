"""Hints for required affinities with labels that no member has: the values that the members do have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet_components.model.cluster import Cluster
from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.plan.vain import values_of_label
from fleet_components.scheduler.explain import show_requirement


def missing_labels(selectors: Iterable[LabelSelector | None], members: Sequence[Cluster]) -> list[str]:
    """Return a line for each unmet requirement: ``no member has region=asia; the members have europe (2)``.

    Args:
        selectors: the selectors, one of which must match; None matches every member.
        members: the members.

    Returns:
        The lines; empty if a selector matches a member.
    """
    asked = [selector.requirements() if selector else () for selector in selectors]
    if not members or any(all(_meets(member, one) for one in every) for every in asked for member in members):
        return []
    unmet = dict.fromkeys(one for every in asked for one in every if not any(_meets(m, one) for m in members))
    labels = [member.labels for member in members]
    return [f"no member has {show_requirement(one)}; {values_of_label(one.key, labels)}" for one in unmet]


def _meets(member: Cluster, requirement: Requirement) -> bool:
    return requirement.valid and requirement.matches(member.labels)
