"""Common parts of all documents: their version, and the words for the changes of a member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.model.text import visible
from fleet_components.rollout.rollout import Change

VERSION = 2
WORDS = {
    Change.ADD: "joins",
    Change.UPDATE: "updated",
    Change.REMOVE: "leaves",
    Change.HELD: "held",
    Change.KEEP: "stays",
}
Document = dict[str, Any]


def to_read(value: Any) -> Any:
    """Return a document with texts that people can be shown: see :func:`~fleet_components.model.text.visible`.

    Only the messages of a program keep their lines.
    """
    match value:
        case str():
            return visible(value)
        case {"level": level, "text": str() as text}:
            return {"level": level, "text": visible(text, lines=True)}
        case Mapping():
            return {to_read(key): to_read(item) for key, item in value.items()}
        case list() | tuple():
            return [to_read(item) for item in value]
    return value


def without_none(fields: Mapping[str, Any]) -> Document:
    """Return the fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}
