"""Blocks in a terminal. No word is broken or cut, since names and paths are to be copied."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from fleet_components.model.text import visible
from fleet_components.review.showing.blocks import (
    Block,
    Branch,
    Diff,
    Drawing,
    Fold,
    Gap,
    Paragraph,
    Role,
    Row,
    Table,
)
from fleet_components.review.showing.console import shown
from fleet_components.review.showing.words import single_line

_INDENT, _BELOW, _DEEPER, _GAP = 2, 4, 6, "  "
_ROOM = 40
"""Smallest width beside the columns in which a long text is still readable."""
_LEAST = 20
"""Smallest width to which a text is wrapped, however narrow the terminal is."""
_LONG = re.compile(rf"\S{{{_LEAST},}}")
_OF_DIFFS = {"+": "green", "-": "red", "@": "cyan"}


def printed(blocks: Iterable[Block]) -> str:
    """Return blocks as text for standard output."""
    found = list(blocks)
    return shown(lambda console: print_blocks(console, found))


def print_blocks(console: Console, blocks: Iterable[Block], indent: int = 0) -> None:
    """Print blocks, each indented by a number of columns."""
    for block in blocks:
        match block:
            case Gap():
                console.print()
            case Paragraph():
                _print_paragraph(console, block, indent)
            case Table():
                _print_rows(console, _plain(block.header), [*map(_plain, block.rows)])
            case Diff():
                _print_diff(console, block, indent)
            case Drawing():
                if block.title:
                    console.print(Text(_safe(block.title), "bold"))
                for root in block.roots:
                    _print_tree(console, _tree(root))
            # What is folded for a page would be too long here, and is left out.
            case Fold(folded=False):
                kind = f"{_safe(block.kind)} " if block.kind else ""
                title = Text(kind) + Text(_safe(block.name), "bold cyan")
                _print_line(console, title, indent)
                print_blocks(console, block.blocks, indent + _INDENT)


def _print_paragraph(console: Console, block: Paragraph, indent: int) -> None:
    text = visible(block.text, lines=True) if block.multiline else _safe(block.text)
    indent += _INDENT * block.level
    if block.role is Role.COMMAND:
        console.print(Text(" " * indent + text, block.style), soft_wrap=True)
    else:
        _print_line(console, Text(text, block.style), indent)


def _print_diff(console: Console, block: Diff, indent: int) -> None:
    for line in block.lines():
        style = _OF_DIFFS.get(line[:1], "")
        if block.exact:
            console.print(Text(line, style), soft_wrap=True)
        else:
            _print_line(console, Text(f"  {line}", style), indent)


def _safe(text: str) -> str:
    return single_line(visible(text))


def _plain(row: Row) -> Row:
    cells = [_safe(cell) for cell in row.cells]
    return Row(cells, _safe(row.text), row.style)


def _tree(branch: Branch) -> Tree:
    lines = [
        Text().join(Text(visible(text), style) for text, style in line) for line in branch.lines
    ]
    tree = Tree(Text("\n").join(lines), guide_style="dim")
    tree.children += map(_tree, branch.below)
    return tree


def _print_rows(console: Console, header: Row, rows: Sequence[Row]) -> None:
    """Print rows below a header; columns that are empty in every row are left out.

    Where the columns alone are wider than the terminal, the others stand below the first one.
    """
    used = [i for i in range(len(header.cells)) if any(row.cells[i] for row in rows)]
    if not used:
        return
    widths = {i: max(len(row.cells[i]) for row in (header, *rows)) for i in used}
    beside = _INDENT + sum(widths.values()) + len(_GAP) * len(used)
    width = console.width
    narrow = beside - len(_GAP) > width and len(used) > 1
    lines: list[Text] = []
    for row in (header, *rows):
        first, *others = used
        cells = _GAP.join([row.cells[i].ljust(widths[i]) for i in (others if narrow else used)])
        start = Text(" " * _INDENT).append(cells, row.style)
        if narrow:
            lines += _indented(
                _folded(console, Text(row.cells[first], row.style), width - _INDENT), _INDENT
            )
            *above, start = _indented(
                [Text(line, row.style) for line in _words(cells, width - _BELOW)], _BELOW
            )
            lines += above
        # Enough room for the long text, or it fits whole: it starts beside the columns, else below.
        if width - beside >= _ROOM or beside + len(row.text) <= width:
            start_line, *further = _folded(console, Text(row.text), width - beside)
            lines += [start.append(_GAP).append_text(start_line), *_indented(further, beside)]
        elif row is header or not row.text:
            lines.append(start)
        else:
            lines += [start, *_indented(_folded(console, Text(row.text), width - _DEEPER), _DEEPER)]
    console.print(Text("\n").join(lines), soft_wrap=True)


def _print_line(console: Console, text: Text, indent: int) -> None:
    """Print a text; its further lines are indented by two more."""
    first, *further = _folded(console, text, console.width - indent - 2)
    lines = [*_indented([first], indent), *_indented(further, indent + 2)]
    console.print(Text("\n").join(lines), soft_wrap=True)


def _print_tree(console: Console, tree: Tree) -> None:
    """Print a tree of texts as Rich does, except that no word is broken or cut: names and paths are
    to be copied.
    """
    # The first of Rich's guides are the thin ones; ASCII where the terminal has no line characters.
    guides = tree.ASCII_GUIDES if console.options.ascii_only else tree.TREE_GUIDES[0]
    console.print(Text("\n").join(_branches(console, tree, guides, Text(), Text())), soft_wrap=True)


def _branches(
    console: Console, tree: Tree, guides: Sequence[str], first: Text, further: Text
) -> Iterator[Text]:
    (space, line, fork, end), width = guides, console.width
    # _tree makes all labels.
    assert isinstance(tree.label, Text)
    lines = (
        text
        for part in tree.label.split(allow_blank=True)
        for text in _folded(console, part, width - len(first))
    )
    for number, text in enumerate(lines):
        yield (further if number else first) + text
    for child in tree.children:
        last = child is tree.children[-1]
        begin, below = (
            further + Text(guide, tree.guide_style)
            for guide in ((end, space) if last else (fork, line))
        )
        yield from _branches(console, child, guides, begin, below)


def _folded(console: Console, text: Text, width: int) -> Sequence[Text]:
    """Return the text in lines of a width; a word that is longer, as a path is, has a line of its
    own and is whole.
    """
    if len(text) <= width:
        return [text]
    room = max(width, _LEAST)
    lines, begin = list[Text](), 0
    for word in _LONG.finditer(text.plain):
        if len(word[0]) > room:
            lines += _wrapped(console, text[begin : word.start()], room)
            lines.append(text[word.start() : word.end()])
            begin = word.end()
    # A text of spaces has no line at all, and the caller takes the first one.
    return [*lines, *_wrapped(console, text[begin:], room)] or [text]


def _wrapped(console: Console, text: Text, room: int) -> Sequence[Text]:
    # Changes the text itself: Text of Rich is mutable.
    text.rstrip()
    plain = text.plain
    return (
        list(text[len(plain) - len(plain.lstrip()) :].wrap(console, room)) if plain.strip() else []
    )


def _words(cells: str, width: int) -> Sequence[str]:
    """Return cells in lines of a width, not broken within a word: what stands in cells is to be
    copied.
    """
    cells = cells.rstrip()
    if len(cells) <= width:
        return [cells]
    return textwrap.wrap(cells, max(width, _LEAST), break_long_words=False, break_on_hyphens=False)


def _indented(lines: Sequence[Text], indent: int) -> Iterator[Text]:
    return (Text(" " * indent).append_text(line) for line in lines)
