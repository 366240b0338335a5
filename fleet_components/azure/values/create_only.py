"""Fields that Azure accepts only when a resource is created, and the errors for changes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.problem import Problem

HUB, MEMBER = "hub", "member"

_NEW_FLEET = "declare a second hub under another name, move the members over, then remove this one"
_NEW_MEMBER = "declare a member under another name and remove this one: placements move over"
_NEW_POOL = "declare a pool under another name and remove this one"
_SECOND_SYSTEM_POOL = "add another pool of mode System and keep this one small: it lives as long as the cluster"


@attrs.frozen
class Rule:
    """A rule for fields that cannot change.

    Attributes:
        thing: a pattern for the path of the created resource; the rule applies to it and to all fields below it.
        way_out: advice on what to do instead of changing the fields.
        may_come: the resource itself may be added later.
        may_go: the resource itself may be removed.
    """

    thing: str
    way_out: str
    may_come: bool = False
    may_go: bool = False


RULES = {
    HUB: (Rule("hub", _NEW_FLEET, may_come=True), Rule("[^.]+", _NEW_FLEET)),
    MEMBER: (
        Rule(r"pools\.[^.]+", _NEW_POOL, may_come=True, may_go=True),
        Rule("systemPool", _SECOND_SYSTEM_POOL),
        # Older versions did not record it, and a program need not know it.
        Rule("subscription", _NEW_MEMBER, may_come=True, may_go=True),
        Rule("[^.]+", _NEW_MEMBER),
    ),
}
"""Rules by kind of resource; the first rule that matches a field applies."""


def refuse_changes(old: Mapping[str, Any], new: Mapping[str, Any], rules: tuple[Rule, ...]) -> tuple[Problem, ...]:
    """Return a problem for each change of a field that cannot change, with both values and what to do instead."""
    problems = []
    for path, before, after in _changes("", old, new):
        rule = next(rule for rule in rules if re.match(rf"{rule.thing}(\.|$)", path))
        is_thing = re.fullmatch(rule.thing, path)
        if is_thing and ((before is None and rule.may_come) or (after is None and rule.may_go)):
            continue
        what = f"{path} cannot change from {_shown(before)} to {_shown(after)}"
        problems.append(Problem(what, hint=f"it is fixed at creation; {rule.way_out}"))
    return tuple(problems)


def _changes(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _changes(f"{path}.{key}".lstrip("."), before.get(key), after.get(key))
    elif before != after:
        yield path, before, after


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "nothing" if value is None else json.dumps(value)
