"""Fields of an object that override rules change, each with the rule that has set it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.difference import Difference, shown_differences
from fleet_components.content.overridden import Object, Overridden, Step
from fleet_components.content.structure import Misfit, misfits
from fleet_components.model.manifest import value_at
from fleet_components.model.problem import FieldPath


@attrs.frozen
class Attributed:
    """One field that override rules change.

    Attributes:
        difference: the field without and with the rules; without values if they are secret.
        step: the last rule that has touched it.
    """

    difference: Difference
    step: Step


def attributed(data: Object, result: Overridden) -> Iterator[Attributed]:
    """Yield the fields that rules change in an object that they leave there.

    Args:
        data: the object before the rules.
        result: what they make of it.
    """
    if result.data is None:
        return
    states = [data, *(step.data for step in result.steps)]
    for difference in shown_differences(data, result.data):
        yield from _attributed(difference, states, result.steps)


def last_touching(path: FieldPath, data: Object, steps: Sequence[Step]) -> Step | None:
    """Return the last step that has touched a field; None if none has."""
    touching = _touching(path, [data, *(step.data for step in steps)], steps)
    return touching[-1] if touching else None


def first_misfit(data: Object, result: Overridden) -> tuple[Step, Misfit] | None:
    """Return the first field that rules make what no API server takes there, with the last rule that
    has touched it; None if there is none.

    A field that Kubernetes 1.36 does not have is none of these: a later release may have it.
    """
    if result.data is None or result.data is data or not result.steps:
        return None
    found = [one for one in misfits(result.data) if one.expected]
    already = set(misfits(data)) if found else set()
    for one in found:
        if one not in already:
            return last_touching(one.path, data, result.steps) or result.steps[-1], one
    return None


def _attributed(difference: Difference, states: Sequence[Any], steps: Sequence[Step]) -> Iterator[Attributed]:
    touching = _touching(difference.path, states, steps)
    if len(touching) > 1 and isinstance(difference.old or difference.new, Mapping):
        # A map that comes or goes as a whole, and that several rules have written.
        for part in _parts(difference):
            yield from _attributed(part, states, steps)
    elif touching:
        yield Attributed(difference, touching[-1])


def _touching(path: FieldPath, states: Sequence[Any], steps: Sequence[Step]) -> list[Step]:
    values = [value_at(state, path) for state in states]
    return [step for step, was, now in zip(steps, values, values[1:], strict=False) if was != now]


def _parts(difference: Difference) -> Iterator[Difference]:
    old, new = ({} if side is None else side for side in (difference.old, difference.new))
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return
    for key in sorted(old.keys() | new.keys()):
        yield Difference((*difference.path, key), old.get(key), new.get(key))
