"""Differences that overrides make on one member: its objects against those without overrides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs

from fleet_components.content.attribution import attributed
from fleet_components.content.difference import Difference
from fleet_components.content.overridden import AppliedRule, Overridden
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.record import Objects

Place = Callable[[str, int], str]
"""Returns where a rule is written, by its override and its position; empty if it is not any
more.
"""


@attrs.frozen
class WrittenRule:
    """One rule of an override.

    Attributes:
        override: the override, as ``Kind namespace/name``.
        position: position in the override, from 0.
        source: file and line; empty if it is not in the source any more.
    """

    override: str
    position: int
    source: str = ""


@attrs.frozen
class OverriddenField:
    """One field that overrides change, and the rule that has set it."""

    difference: Difference
    rule: WrittenRule


@attrs.frozen
class Deviation:
    """One object that overrides change on a member.

    Attributes:
        key: its key without overrides.
        fields: the fields that change, by path; empty if the object is deleted.
        deleted: the rule that deletes it; None if none does.
    """

    key: ObjectKey
    fields: tuple[OverriddenField, ...] = ()
    deleted: WrittenRule | None = None

    @property
    def rules(self) -> Iterator[WrittenRule]:
        """The rules behind it."""
        yield from (field.rule for field in self.fields)
        yield from [self.deleted] if self.deleted else []


def deviations(
    objects: Objects, results: Sequence[Overridden], place: Place
) -> tuple[Deviation, ...]:
    """Return what overrides change, by object; objects that stay as they are without them are left
    out.

    Args:
        objects: the objects before the overrides.
        results: what these make of each.
        place: where rules are written.
    """
    found = []
    for data, result in zip(objects, results, strict=True):
        key = Manifest(data).key
        # Without steps no rule has deleted the object: one has failed.
        if result.data is None and result.steps:
            # No rule comes after one that deletes the object.
            found.append(Deviation(key, deleted=_rule(result.steps[-1], place)))
        elif fields := tuple(
            OverriddenField(item.difference, _rule(item.step, place))
            for item in attributed(data, result)
        ):
            found.append(Deviation(key, fields))
    return tuple(sorted(found, key=lambda deviation: deviation.key))


def _rule(step: AppliedRule, place: Place) -> WrittenRule:
    return WrittenRule(step.override, step.rule, place(step.override, step.rule))
