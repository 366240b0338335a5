"""Holds the fields that Azure takes only when it creates something, and refuses their change at preview.

A component cannot see what it was given the last time; a dynamic resource can, in ``check``. Without it Pulumi would
replace a whole cluster, or Azure would refuse the request in the middle of an update.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pulumi
from pulumi import dynamic

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


# moves to fleet_components/dynamic.py
class CreateOnlyProvider(dynamic.ResourceProvider):
    """Compares what is declared with what was accepted before; there is nothing behind it."""

    serialize_as_secret_always = False

    def check(self, olds: dict[str, Any], news: dict[str, Any]) -> dynamic.CheckResult:
        """Refuse changes of what was accepted before; nothing is held of a new thing."""
        old = olds.get("fields")
        problems = refuse_changes(old, news["fields"], RULES[news["kind"]]) if old else ()
        failures = [dynamic.CheckFailure("", f"{news['subject']}: {problem}") for problem in problems]
        return dynamic.CheckResult(news, failures)

    def create(self, props: dict[str, Any]) -> dynamic.CreateResult:
        """Accept the first values."""
        return dynamic.CreateResult(f"{props['kind']}-{props['subject']}", dict(props))

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> dynamic.UpdateResult:
        """Accept later values, which ``check`` has let through."""
        return dynamic.UpdateResult(dict(news))


# moves to fleet_components/dynamic.py
class CreateOnly(dynamic.Resource, module="fleet", name="CreateOnly"):
    """The fields of one thing that only its creation can set.

    Args:
        name: the resource's name.
        kind: what it is: :data:`HUB` or :data:`MEMBER`.
        subject: what it is called in errors.
        fields: the values by name, maps for what has fields of its own, None for what is not there; all plain, so
            that previews can judge them.
    """

    def __init__(
        self, name: str, kind: str, subject: str, fields: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(CreateOnlyProvider(), name, {"kind": kind, "subject": subject, "fields": dict(fields)}, opts)


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "nothing" if value is None else json.dumps(value)
