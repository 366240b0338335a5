"""What members have where a required affinity asks for labels that none of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from fleet_components.model.cluster import Cluster
from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.model.text import count
from fleet_components.scheduler.explain import show_requirement

_SHOWN = 10


def missing_labels(selectors: Iterable[LabelSelector | None], members: Sequence[Cluster]) -> list[str]:
    """``no member has region=asia; the members have europe (2), america (1)``, a line a requirement.

    Args:
        selectors: the selectors, one of which must match; None matches every member.
        members: the members.

    Returns:
        The lines; none while a selector matches a member.
    """
    asked = [selector.requirements() if selector else () for selector in selectors]
    if not members or any(all(_meets(member, one) for one in every) for every in asked for member in members):
        return []
    unmet = dict.fromkeys(one for every in asked for one in every if not any(_meets(m, one) for m in members))
    return [f"no member has {show_requirement(one)}; {_instead(one.key, members)}" for one in unmet]


def _meets(member: Cluster, requirement: Requirement) -> bool:
    return requirement.valid and requirement.matches(member.labels)


def _instead(key: str, members: Sequence[Cluster]) -> str:
    """The values that the members have for the label, the most frequent first."""
    values = Counter(member.labels[key] for member in members if key in member.labels)
    if not values:
        near = get_close_matches(key, {known for member in members for known in member.labels}, 1)
        return f"the label {key} is on none of them" + (f"; did you mean {near[0]}?" if near else "")
    shown = [f"{value} ({times})" for value, times in sorted(values.items(), key=lambda item: (-item[1], item[0]))]
    more = len(shown) - _SHOWN
    further = f" and {count(more, 'more value')}" if more > 0 else ""
    return f"for {key} the members have {', '.join(shown[:_SHOWN])}{further}"
