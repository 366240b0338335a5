"""Where an object stands in a text, so that any of its fields can be found again by line."""

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
"""A YAML event; the stubs do not know that those of the parser always have marks."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str) -> Iterator[Event]:
    """The YAML events of a text; only what has been asked for is held in memory."""
    events: Iterator[Event] = yaml.parse(text, _Loader)
    return events


@attrs.frozen
class Place:
    """A piece of a text that holds an object.

    Attributes:
        offset: the first line of the piece, from 1.
        text: the piece, indented as in the text.
        start: where in the piece the object is; empty when it is the whole of it.
    """

    offset: int
    text: str = attrs.field(repr=False)
    start: FieldPath = ()

    @classmethod
    def between(cls, text: str, first: Event, last: Event) -> Place:
        """The place of the object whose events begin and end with these."""
        begin, end = first.start_mark, last.end_mark
        return cls(begin.line + 1, " " * begin.column + text[begin.index : end.index])

    def line(self, path: FieldPath = ()) -> int:
        """The line of a field, from 1; where it is not written out here, that of the nearest field around it."""
        line, events = 0, parse(self.text)
        event = next(event for event in events if isinstance(event, NodeEvent))
        for step in (*self.start, *path):
            found = _enter(events, event, step)
            if not found:
                break
            line, event = found
        return self.offset + line


def _enter(events: Iterator[Event], parent: Event, step: str | int) -> tuple[int, Event] | None:
    """The line of a field or an item, and the event that its value begins with."""
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
    """Pass over the rest of the value that begins with this event."""
    open_ones = 1 if isinstance(event, CollectionStartEvent) else 0
    while open_ones:
        inner = next(events)
        open_ones += isinstance(inner, CollectionStartEvent) - isinstance(inner, CollectionEndEvent)
