"""Places of objects in a text, so that the line of any field can be found later.

Lines are looked up by parsing again, only when a message needs them, instead of storing one for every field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import yaml
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from fleet_components.content.scalar import as_key, scalar
from fleet_components.model.problem import FieldPath

Event = Any
"""A YAML event. ``Any``, because the type stubs do not know that the parser always sets marks."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str) -> Iterator[Event]:
    """Yield the YAML events of a text, one at a time, so that only the current one is in memory."""
    events: Iterator[Event] = yaml.parse(text, _Loader)
    return events


@attrs.frozen
class Place:
    """A section of a text that contains an object.

    Attributes:
        offset: the first line of the section, from 1.
        text: the section, indented as in the text.
        start: the path of the object in the section; empty if it is the whole section.
    """

    offset: int
    text: str = attrs.field(repr=False)
    start: FieldPath = ()

    @classmethod
    def between(cls, text: str, first: Event, last: Event) -> Place:
        """Return the place of the object that begins and ends with these events."""
        begin, end = first.start_mark, last.end_mark
        return cls(begin.line + 1, " " * begin.column + text[begin.index : end.index])

    def line(self, path: FieldPath = ()) -> int:
        """Return the line of a field, from 1.

        A field that is not written here, for example one of a merged map, has the line of the nearest field around it.
        """
        line, events = 0, parse(self.text)
        event = next(event for event in events if isinstance(event, NodeEvent))
        for step in (*self.start, *path):
            found = _enter(events, event, step)
            if not found:
                break
            line, event = found
        return self.offset + line


def _enter(events: Iterator[Event], parent: Event, step: str | int) -> tuple[int, Event] | None:
    """Return the line of a field or item and the event with which its value begins; None if there is none."""
    if isinstance(parent, MappingStartEvent):
        return _enter_field(events, step)
    if isinstance(parent, SequenceStartEvent) and isinstance(step, int):
        return _enter_item(events, step)
    return None


def _enter_field(events: Iterator[Event], name: str | int) -> tuple[int, Event] | None:
    while not isinstance(key := next(events), CollectionEndEvent):
        found = isinstance(key, ScalarEvent) and as_key(scalar(key)) == name
        _skip(events, key)
        value = next(events)
        if found:
            return key.start_mark.line, value
        _skip(events, value)
    return None


def _enter_item(events: Iterator[Event], index: int) -> tuple[int, Event] | None:
    while not isinstance(item := next(events), CollectionEndEvent):
        if index == 0:
            return item.start_mark.line, item
        _skip(events, item)
        index -= 1
    return None


def _skip(events: Iterator[Event], event: Event) -> None:
    """Consume the remaining events of the value that begins with this event."""
    open_ones = 1 if isinstance(event, CollectionStartEvent) else 0
    while open_ones:
        inner = next(events)
        open_ones += isinstance(inner, CollectionStartEvent) - isinstance(inner, CollectionEndEvent)
