"""A diff of two objects as YAML, for people: its hunks name fields, not lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile
from typing import Any

from fleet_components.content.scalar import plain
from fleet_components.model.problem import FieldPath, show_path
from fleet_components.model.text import visible

_CONTEXT = 3
_COMPARED = 40_000
"""Largest number of pairs of lines that are all compared: that may take the third power of the
number of lines.
"""
Shaped = Sequence[tuple[FieldPath, str]]
Block = tuple[int, int, int]
"""Lines that both sides have: where they begin in the old and in the new ones, and how many they
are.
"""


def yaml_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the hunks in which the YAML of two objects differs, each under the field that encloses
    its changes.

    Args:
        old: the object as it was, without what is secret; empty if there was none, so that all
            lines are new.
        new: the object as it is, likewise.
    """
    was, now = list(yaml_lines(old)) if old else [], list(yaml_lines(new))
    if not was:
        return "".join(f"+{text}\n" for _, text in now)
    return "".join(f"{line}\n" for hunk in _hunks(list(_marked(was, now))) for line in hunk)


def _marked(was: Sequence[Line], now: Sequence[Line]) -> Iterator[tuple[str, Line]]:
    """Yield all lines, each with its mark: ``-`` for an old, ``+`` for a new one, a blank for one
    of both.
    """
    # A line is compared with those of the same field only, whatever the positions in lists.
    before, after = ([(_shape(path), text) for path, text in lines] for lines in (was, now))
    i = j = 0
    for first, second, size in (*_blocks(before, after, 0, 0), (len(was), len(now), 0)):
        yield from (("-", line) for line in was[i:first])
        yield from (("+", line) for line in now[j:second])
        yield from ((" ", line) for line in was[first : first + size])
        i, j = first + size, second + size


def _blocks(old: Shaped, new: Shaped, i: int, j: int) -> Iterator[Block]:
    """Yield the lines that both sides have, in order; ``i`` and ``j`` are the positions of their
    first lines.
    """
    # What is alike at both ends is cut off first: most changes are small.
    head = _alike(zip(old, new, strict=False))
    tail = _alike(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    old_rest, new_rest = old[head : len(old) - tail], new[head : len(new) - tail]
    yield i, j, head
    if len(old_rest) * len(new_rest) <= _COMPARED:
        matcher = SequenceMatcher(None, old_rest, new_rest, autojunk=False)
        yield from (
            (i + head + a, j + head + b, size)
            for a, b, size in matcher.get_matching_blocks()
            if size
        )
    # Too many pairs to compare all: lines that occur once on both sides divide them into parts.
    elif anchors := _anchors(old_rest, new_rest):
        ends = (
            ((0, 0), *((a + 1, b + 1) for a, b in anchors)),
            (*anchors, (len(old_rest), len(new_rest))),
        )
        for (a, b), (c, d) in zip(*ends, strict=True):
            yield from _blocks(old_rest[a:c], new_rest[b:d], i + head + a, j + head + b)
            yield from (
                [(i + head + c, j + head + d, 1)] if c < len(old_rest) and d < len(new_rest) else ()
            )
    # The end last, so that blocks come in the order of their lines.
    yield i + len(old) - tail, j + len(new) - tail, tail


def _alike(pairs: Iterable[tuple[Any, Any]]) -> int:
    """Return how many of the first pairs are of equal lines."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _anchors(old: Shaped, new: Shaped) -> list[tuple[int, int]]:
    """Return the positions of lines that both sides have once, as many as have the same order in
    both.
    """
    places = {line: at for at, line in enumerate(new)}
    counts, others = Counter(old), Counter(new)
    # The longest increasing sequence: of each length the end that leaves most room, and what came
    # before it.
    ends: list[int] = []
    chains: list[Any] = []
    for at, line in enumerate(old):
        if counts[line] == 1 == others[line]:
            place = places[line]
            length = bisect_left(ends, place)
            link = ((at, place), chains[length - 1] if length else None)
            ends[length : length + 1], chains[length : length + 1] = [place], [link]
    found: list[tuple[int, int]] = []
    last: Any = chains[-1] if chains else None
    while last:
        pair, last = last
        found.append(pair)
    return found[::-1]


def _hunks(marked: Sequence[tuple[str, Line]]) -> Iterator[list[str]]:
    """Yield the changed lines with those around them, below their header."""
    changed = [at for at, (sign, _) in enumerate(marked) if sign != " "]
    groups: list[list[int]] = []
    for at in changed:
        # The lines around the two would touch or overlap.
        if groups and at - groups[-1][-1] <= 2 * _CONTEXT + 1:
            groups[-1].append(at)
        else:
            groups.append([at])
    for group in groups:
        header = visible(_enclosing([marked[at][1][0] for at in group]))
        lines = marked[max(0, group[0] - _CONTEXT) : group[-1] + _CONTEXT + 1]
        yield [f"@@ {header} @@", *(f"{sign}{text}" for sign, (_, text) in lines)]


def _enclosing(paths: Sequence[FieldPath]) -> str:
    """Return the nearest field that encloses all of some fields; their first steps if nothing but
    the object does.
    """
    first, last = min(paths, key=_sortable), max(paths, key=_sortable)
    common: FieldPath = ()
    for item, other in zip(first[:-1], last[:-1], strict=False):
        if item != other:
            break
        common = (*common, item)
    return show_path(common) or ", ".join(dict.fromkeys(str(path[0]) for path in paths))


def _sortable(path: FieldPath) -> list[tuple[bool, str | int]]:
    return [(isinstance(step, int), step) for step in path]


def _shape(path: FieldPath) -> FieldPath:
    return tuple("" if isinstance(step, int) else step for step in path)


# An object as lines of YAML, each with the field that it belongs to: keys are sorted, and no line
# is ever wrapped.


Line = tuple[FieldPath, str]
"""The field, and the text."""

_STEP = "  "
_WITHIN = ""
"""Last step of the path of a further line of a text: such a line is part of the field."""
_UNQUOTED = re.compile(r"(?![-?:] |---|[-?:]$|[\s,\[\]{}#&*!|>'\"%@`=<~])(?!.*(?:: | #|:$|\s$)).+")
"""Texts that need no quotes wherever they stand, unless they read as another value."""
_BREAKS = {"\\": "\\\\", "\r": "\\r", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def yaml_lines(value: Any, path: FieldPath = ()) -> Iterator[Line]:
    """Yield the lines of a value in block style. A field with the value null is left out, as it
    counts as absent.
    """
    present = (
        {key: each for key, each in value.items() if each is not None}
        if isinstance(value, Mapping)
        else {}
    )
    if present:
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
    # Its first sign is there: it has a line break before its end.
    if text[0] not in " \n" and all(line.replace("\t", " ").isprintable() for line in lines):
        # The sign says what follows the last line: nothing, a line break, or several.
        sign = "-" if lines[-1] else "+" if not lines[-2] else ""
        return [f"|{sign}", *(lines if lines[-1] else lines[:-1])]
    first, *rest = (f"{_escaped(line)}\\n\\" for line in lines[:-1])
    # A blank at the beginning of a further line counts only behind a backslash.
    further = [
        f"\\{line}" if line[:1] == " " else line for line in (*rest, f'{_escaped(lines[-1])}"')
    ]
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
    return "".join(
        _BREAKS.get(char) or (char if char.isprintable() else _code(char)) for char in text
    )


def _code(char: str) -> str:
    number = ord(char)
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )
