"""Parses YAML and JSON to plain data as kubectl does, and records the line of every field.

Anchors, aliases and merge keys work as in kubectl, where a merge key after a field overrides it.
Unlike kubectl, which silently keeps the last one, this refuses a field that is given twice, and
names both lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs
import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
)

from fleet_components.content.scalar import Scalar, as_key, is_merge, scalar
from fleet_components.content.section import HELM_HINT, Event, Section, parse, syntax_problem
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

# The builder takes several Python frames a level, and must stay clear of the limit of recursion.
MOST_LEVELS = 200
"""The most levels of maps and lists that a document may have."""
MOST_ALIASED = 400_000
"""The most values that aliases may add to one document; kubectl refuses "excessive aliasing" as
well.
"""
# An escaped backslash is consumed first: the u behind it begins no escape.
_SURROGATES = re.compile(r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


@attrs.frozen
class Document:
    """One document of a text.

    Attributes:
        data: its value as plain data.
        file: the name of the text in messages.
        sections: the section of the document, under the empty path, and of each object of a list in
            it.
    """

    data: Any
    file: str
    sections: dict[FieldPath, Section] = attrs.field(repr=False)

    def section(self, path: FieldPath) -> Section:
        """Return the section of the object at this path."""
        return self.sections.get(path) or attrs.evolve(self.sections[()], start=path)


def documents(text: str, file: str, problems: list[Problem]) -> Iterator[Document]:
    """Yield the documents of a text, without empty ones. Problems are added to ``problems``."""
    # In other YAML a backslash may be literal, as in plain and single-quoted text, and must not be
    # touched.
    text = _join_surrogates(text) if text.lstrip()[:1] in ("{", "[") else text
    events = parse(text)
    try:
        for event in events:
            if not isinstance(event, DocumentStartEvent):
                continue
            # One for each document, since anchors end with it.
            builder = _Builder(events, text, file, problems)
            data = builder.document()
            if data is not None:
                yield Document(data, file, builder.sections)
    except yaml.YAMLError as error:
        problems.append(syntax_problem(error, text, file))


def _join_surrogates(json: str) -> str:
    """Return JSON text with each pair of surrogate escapes, which YAML does not know, replaced by
    one YAML escape.
    """

    def join(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        return (
            f"\\U{0x10000 + ((int(match[1], 16) & 0x3FF) << 10) + (int(match[2], 16) & 0x3FF):08x}"
        )

    return _SURROGATES.sub(join, json)


_FIRST_FIELDS = ("apiVersion", "kind")
"""Fields with which a second object, after a missing ``---``, would begin."""


class _Builder:
    """Builds the data of one document from its YAML events. Aliased values are built once and
    shared.
    """

    def __init__(
        self, events: Iterator[Event], text: str, file: str, problems: list[Problem]
    ) -> None:
        self.events, self.text, self.file, self.problems = events, text, file, problems
        self.sections: dict[FieldPath, Section] = {}
        self.path: list[str | int] = []
        self.level = self.count = self.aliased = 0
        self.anchors: dict[str, tuple[Any, int] | None] = {}

    def document(self) -> Any:
        event = next(self.events)
        data = self.value(event)
        # A map or a list has recorded its section already; a single value has not.
        self.sections.setdefault((), Section.between(self.text, event, event))
        if self.aliased > MOST_ALIASED:
            self.refuse(
                event,
                Message(
                    "document-contains-excessive-aliasing", "document contains excessive aliasing"
                ),
                "write out what the aliases stand for",
            )
            return None  # It can be exponentially larger than the text.
        return data

    def refuse(self, event: Event, what: Message, hint: str = "") -> None:
        line = event.start_mark.line + 1
        self.problems.append(Problem(what, tuple(self.path), hint, file=self.file, line=line))

    def value(self, event: Event) -> Any:
        self.count += 1
        if isinstance(event, ScalarEvent):
            data = self.scalar(event)
        elif isinstance(event, AliasEvent):
            return self.alias(event)
        else:
            return self.collection(event)
        if event.anchor:
            self.anchors[event.anchor] = data, 1
        return data

    def scalar(self, event: ScalarEvent) -> Scalar:
        try:
            return scalar(event)
        except ValueError as error:
            self.refuse(
                event,
                Message("other-error", "{reason}", reason=error),
                "write the value in quotes, without a tag",
            )
            return None

    def alias(self, event: Event) -> Any:
        done = self.anchors.get(event.anchor)
        if done is None:
            if event.anchor in self.anchors:
                self.refuse(
                    event,
                    Message("alias-anchor-contains", "is an alias of an anchor that contains it"),
                )
            else:
                self.refuse(
                    event,
                    Message("alias-without-anchor", "is an alias without an anchor"),
                    "write a value that begins with * in quotes",
                )
            return None
        data, size = done
        # As if it were written out, so that an anchor around it counts all that it stands for.
        self.count += size
        self.aliased += size + 1
        return data

    def collection(self, start: Event) -> Any:
        before, anchor = self.count, start.anchor
        if anchor:
            # None marks a value that is still being built, to detect an anchor that contains
            # itself.
            self.anchors[anchor] = None
        self.enter(start)
        data, end = self.mapping() if isinstance(start, MappingStartEvent) else self.sequence()
        self.level -= 1
        # Where an object can be: the document itself, and each item of a list.
        if not self.path or (len(self.path) == 2 and self.path[0] == "items"):
            self.sections[tuple(self.path)] = Section.between(self.text, start, end)
        if anchor:
            self.anchors[anchor] = data, self.count - before
        return data

    def enter(self, start: Event) -> None:
        self.level += 1
        if self.level > MOST_LEVELS:
            what = f"nested more than {MOST_LEVELS} levels deep"
            # Ends the reading, unlike other problems, because going on would mean going deeper.
            raise yaml.MarkedYAMLError(problem=what, problem_mark=start.start_mark)

    def sequence(self) -> tuple[list[Any], Event]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), CollectionEndEvent):
            self.path.append(len(items))
            items.append(self.value(event))
            self.path.pop()
        return items, event

    def mapping(self) -> tuple[dict[str, Any], Event]:
        fields: dict[str, Any] = {}
        firsts: dict[str, Event] = {}
        seam: set[str] = set()
        while not isinstance(event := next(self.events), CollectionEndEvent):
            if is_merge(event):
                self.merge(event, fields)
                continue
            key = self.key(event)
            # Not looked up in fields: a key that a merge has put there may be written as well.
            first = firsts.setdefault(key, event)
            self.path.append(key)
            value = self.value(next(self.events))
            if first is event:
                fields[key] = value
            else:
                self.twice(event, first, seam)
            self.path.pop()
        return fields, event

    def twice(self, event: Event, first: Event, seam: set[str]) -> None:
        """Report a field that is given twice.

        If it looks like a second object begins here, without ``---``, its other repeated fields are
        not reported.

        Args:
            event: the field.
            first: its first occurrence.
            seam: the repeated fields of the second object so far; empty if none has begun.
        """
        key, hint = str(self.path[-1]), "keep one of the two"
        if len(self.path) == 1 and (seam or key in _FIRST_FIELDS):
            if seam and key not in seam:
                seam.add(key)
                return
            seam.clear()
            seam.add(key)
            hint = (
                "write --- on a line of its own above it if another object begins here, else keep"
                " one of the two"
            )
        self.refuse(
            event,
            Message(
                "given-twice-first-line",
                "given twice, first on line {line}",
                line=first.start_mark.line + 1,
            ),
            hint,
        )

    def key(self, event: Event) -> str:
        value = self.value(event)
        key = as_key(value)
        if key is None:
            hint = HELM_HINT if isinstance(value, dict) else "write the key in quotes"
            self.refuse(event, Message("key-must-text", "a key must be text"), hint)
        return key or ""

    def merge(self, event: Event, fields: dict[str, Any]) -> None:
        value = self.value(next(self.events))
        # Reversed, because the first map of a merge list has precedence.
        for source in reversed(value) if isinstance(value, list) else [value]:
            if isinstance(source, dict):
                fields.update(source)
            else:
                self.refuse(
                    event,
                    Message(
                        "map-merge-requires-map",
                        "map merge requires map or sequence of maps as the value",
                    ),
                )
