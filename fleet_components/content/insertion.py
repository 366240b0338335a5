"""Insertion of an item into a list of one object in a YAML text; every other byte stays as it
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import yaml

from fleet_components.content.document import documents
from fleet_components.content.guarded import UnreadableError, read_documents
from fleet_components.model.problem import Problem

Node = yaml.Node | None


class UnwritableError(Exception):
    """The text is written in a way in which nothing can be inserted; the message says in which."""


@attrs.frozen
class _Place:
    """Where something is inserted in a text.

    Attributes:
        index: the position.
        text: what is inserted.
    """

    index: int
    text: str


def inserted(text: str, kind: str, name: str, path: Sequence[str], item: Mapping[str, str]) -> str:
    """Return a YAML text with an item put before the others of a list; a missing list is made.

    Args:
        text: the text, which may hold several documents.
        kind: the kind of the object.
        name: its name.
        path: the path of the list.
        item: the item, of plain words.

    Raises:
        UnwritableError: the object is written with an alias on the way, or not as a map.
    """
    place = _Inserter(text).place(_found(text, kind, name), path, item)
    changed = text[: place.index] + place.text + text[place.index :]
    # Read again, because an anchor would hand the item on to other objects.
    if _meant(text, kind, name, path, item) != _objects(changed):
        raise UnwritableError("it is written with an anchor that others share")
    return changed


def _found(text: str, kind: str, name: str) -> yaml.MappingNode:
    try:
        roots = read_documents(text)
    except UnreadableError as error:
        raise UnwritableError("it cannot be read as YAML") from error
    for root in roots:
        for node in _of_list(root):
            metadata = _value(node, "metadata")
            if _scalar(_value(node, "kind")) == kind and _scalar(_value(metadata, "name")) == name:
                return node
    raise UnwritableError("it is not written out")


def _of_list(root: Node) -> Iterator[yaml.MappingNode]:
    """Yield the object of a document, or the items of a list of objects."""
    if not isinstance(root, yaml.MappingNode):
        return
    items = _value(root, "items")
    if isinstance(items, yaml.SequenceNode):
        yield from (node for node in items.value if isinstance(node, yaml.MappingNode))
    else:
        yield root


class _Inserter:
    """Writes in the style of a text."""

    def __init__(self, text: str) -> None:
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        # JSON needs the quotes, and YAML is easier to read without.
        self.quote = '"' if text.lstrip()[:1] in ("{", "[") else ""

    def place(self, node: yaml.MappingNode, path: Sequence[str], item: Mapping[str, str]) -> _Place:
        """Return where the item goes, in the innermost part of the path that is written."""
        step, *rest = path
        value = _value(node, step)
        if value is None:
            return self._first(node, f"{self._word(step)}: {self._made(rest, item)}")
        # An alias has the node of its anchor, which is written before.
        if value.start_mark.index < node.start_mark.index:
            raise UnwritableError(f"{step} is written by an alias")
        if rest and isinstance(value, yaml.MappingNode):
            return self.place(value, rest, item)
        if rest or not isinstance(value, yaml.SequenceNode):
            raise UnwritableError(f"{step} is empty, or of another type")
        return self._first(value, self._item(item), "- ")

    def _first(self, node: Any, text: str, dash: str = "") -> _Place:
        """Return where a text goes as the first field of a map, or the first item of a list."""
        begin = node.start_mark
        if node.flow_style:
            # Behind the bracket; a comma only if something follows.
            return _Place(begin.index + 1, f"{text}, " if node.value else text)
        # The mark of a list in block style is that of its first dash.
        return _Place(begin.index, f"{dash}{text}{self.line_end}{' ' * begin.column}")

    def _made(self, path: Sequence[str], item: Mapping[str, str]) -> str:
        """Return a list with the item, in the maps that lead to it."""
        return (
            f"{{{self._word(path[0])}: {self._made(path[1:], item)}}}"
            if path
            else f"[{self._item(item)}]"
        )

    def _item(self, item: Mapping[str, str]) -> str:
        return (
            "{"
            + ", ".join(f"{self._word(key)}: {self._word(value)}" for key, value in item.items())
            + "}"
        )

    def _word(self, word: str) -> str:
        return f"{self.quote}{word}{self.quote}"


def _value(node: Node, key: str) -> Node:
    fields = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in fields if _scalar(name) == key), None)


def _scalar(node: Node) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _objects(text: str) -> list[Any]:
    problems: list[Problem] = []
    found = [document.data for document in documents(text, "", problems)]
    return [found, problems]


def _meant(
    text: str, kind: str, name: str, path: Sequence[str], item: Mapping[str, str]
) -> list[Any]:
    """Return what the changed text has to say."""
    found, problems = _objects(text)
    return [[_changed(each, kind, name, path, item) for each in found], problems]


def _changed(value: Any, kind: str, name: str, path: Sequence[str], item: Mapping[str, str]) -> Any:
    if not isinstance(value, Mapping):
        return value
    items = value.get("items")
    if isinstance(items, list):
        return {**value, "items": [_changed(each, kind, name, path, item) for each in items]}
    if value.get("kind") != kind or (value.get("metadata") or {}).get("name") != name:
        return value
    return _with(value, path, item)


def _with(value: Mapping[str, Any], path: Sequence[str], item: Mapping[str, str]) -> dict[str, Any]:
    step, *rest = path
    inner = value.get(step)
    return {**value, step: _with(inner or {}, rest, item) if rest else [item, *(inner or [])]}
