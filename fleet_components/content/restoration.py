"""Restoration of an object in a YAML text: it gets other values, and every byte outside of these
stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import yaml

from fleet_components.content.document import documents
from fleet_components.content.guarded import read_documents
from fleet_components.content.insertion import UnwritableError
from fleet_components.content.scalar import plain
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem

Data = Mapping[str, Any]


def restored(text: str, manifest: Manifest, data: Data) -> str:
    """Return a YAML text in which one object has other values.

    Only the fields that differ are written again, as far as they stand alone; else the object is.

    Args:
        text: the text, which may hold several documents.
        manifest: the object as it is there, with its first line.
        data: what it has to be.

    Raises:
        UnwritableError: it shares an anchor with another object, or is not written out.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    before = _objects(text)
    place = _place(text, manifest)
    meant = [*before[:place], data, *before[place + 1 :]]
    node = _nodes(text)[place]
    writer = _Restorer(text)
    # Field by field first; if that reads differently, because of an anchor, as a whole.
    for changes in (writer.changes(node, before[place], data), [writer.whole(node, data)]):
        changed = _with(text, changes)
        if _reads(changed) == meant:
            return mark + changed
    raise UnwritableError("it is written with an anchor that others share")


def written(data: Data) -> str:
    """Return an object as a YAML document."""
    return _dumped(data)


@attrs.frozen
class _TextChange:
    """A part of a text that is replaced.

    Attributes:
        begin: its first position.
        end: the position after it.
        text: what stands there instead.
    """

    begin: int
    end: int
    text: str


def _with(text: str, changes: list[_TextChange]) -> str:
    # From the end, so that the positions of the others stay right.
    for change in sorted(changes, key=lambda item: item.begin, reverse=True):
        text = text[: change.begin] + change.text + text[change.end :]
    return text


def _place(text: str, manifest: Manifest) -> int:
    """Return the position of an object among those of a text."""
    line = manifest.origin.line if manifest.origin else None
    for place, (node, data) in enumerate(zip(_nodes(text), _objects(text), strict=True)):
        found = Manifest(data)
        if node.start_mark.line + 1 == line and (found.kind, found.name) == (
            manifest.kind,
            manifest.name,
        ):
            return place
    raise UnwritableError("it is not written out")


def _nodes(text: str) -> list[Any]:
    roots = (root for root in read_documents(text) if isinstance(root, yaml.MappingNode))
    return [node for root in roots for node in _of_list(root)]


def _of_list(root: Any) -> Iterator[Any]:
    items = next((value for key, value in root.value if key.value == "items"), None)
    if isinstance(items, yaml.SequenceNode):
        yield from (node for node in items.value if isinstance(node, yaml.MappingNode))
    else:
        yield root


def _objects(text: str) -> list[Any]:
    problems: list[Problem] = []
    found = [document.data for document in documents(text, "", problems)]
    if problems:
        raise UnwritableError("its file cannot be read as a whole")
    objects = []
    for data in (data for data in found if isinstance(data, Mapping)):
        items = data.get("items")
        objects += (
            [item for item in items if isinstance(item, Mapping)]
            if isinstance(items, list)
            else [data]
        )
    return objects


def _reads(text: str) -> list[Any] | None:
    """Return the objects of a changed text; None if it cannot be read."""
    try:
        return _objects(text)
    except UnwritableError:
        return None


