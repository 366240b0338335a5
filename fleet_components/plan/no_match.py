"""Describe what policies ask for in vain, and what exists instead, for members and for objects
alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.selector import LabelIndex, LabelSelector, Requirement
from fleet_components.model.text import Vocabulary, count, few
from fleet_components.scheduler.explain import show_requirement

_VALUES_SHOWN = 10
_NEAR = 0.6
"""Similarity at which a name counts as a misspelling: names are short, so two swapped letters must
pass.
"""


class NoMatch(NamedTuple):
    """A request that matches nothing.

    Attributes:
        path: the field.
        message: what is missing.
        hint: what was probably meant, and what exists.
    """

    path: FieldPath
    message: Message
    hint: str = ""


def problems_of(manifest: Manifest, found: Iterable[NoMatch]) -> Iterator[Problem]:
    """Return a problem for each, with file and line of the object that asks for it."""
    return (manifest.problem(item.message, item.path, item.hint) for item in found)


def located(path: FieldPath, selector: LabelSelector) -> Iterator[tuple[FieldPath, Requirement]]:
    """Yield the requirements of a selector, each with its own field path."""
    equal, expressions = (
        selector.requirements()[: len(selector.match_labels)],
        selector.match_expressions,
    )
    yield from (((*path, "matchLabels", requirement.key), requirement) for requirement in equal)
    yield from (
        ((*path, "matchExpressions", index), expression)
        for index, expression in enumerate(expressions)
    )


def meant(word: str, known: Vocabulary, there_is: str) -> str:
    """Return a hint such as ``did you mean "web"? there is: db, web``.

    Args:
        word: what was written.
        known: what exists.
        there_is: the words before the list, such as ``there is``.
    """
    near = near_name(word, known)
    return " ".join(
        [
            *([f'did you mean "{near}"?'] if near else []),
            f"{there_is}: {few(known.words) or 'none'}",
        ]
    )


def near_name(word: str, known: Vocabulary) -> str:
    """Return the name that was probably meant: the nearest, or the only one that contains the word;
    empty if none.
    """
    return known.near(word, _NEAR)


def values_of_label(key: str, labels: LabelIndex, whose: str = "the members") -> str:
    """Return the values that exist for a label, the most frequent first; or that none has the
    label.
    """
    counted = labels.values.get(key)
    if counted:
        return values(key, counted, whose)
    near = labels.keys.nearest(key, _NEAR)
    return f"the label {key} is on none of them" + (f"; did you mean {near}?" if near else "")


def values(key: str, counted: Sequence[tuple[str, int]], whose: str = "the members") -> str:
    """Return a hint such as ``for region the members have europe (2), america (1)``."""
    shown = [f"{value} ({number})" for value, number in counted[:_VALUES_SHOWN]]
    more = len(counted) - _VALUES_SHOWN
    return f"for {key} {whose} have {', '.join(shown)}" + (
        f" and {count(more, 'more value')}" if more > 0 else ""
    )


def missing_labels(
    selectors: Iterable[LabelSelector | None], members: Sequence[Cluster]
) -> list[str]:
    """Return a line for each unmet requirement: ``no member has region=asia; the members have
    europe (2)``.

    Args:
        selectors: the selectors, one of which must match; None matches every member.
        members: the members.

    Returns:
        The lines; empty if a selector matches a member.
    """
    asked = [selector.requirements() if selector else () for selector in selectors]
    if not members or any(
        all(requirement.met_by(member.labels) for requirement in every)
        for every in asked
        for member in members
    ):
        return []
    unmet = dict.fromkeys(
        requirement
        for every in asked
        for requirement in every
        if not any(requirement.met_by(m.labels) for m in members)
    )
    labels = LabelIndex([member.labels for member in members])
    return [
        f"no member has {show_requirement(requirement)}; {values_of_label(requirement.key, labels)}"
        for requirement in unmet
    ]
