"""Common parts of all documents: their version, and the words for the changes of a member."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from fleet_components.model.problem import Problem
from fleet_components.model.text import visible
from fleet_components.rollout.rollout import Change

if TYPE_CHECKING:
    from fleet_components.plan.fleet_plan import FleetPlan

VERSION = 3
WORDS = {
    Change.ADD: "joins",
    Change.UPDATE: "updated",
    Change.REMOVE: "leaves",
    Change.HELD: "held",
    Change.KEEP: "stays",
}
Document = dict[str, Any]
_TOKEN = re.compile(r"(?:fleet:confirm=|--confirm )(\w+)")


def to_read(document: Document) -> Document:
    """Return a document with texts that people can be shown: see :func:`~fleet_components.model.text.visible`.

    Only the messages of a program and the diffs of objects keep their lines.
    """
    # A fleet of equal members has the same texts ten thousand times.
    shown: Document = _to_read({**document, "messages": ()}, cache(visible))
    messages = document.get("messages", ())
    return {**shown, "messages": [{**message, "text": visible(message["text"], lines=True)} for message in messages]}


def _to_read(value: Any, show: Callable[[str], str]) -> Any:
    match value:
        case str():
            return show(value)
        case None | int():  # ahead of Mapping, which takes long to ask for
            return value
        case Mapping():
            return {
                show(key): visible(item, lines=True)
                if key == "diff" and isinstance(item, str)
                else _to_read(item, show)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_to_read(item, show) for item in value]
    return value


def fleet_to_name(plans: Sequence[FleetPlan], plan: FleetPlan) -> str | None:
    """Return the fleet to name with what is of a plan; None where a program has no other fleet."""
    return plan.options.fleet if len(plans) > 1 else None


def kind_of(subject: Document) -> str:
    """Return the kind of a subject, after its fleet where a program has several."""
    return after_fleet(subject["ofFleet"], subject["kind"])


def title_of(subject: Document) -> str:
    """Return the kind and key of a subject, after its fleet where a program has several."""
    return f"{kind_of(subject)} {subject['key']}"


def after_fleet(fleet: str | None, text: str) -> str:
    """Return a text after the fleet that it is about, where a program has several."""
    return f"{fleet}: {text}" if fleet else text


def member_of(fleet: str | None, name: str) -> str:
    """Return the name of a member, after its fleet where a program has several."""
    return f"{fleet}/{name}" if fleet else name


def token_of(problem: Problem) -> str | None:
    """Return the token that allows what a problem refuses; None if nothing does."""
    token = _TOKEN.search(problem.hint)
    return token[1] if token else None


def without_none(fields: Mapping[str, Any]) -> Document:
    """Return the fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}
