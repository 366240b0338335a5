"""An object as lines of YAML, each with the field that it belongs to: keys are sorted, and no line is ever wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from fleet_components.content.scalar import plain
from fleet_components.model.problem import FieldPath

Line = tuple[FieldPath, str]
"""The field, and the text."""

_STEP = "  "
_WITHIN = ""
"""Last step of the path of a further line of a text: such a line is part of the field."""
_UNQUOTED = re.compile(r"(?![-?:] |---|[-?:]$|[\s,\[\]{}#&*!|>'\"%@`=<~])(?!.*(?:: | #|:$|\s$)).+")
"""Texts that need no quotes wherever they stand, unless they read as another value."""
_BREAKS = {"\\": "\\\\", "\r": "\\r", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def yaml_lines(value: Any, path: FieldPath = ()) -> Iterator[Line]:
    """Yield the lines of a value in block style. A field with the value null is left out, as it counts as absent."""
    if isinstance(value, Mapping) and (present := {key: each for key, each in value.items() if each is not None}):
        for key in sorted(present):
            yield from _field(f"{_text(key)}:", present[key], (*path, key))
    elif isinstance(value, list | tuple) and value:
        for index, item in enumerate(value):
            (first, text), *rest = yaml_lines(item, (*path, index))
            yield first, f"- {text}"
            yield from _indented(rest)
    else:
        first_line, *further = _scalar(value)
        yield path, first_line
        yield from (((*path, _WITHIN), text) for text in further)


def _field(head: str, value: Any, path: FieldPath) -> Iterator[Line]:
    (first, text), *rest = lines = list(yaml_lines(value, path))
    if isinstance(value, Mapping) and text != "{}":
        yield path, head
        yield from _indented(lines)
    elif isinstance(value, list | tuple) and value:
        yield path, head
        yield from lines
    else:
        yield first, f"{head} {text}"
        yield from _indented(rest)


def _indented(lines: list[Line]) -> Iterator[Line]:
    return ((path, f"{_STEP}{text}" if text else "") for path, text in lines)


def _scalar(value: Any) -> list[str]:
    match value:
        case None:
            return ["null"]
        case bool():
            return [str(value).lower()]
        case str():
            return _several(value) if "\n" in value[:-1] else [_text(value)]
        case Mapping():
            return ["{}"]
        case list() | tuple():
            return ["[]"]
    return [str(value)]


def _several(text: str) -> list[str]:
    """Return the lines of a text that has several, so that each of them can be compared."""
    lines = text.split("\n")
    if text[0] not in " \n" and all(line.replace("\t", " ").isprintable() for line in lines):
        # The sign says what follows the last line: nothing, a line break, or several.
        sign = "-" if lines[-1] else "+" if not lines[-2] else ""
        return [f"|{sign}", *(lines if lines[-1] else lines[:-1])]
    first, *rest = (f"{_escaped(line)}\\n\\" for line in lines[:-1])
    # A blank at the beginning of a further line counts only behind a backslash.
    further = [f"\\{line}" if line[:1] == " " else line for line in (*rest, f'{_escaped(lines[-1])}"')]
    return [f'"{first}', *further]


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    """Return a text in one line, in quotes if it needs them."""
    unquoted = text.isprintable() and _UNQUOTED.fullmatch(text) is not None and _is_text(text)
    return text if unquoted else f'"{_escaped(text)}"'


def _is_text(text: str) -> bool:
    try:
        return plain(text) is text
    except ValueError:
        return False


def _escaped(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(_BREAKS.get(char) or (char if char.isprintable() else _code(char)) for char in text)


def _code(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
