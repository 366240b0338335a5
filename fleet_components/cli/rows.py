"""Rows for people: short columns side by side, and one long text that goes beside them or below."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

_INDENT, _DEEPER, _GAP = 2, 6, "  "
_ROOM = 40
"""The least room beside the columns in which a long text is still pleasant to read."""


@attrs.frozen
class Row:
    """A row.

    Attributes:
        cells: the short columns.
        text: the long text; empty for none.
        style: the style of the cells.
    """

    cells: Sequence[str]
    text: str = ""
    style: str = ""


def print_rows(console: Console, header: Row, rows: Sequence[Row]) -> None:
    """Print rows under a header. Columns that are empty in every row are left out."""
    used = [i for i in range(len(header.cells)) if any(row.cells[i] for row in rows)]
    widths = {i: max(len(row.cells[i]) for row in (header, *rows)) for i in used}
    beside = _INDENT + sum(widths.values()) + len(_GAP) * len(used)
    wide = console.width - beside >= _ROOM
    for row in (header, *rows):
        line = Text(" " * _INDENT) + Text(_GAP.join(row.cells[i].ljust(widths[i]) for i in used), row.style)
        if row.text and (wide or beside + len(row.text) <= console.width):
            print_hanging(console, line + Text(_GAP), row.text, beside)
            continue
        console.print(line, soft_wrap=True)
        if row.text and row is not header:
            console.print(Padding(Text(row.text), (0, 0, 0, _DEEPER)))


def print_hanging(console: Console, start: Text, text: str, indent: int) -> None:
    """Print a text behind a start, its further lines under its first."""
    lines = Text(text).wrap(console, max(console.width - indent, 20))
    for number, line in enumerate(lines):
        console.print((start if number == 0 else Text(" " * indent)) + line, soft_wrap=True)


def print_indented(console: Console, text: Text, indent: int = _INDENT) -> None:
    """Print a text whose further lines are indented a little more."""
    lines = text.wrap(console, max(console.width - indent - 2, 20))
    for number, line in enumerate(lines):
        console.print(Text(" " * (indent + (2 if number else 0))) + line, soft_wrap=True)
