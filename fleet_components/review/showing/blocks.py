"""Blocks: what a view makes of a document. The terminal and Markdown render each kind once.

Blocks hold texts as they are. A renderer makes them safe for its reader, at the edge: nothing in
them commands a terminal, a log or a forge, and nothing is markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import Generic, TypeVar

import attrs

from fleet_components.model.text import count, visible

T = TypeVar("T")
LINES = 20
"""Number of lines of a difference that are shown unless all are asked for."""
_LONGEST = 200
"""Length of a line of a difference that is shown unless all is asked for."""


class Role(Enum):
    """Purpose of a paragraph, which says how it stands out.

    ``COMMAND`` is to be copied, so that its line is not broken. ``LAST`` has the outcome at the end
    of what scrolls by; a page begins with it, unless it has a ``HEADLINE``.
    """

    HEADLINE = auto()
    ALERT = auto()
    NOTE = auto()
    TEXT = auto()
    ITEM = auto()
    COMMAND = auto()
    LAST = auto()


@attrs.frozen
class Paragraph:
    """A text of one line.

    Attributes:
        text: the text.
        role: what it is for.
        style: its colour in a terminal.
        level: how deep an item is nested, from 0.
        limit: the largest number of characters that are shown where room is scarce; None for all.
        multiline: whether a terminal keeps its line breaks.
    """

    text: str
    role: Role = Role.TEXT
    style: str = ""
    level: int = 0
    limit: int | None = None
    multiline: bool = False


@attrs.frozen
class Gap:
    """An empty line of a terminal."""


@attrs.frozen
class Row:
    """A row of a table.

    Attributes:
        cells: texts of the short columns.
        text: the long text; empty for none.
        style: style of the cells.
    """

    cells: Sequence[str]
    text: str = ""
    style: str = ""


@attrs.frozen
class Table:
    """Rows of short columns and one long text, below a header.

    Columns that are empty in every row are left out.
    """

    header: Row
    rows: Sequence[Row]


@attrs.frozen
class Column(Generic[T]):
    """A short column of a table: its title, and the text of an item in it."""

    title: str
    cell: Callable[[T], str]


def header_of(columns: Sequence[Column[T]], text: str) -> Row:
    """Return the header of columns, before the one of the long text."""
    return Row([column.title for column in columns], text, "bold")


def cells_of(columns: Sequence[Column[T]], item: T) -> tuple[str, ...]:
    """Return the cells of an item."""
    return tuple(column.cell(item) for column in columns)


@attrs.frozen
class Diff:
    """A difference of texts.

    Attributes:
        text: lines that begin with ``+``, ``-``, ``@`` or a space.
        whole: whether all of it is shown.
        limit: the number of lines at which it is cut otherwise.
        exact: whether it is a patch, so that a terminal neither indents nor breaks its lines.
    """

    text: str
    whole: bool = True
    limit: int = LINES
    exact: bool = False

    def lines(self) -> Iterator[str]:
        """Yield the lines that are shown, without anything that a terminal or a log would carry
        out.
        """
        lines = visible(self.text, lines=True).splitlines()
        if self.whole:
            yield from lines
            return
        # A note in place of a single line would be no shorter.
        shown = lines if len(lines) <= self.limit + 1 else lines[: self.limit]
        yield from (line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..." for line in shown)
        more = len(lines) - len(shown)
        if more:
            yield f"... {count(more, 'more line')}: --diff shows {'it' if more == 1 else 'them'}"


Span = tuple[str, str]
"""A text and its style."""


@attrs.frozen
class Branch:
    """A branch of a tree: its lines, each of spans, and the branches below it."""

    lines: Sequence[Sequence[Span]]
    below: Sequence[Branch] = ()


@attrs.frozen
class Drawing:
    """Trees below a title, which a terminal draws; a page leaves them out, as the JSON has them."""

    title: str
    roots: Sequence[Branch]


@attrs.frozen
class Fold:
    """Details of one thing, which a page folds.

    Attributes:
        name: the thing.
        blocks: its details.
        kind: what it is, before its name.
        outcome: what comes of it, for those who do not unfold it; it follows the name as it is.
        shorter: fewer details, for where there is no room for all of them.
        folded: whether they are for a page alone: in a terminal, they would be too long.
        open: whether a page shows them unfolded at first.
    """

    name: str
    blocks: Sequence[Block]
    kind: str = ""
    outcome: str = ""
    shorter: Sequence[Block] = ()
    folded: bool = False
    open: bool = False


Block = Paragraph | Gap | Table | Diff | Drawing | Fold


@attrs.frozen
class Page:
    """All that a view shows.

    Attributes:
        title: its title.
        blocks: what it shows.
        command: the command that shows all of it, where a page has not enough room.
    """

    title: str
    blocks: Sequence[Block]
    command: str
