"""Fields that Azure accepts only when a resource is created, and the errors for changes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.problem import Problem

HUB, MEMBER = "hub", "member"

_NEW_FLEET = "declare a second hub under another name, move the members over, then remove this one"
_NEW_MEMBER = "declare a member under another name and remove this one: placements move over"
_NEW_POOL = "declare a pool under another name and remove this one"
_SECOND_SYSTEM_POOL = "add another pool of mode System and keep this one small: it lives as long as the cluster"
_INTEGRATED = "VNet integration of the API server cannot be switched off, nor its subnet be changed"
_LEFT_OUT = "Azure may keep what a request does not name; switch it off first, by enabled: false, false or {}"
_PROXY = "a request cannot take a proxy away; change it, or declare a member under another name"


@attrs.frozen
class Change:
    """The change of one field.

    Attributes:
        path: the field.
        before: its value so far.
        after: its value from now on.
    """

    path: str
    before: Any
    after: Any


@attrs.frozen
class Rule:
    """A rule for fields that cannot change.

    Attributes:
        thing: a pattern for the path of the created resource; the rule applies to it and to all fields below it.
        way_out: what holds and what to do instead of changing the fields.
        allows: whether Azure makes a change; by default it makes none.
        may_come: the resource itself may be added later.
        may_go: the resource itself may be removed.
    """

    thing: str
    way_out: str
    allows: Callable[[Change], bool] = lambda _: False
    may_come: bool = False
    may_go: bool = False


_FIXED = "it is fixed at creation; "
_FEATURES = (
    Rule("features", _LEFT_OUT, lambda change: change.before != "on" or change.after is not None),
    Rule("httpProxy", _PROXY, lambda change: change.after is not None),
    Rule(r"apiServer\.(vnetIntegration|subnet)", _INTEGRATED, lambda change: not change.before),
)
RULES = {
    HUB: (Rule("hub", _FIXED + _NEW_FLEET, may_come=True), Rule("[^.]+", _FIXED + _NEW_FLEET)),
    MEMBER: (
        Rule(r"pools\.[^.]+", _FIXED + _NEW_POOL, may_come=True, may_go=True),
        Rule("systemPool", _FIXED + _SECOND_SYSTEM_POOL),
        *_FEATURES,
        Rule("[^.]+", _FIXED + _NEW_MEMBER),
    ),
}
"""Rules by kind of resource; the first rule that matches a field applies."""


def refuse_changes(old: Mapping[str, Any], new: Mapping[str, Any], rules: tuple[Rule, ...]) -> tuple[Problem, ...]:
    """Return a problem for each change of a field that cannot change, with both values and what to do instead."""
    problems = []
    for change in _changes("", old, new):
        rule = next(rule for rule in rules if re.match(rf"{rule.thing}(\.|$)", change.path))
        is_thing = re.fullmatch(rule.thing, change.path)
        comes_or_goes = (change.before is None and rule.may_come) or (change.after is None and rule.may_go)
        if (is_thing and comes_or_goes) or rule.allows(change):
            continue
        what = f"{change.path} cannot change from {_shown(change.before)} to {_shown(change.after)}"
        problems.append(Problem(what, hint=rule.way_out))
    return tuple(problems)


def _changes(path: str, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _changes(f"{path}.{key}".lstrip("."), before.get(key), after.get(key))
    elif before != after and (before or after):  # a state that did not record a field has nothing there
        yield Change(path, before, after)


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "nothing" if value in (None, "") else json.dumps(value)
