"""Sections of a text that hold an object, so that the line of any field can be found later.

Lines are looked up by parsing again, only when a message needs them, instead of storing one for
every field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import attrs
import yaml
from yaml.events import AliasEvent
from yaml.reader import ReaderError

from fleet_components.content.scalar import as_key, plain
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

Event = Any
"""A YAML event. ``Any``, because the type stubs do not know that the parser always sets marks."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Composer: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def parse(text: str) -> Iterator[Event]:
    """Yield the YAML events of a text, one at a time, so that only the current one is in memory."""
    events: Iterator[Event] = yaml.parse(text, _Loader)
    return events


@attrs.frozen
class Section:
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
    def between(cls, text: str, first: Event, last: Event) -> Section:
        """Return the section of the object that begins and ends with these events."""
        begin, end = first.start_mark, last.end_mark
        # The first line is cut off in its middle: without the blanks the lines below would be
        # indented further than it.
        return cls(begin.line + 1, " " * begin.column + text[begin.index : end.index])

    def line(self, path: FieldPath = ()) -> int:
        """Return the line of a field, from 1.

        A field that is not written here, for example one of a merged map, has the line of the
        nearest field around it.
        """
        steps = (*self.start, *path)
        if not steps:
            return self.offset  # every object is asked for its first line, and most for no other
        line, lines = 0, _composed(self.text)
        node = lines.root
        for step in steps:
            found = lines.child(node, step)
            if found is None:
                break
            line, node = found
        return self.offset + line


class _Lines:
    """The nodes of a section, with the fields of those maps that were asked for by name."""

    def __init__(self, root: yaml.Node | None) -> None:
        self.root = root
        self._fields: dict[int, dict[str, tuple[int, yaml.Node | None]]] = {}

    def child(self, node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node | None] | None:
        """Return the line of a field or item and the node of its value; None if there is none.

        The value of an alias is written elsewhere, so it has no node: all its fields have the line
        of the alias.
        """
        if isinstance(node, yaml.MappingNode):
            return self._of(node).get(str(step))
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            item = node.value[step]
            return (
                (item.start_mark.line, item)
                if item.start_mark.index > node.start_mark.index
                else None
            )
        return None

    def _of(self, node: yaml.MappingNode) -> dict[str, tuple[int, yaml.Node | None]]:
        if id(node) not in self._fields:
            # Reversed, so that the first of two equal keys counts.
            named = ((_name(key), key.start_mark, value) for key, value in reversed(node.value))
            self._fields[id(node)] = {
                name: (mark.line, value if value.start_mark.index > mark.index else None)
                for name, mark, value in named
                if name is not None
            }
        return self._fields[id(node)]


@lru_cache(maxsize=16)
def _composed(text: str) -> _Lines:
    # The second loader is pure Python and far slower than libyaml, so only sections that need it
    # are read by it.
    for loader in (_Composer, _OfASection):
        with suppress(yaml.YAMLError):
            return _Lines(yaml.compose(text, loader))
    # A section may need what stands around it: the handles of its tags, the end of a text.
    return _Lines(None)


def _name(key: yaml.Node) -> str | None:
    if not isinstance(key, yaml.ScalarNode):
        return None
    try:
        return as_key(key.value if key.style else plain(key.value))
    except ValueError:
        return None


class _OfASection(yaml.BaseLoader):
    """Composes a section of a text whose anchors may be outside of it, or be defined twice, which
    YAML allows.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if not isinstance(event, AliasEvent):
            # PyYAML refuses an anchor that is defined twice.
            self.anchors.pop(event.anchor, None)
        elif event.anchor not in self.anchors:
            self.get_event()  # type: ignore[no-untyped-call]
            here: Any = event.start_mark
            return yaml.ScalarNode("", "", here, here)
        return super().compose_node(parent, index)


# Turns errors of the YAML parser into problems with a line and a hint.


HELM_HINT = "this looks like a Helm template: render it first, helm template CHART > manifests.yaml"


_CLOSING = {"{": "}", "[": "]"}


def syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """Return the problem for an error of the YAML parser."""
    if isinstance(error, ReaderError):
        line = text.encode()[: error.position].count(b"\n") + 1
        return Problem(
            Message("not-yaml", "not YAML: {reason}", reason=error.reason),
            file=file,
            line=line,
            hint="remove the character",
        )
    lines = text.splitlines()
    begun, mark = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    mark = mark or begun
    line = mark.line if mark else 0
    as_key = getattr(error, "context", None) == "while scanning a simple key"
    hint = (
        _of_helm(lines, line)
        or _unclosed(lines, begun, mark, as_key=as_key)
        or _misplaced(lines, mark)
    )
    return Problem(_what(error, _at(lines, mark)), file=file, line=line + 1, hint=hint)


def _at(lines: list[str], mark: yaml.Mark | None) -> str:
    """Return the character at a mark; empty at the end of a line or of the text."""
    return (
        lines[mark.line][mark.column : mark.column + 1] if mark and mark.line < len(lines) else ""
    )


def _what(error: yaml.YAMLError, character: str) -> Message:
    if character == "\t":
        return Message("tab-in-yaml", "not YAML: a tab where YAML wants spaces")
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    reason = ", ".join(part for part in parts if part) or str(error)
    return Message("not-yaml", "not YAML: {reason}", reason=reason)


def _of_helm(lines: list[str], line: int) -> str:
    return HELM_HINT if any("{{" in near for near in lines[max(line - 1, 0) : line + 1]) else ""


def _unclosed(
    lines: list[str], begun: yaml.Mark | None, mark: yaml.Mark | None, *, as_key: bool
) -> str:
    """Return a hint if a ``{`` or ``[`` is still open where a field begins, at the wrong bracket,
    or at the end.

    One that was closed and would be a key stands where a field should begin: it is not indented far
    enough.
    """
    opening, here = _at(lines, begun), _at(lines, mark)
    if not begun or opening not in _CLOSING or (here == ":" and _in_value(lines, mark)):
        return ""
    if as_key:
        return f"indent line {begun.line + 1} more than the field that it belongs to"
    return (
        f"close the {opening} of line {begun.line + 1} with {_CLOSING[opening]}, or put commas"
        " between its items"
    )


def _misplaced(lines: list[str], mark: yaml.Mark | None) -> str:
    match _at(lines, mark):
        case "\t":
            return "indent with spaces"
        case "@" | "`" | "%":
            return "write the value in quotes"
        case ":" if _in_value(lines, mark):
            return 'write a value that holds ": " in quotes'
        case ":":
            return "indent the field as those beside it"
    return ""


def _in_value(lines: list[str], mark: yaml.Mark | None) -> bool:
    """Return whether the colon at the mark is not the first one of its field."""
    return mark is not None and ":" in re.split(r"[,{\[]", lines[mark.line][: mark.column])[-1]
