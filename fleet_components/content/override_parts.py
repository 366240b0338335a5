"""Parts of an override: its rules, their operations, and the pieces of these. Each may be left out,
which shows whether it has an effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.problem import FieldPath


@attrs.frozen(eq=False)
class Part:
    """A part of an override. Compared by identity.

    Attributes:
        override: the override, as ``Kind namespace/name``.
        rule: position of its rule in the override, from 0.
        rule_path: the field of the rule.
        path: its field in the override.
        written: what is written there.
        parts: the parts that it consists of; none or several, since a single one stands for both.
        is_rule: True if it is all that its rule consists of.
        field: the field of an object that it writes at most, without what is above it; empty for
            any.
        neutral: what takes its place where it is left out; None to take it out of its list or map.
    """

    override: str
    rule: int
    rule_path: FieldPath
    path: FieldPath
    written: Any = attrs.field(repr=False)
    parts: tuple[Part, ...] = ()
    is_rule: bool = False
    field: tuple[str, ...] = ()
    neutral: Mapping[str, Any] | None = None

    @property
    def all(self) -> Iterator[Part]:
        """The part, and all parts below it."""
        yield self
        for part in self.parts:
            yield from part.all

    def below(self, steps: FieldPath, written: Any, field: Iterable[str] = ()) -> Part:
        """Return a part of it, which writes a field."""
        return Part(
            self.override,
            self.rule,
            self.rule_path,
            (*self.path, *steps),
            written,
            field=tuple(field),
        )

    def left_out_of(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the override without the part. The positions of other rules stay as they are."""
        made: Mapping[str, Any] = _without(data, self.path, self.neutral)
        return made


def whole(rule: Part, parts: tuple[Part, ...]) -> Part:
    """Return a rule that consists of parts; the part itself if there is only one."""
    # A single part stands for its rule as well, so that it is tried only once.
    made = parts[0] if len(parts) == 1 else attrs.evolve(rule, parts=parts)
    return attrs.evolve(made, is_rule=True)


def _without(data: Any, path: FieldPath, neutral: Mapping[str, Any] | None) -> Any:
    """Return a value without what stands at a path, or with something else there."""
    step, *rest = path
    copy: Any = dict(data) if isinstance(data, Mapping) else list(data)
    if rest:
        copy[step] = _without(data[step], tuple(rest), neutral)
    elif neutral is None:
        del copy[step]
    else:
        copy[step] = neutral
    return copy


def left_out(data: Mapping[str, Any], parts: Iterable[Part]) -> Mapping[str, Any]:
    """Return an override without some parts, of which none is a part of another."""
    # From the last to the first, so that those that are left keep their positions. Padded with
    # zeros, since positions are compared as text.
    for part in sorted(
        parts, key=lambda item: [str(step).zfill(6) for step in item.path], reverse=True
    ):
        data = part.left_out_of(data)
    return data
