"""What Azure takes only when it creates something, and how a change of it is refused."""

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
    """What is held of some fields.

    Attributes:
        thing: a pattern for the path of what is created; it and all fields below it are held.
        way_out: what to do instead of changing them.
        may_come: the thing itself may be added later.
        may_go: the thing itself may be removed.
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
        Rule("[^.]+", _NEW_MEMBER),
    ),
}
"""By kind of thing; the first rule that fits a field holds for it."""


def refuse_changes(old: Mapping[str, Any], new: Mapping[str, Any], rules: tuple[Rule, ...]) -> tuple[Problem, ...]:
    """A problem for each held field that is to change, with the old value, the new one and the way out."""
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