class _Restorer:
    """Writes in the style of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        self.json = text.lstrip()[:1] in ("{", "[")

    def changes(self, node: Any, old: Any, new: Any) -> list[_TextChange]:
        """Return what has to be replaced in a value."""
        if _same(old, new):
            return []
        if (
            isinstance(node, yaml.MappingNode)
            and isinstance(old, Mapping)
            and isinstance(new, Mapping)
            and new
        ):
            fields = {key.value: (key, value) for key, value in node.value}
            # They differ where a merge key stands, or a key that is not read as it is written.
            if set(fields) == set(old) and (
                set(old) == set(new) or not (node.flow_style or set(old).isdisjoint(new))
            ):
                return self._of_map(node, fields, old, new)
        if (
            isinstance(node, yaml.SequenceNode)
            and isinstance(new, list)
            and len(node.value) == len(new) == len(old)
        ):
            parts = zip(node.value, old, new, strict=True)
            return [change for item, was, now in parts for change in self.changes(item, was, now)]
        return [self.whole(node, new)]

    def whole(self, node: Any, new: Any) -> _TextChange:
        """Return the replacement of a whole value."""
        begin, end = node.start_mark.index, self._end(node)
        flow = self.json or isinstance(node, yaml.ScalarNode) or node.flow_style
        return _TextChange(
            begin, end, self._flow(node, new) if flow else self._block(new, node.start_mark.column)
        )

    def _of_map(
        self, node: Any, fields: Mapping[str, Any], old: Data, new: Data
    ) -> list[_TextChange]:
        changes = [
            change
            for name, (_, value) in fields.items()
            if name in new
            for change in self.changes(value, old[name], new[name])
        ]
        changes += [self._without(*fields[name]) for name in fields if name not in new]
        added = {name: value for name, value in new.items() if name not in old}
        if added:
            # Before a field that stays: the end of a map may have comments that belong to what
            # follows.
            begin = next(key.start_mark.index for name, (key, _) in fields.items() if name in new)
            column = node.start_mark.column
            text = self._block(added, column) + self.line_end + " " * column
            changes.append(_TextChange(begin, begin, text))
        return changes

    def _without(self, key: Any, value: Any) -> _TextChange:
        """Return the removal of a field of a map in block style, with the line that it stands
        on.
        """
        begin = key.start_mark.index
        end = self.text.find("\n", self._end(value))
        rest = len(self.text) if end < 0 else end + 1
        first = self.text.rfind("\n", 0, begin) + 1
        if self.text[first:begin].strip():
            # The first field of an item stands behind its dash: what follows takes its place.
            blanks = len(self.text[rest:]) - len(self.text[rest:].lstrip(" "))
            return _TextChange(begin, rest + blanks, "")
        return _TextChange(first, rest, "")

    def _end(self, node: Any) -> int:
        """Return where a value ends: what is written as a block is marked to where the next field
        begins.
        """
        if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
            end = node.end_mark.index
        else:
            last = node.value[-1]
            end = max(map(self._end, last if isinstance(last, tuple) else (last,)))
        begin: int = node.start_mark.index
        return begin + len(self.text[begin:end].rstrip())

    def _block(self, value: Any, column: int) -> str:
        if not isinstance(value, Mapping | list) or not value:
            return "  " + _single_line(value)  # deeper than the field around it
        return self._indented(_dumped(value), " " * column)

    def _flow(self, node: Any, value: Any) -> str:
        if not self.json:
            quoted = (
                isinstance(node, yaml.ScalarNode)
                and node.style in ('"', "'")
                and isinstance(value, str)
            )
            return json.dumps(value) if quoted else _single_line(value)
        first = self.text.rfind("\n", 0, node.start_mark.index) + 1
        line = self.text[first:].splitlines()[0]
        several = (
            not isinstance(node, yaml.ScalarNode) and node.start_mark.line < node.end_mark.line
        )
        dumped = json.dumps(value, indent=2 if several else None, ensure_ascii=False)
        return self._indented(dumped, line[: len(line) - len(line.lstrip())])

    def _indented(self, text: str, blanks: str) -> str:
        first, *rest = text.rstrip("\n").split("\n")
        return self.line_end.join([first, *(blanks + line if line else line for line in rest)])


def _same(old: Any, new: Any) -> bool:
    """Return whether two values are written alike: 1 and true are not, though Python takes them for
    equal.
    """
    return json.dumps(old, sort_keys=True, default=str) == json.dumps(
        new, sort_keys=True, default=str
    )


class _RestoringDumper(yaml.SafeDumper):
    """Writes texts of several lines as such, and every value where it stands."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    # Words such as y and 1_0 are texts to this library, and something else to kubectl.
    style = "|" if "\n" in text else None if _is_plain(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_plain(text: str) -> bool:
    try:
        return plain(text) == text
    except ValueError:
        return False


_RestoringDumper.add_representer(str, _text)


def _dumped(value: Any) -> str:
    found: str = yaml.dump(
        value, Dumper=_RestoringDumper, sort_keys=False, width=10**6, allow_unicode=True
    )
    return found


def _single_line(value: Any) -> str:
    if isinstance(value, str) and ("\n" in value or value != value.strip()):
        return json.dumps(value)
    dumped: str = yaml.dump(
        value,
        Dumper=_RestoringDumper,
        sort_keys=False,
        width=10**6,
        default_flow_style=True,
        allow_unicode=True,
    )
    # PyYAML writes three dots behind a document that is a plain scalar.
    return dumped.removesuffix("\n").removesuffix("\n...").rstrip("\n")
