"""Sections of a text that hold an object, so that the line of any field can be found later.

Lines are looked up by parsing again, only when a message needs them, instead of storing one for
every field.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import attrs
import yaml
from yaml.events import AliasEvent

from fleet_components.content.scalar import as_key, plain
from fleet_components.model.problem import FieldPath

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
            self.anchors.pop(event.anchor, None)
        elif event.anchor not in self.anchors:
            self.get_event()  # type: ignore[no-untyped-call]
            here: Any = event.start_mark
            return yaml.ScalarNode("", "", here, here)
        return super().compose_node(parent, index)
