"""Fields of an object that override rules change, each with the rule that has set it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from fleet_components.content.difference import Difference, shown_differences
from fleet_components.content.overridden import AppliedRule, Object, Overridden
from fleet_components.content.structure import Misfit, misfits
from fleet_components.model.manifest import value_at
from fleet_components.model.problem import FieldPath

# Not None, which may be the value of a field.
_ABSENT = object()


@attrs.frozen
class Attributed:
    """One field that override rules change.

    Attributes:
        difference: the field without and with the rules; without values if they are secret.
        step: the last rule that has touched it.
    """

    difference: Difference
    step: AppliedRule


def attributed(data: Object, result: Overridden) -> Iterator[Attributed]:
    """Yield the fields that rules change in an object that they leave there.

    Args:
        data: the object before the rules.
        result: what they make of it.
    """
    if result.data is None:
        return
    touches = _Touches.of(data, result.steps)
    for difference in shown_differences(data, result.data):
        yield from _attributed(difference, touches)


def last_touching(
    path: FieldPath, data: Object, steps: Sequence[AppliedRule]
) -> AppliedRule | None:
    """Return the last step that has touched a field; None if none has."""
    touching = _Touches.of(data, steps).touching(path)
    return touching[-1] if touching else None


def first_misfit(data: Object, result: Overridden) -> tuple[AppliedRule, Misfit] | None:
    """Return the first field that rules make what no API server takes there, with the last rule
    that has touched it; None if there is none.

    A field that Kubernetes 1.36 does not have is not among these: a later release may have it.
    """
    if result.data is None or result.data is data or not result.steps:
        return None
    found = [misfit for misfit in misfits(result.data) if misfit.expected]
    # What was wrong before the rules is not their mistake.
    already = set(misfits(data)) if found else set()
    for misfit in found:
        if misfit not in already:
            return last_touching(misfit.path, data, result.steps) or result.steps[-1], misfit
    return None


def _attributed(difference: Difference, touches: _Touches) -> Iterator[Attributed]:
    touching = touches.touching(difference.path)
    # Part by part, so that each part names the rule that has set it.
    if len(touching) > 1 and isinstance(difference.old or difference.new, Mapping):
        # A map that comes or goes as a whole, and that several rules have written.
        for part in _parts(difference):
            yield from _attributed(part, touches)
    elif touching:
        yield Attributed(difference, touching[-1])


@attrs.frozen
class _Touches:
    """The fields that each rule may have changed, found once for all of an object's fields.

    Attributes:
        states: the object before the rules, and after each.
        steps: the rules.
        at: numbers of the rules, by a field that changed as a whole.
        below: numbers of the rules, by a field that changed, or something in it.
    """

    states: Sequence[Any]
    steps: Sequence[AppliedRule]
    at: Mapping[FieldPath, Sequence[int]]
    below: Mapping[FieldPath, Sequence[int]]

    @classmethod
    def of(cls, data: Object, steps: Sequence[AppliedRule]) -> _Touches:
        """Return what each of some rules, in their order, may have changed."""
        states = [data, *(step.data for step in steps)]
        at, below = defaultdict[FieldPath, list[int]](list), defaultdict[FieldPath, list[int]](list)
        for number, (was, now) in enumerate(pairwise(states)):
            for path in _unshared(was, now):
                at[path].append(number)
                # With the field itself, and with the empty path of the whole object.
                for end in range(len(path) + 1):
                    below[path[:end]].append(number)
        return cls(states, steps, at, below)

    def touching(self, path: FieldPath) -> list[AppliedRule]:
        """Return the rules that have changed a field, in their order."""
        above = (number for end in range(len(path)) for number in self.at.get(path[:end], ()))
        return [
            self.steps[number]
            for number in sorted({*self.below.get(path, ()), *above})
            if value_at(self.states[number], path) != value_at(self.states[number + 1], path)
        ]


def _unshared(was: Any, now: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the fields that two states of an object do not share: all that differ, and perhaps
    others.
    """
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in [
            key
            # By identity: a patch shares what it does not change, and a comparison takes long.
            for key in was.keys() | now.keys()
            if was.get(key, _ABSENT) is not now.get(key, _ABSENT)
        ]:
            yield from _unshared(was.get(key, _ABSENT), now.get(key, _ABSENT), (*path, key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (before, after) in enumerate(zip(was, now, strict=True)):
            if before is not after:
                yield from _unshared(before, after, (*path, index))
    elif was is not now:
        yield path


def _parts(difference: Difference) -> Iterator[Difference]:
    old, new = ({} if side is None else side for side in (difference.old, difference.new))
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return
    for key in sorted(old.keys() | new.keys()):
        yield Difference((*difference.path, key), old.get(key), new.get(key))
