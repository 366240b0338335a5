"""Blocks as GitHub's Markdown, for a comment on a pull request: what is folded comes last, and is
cut where there is no room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from fleet_components.model.text import count, visible
from fleet_components.review.showing.blocks import Block, Diff, Fold, Page, Paragraph, Role, Table
from fleet_components.review.showing.words import single_line

LIMIT = 60_000
"""Largest number of characters of a comment; GitHub cuts comments at 65,536."""
_RESERVE = 500
"""Characters kept free for the note about what is left out."""
_LINES_SHOWN = 30
"""Number of lines of a list above the folded blocks."""
_ROWS_SHOWN = 100
"""Number of rows of a table above the folded blocks."""
_FORMS: Mapping[Role, str] = {
    Role.HEADLINE: "**{}**",
    Role.ALERT: "> **{}**",
    Role.NOTE: "> {}",
    Role.TEXT: "{}",
    Role.ITEM: "- {}",
    Role.COMMAND: "> {}",
    Role.LAST: "{}",
}


def to_markdown(page: Page) -> str:
    """Return a page, always shorter than ``LIMIT``; a note at the end says what is left out."""
    folds = [block for block in page.blocks if isinstance(block, Fold)]
    above = [block for block in page.blocks if not isinstance(block, Fold)]
    # A comment is read from the top: what ends a terminal's output begins a page.
    last = [block for block in above if _has(block, Role.LAST)]
    first = [] if any(_has(block, Role.HEADLINE) for block in above) else last
    others = [block for block in above if block not in last]
    lines = [f"### {escaped(page.title)}", "", *_lines([*first, *_few(others)])]
    forms = [(*_forms(fold), _title(fold)) for fold in folds]
    return _fitted("\n".join(lines).rstrip() + "\n", forms, page.command)


def _has(block: Block, role: Role) -> bool:
    return isinstance(block, Paragraph) and block.role is role


def _few(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks, of a list only the first lines, so that no list takes all of the room."""
    for _, alike in groupby(blocks, key=_list_of):
        every = list(alike)
        yield from every[:_LINES_SHOWN]
        more = len(every) - _LINES_SHOWN
        if more > 0:
            yield Paragraph(f"and {more} more")


def _list_of(block: Block) -> object:
    """Return what the lines of one list have in common."""
    return (block.role, block.style) if isinstance(block, Paragraph) else block


def _lines(blocks: Sequence[Block], rows: int | None = _ROWS_SHOWN) -> list[str]:
    """Return the lines of blocks, with an empty one between those that are no items of one list."""
    lines, before = list[str](), False
    for block in blocks:
        found = list(_block(block, rows))
        item = _has(block, Role.ITEM)
        if lines and found and not (item and before):
            lines.append("")
        if found:
            before = item
        lines += found
    return lines


def _block(block: Block, rows: int | None) -> Iterator[str]:
    match block:
        case Paragraph():
            text, limit = single_line(visible(block.text)), block.limit
            if limit is not None and len(text) > limit:
                text = f"{text[:limit]}..."
            yield "  " * block.level + _FORMS[block.role].format(escaped(text))
        case Table():
            yield from _table(block, rows)
        case Diff():
            yield from _fenced(list(block.lines()))


def _table(table: Table, most: int | None) -> Iterator[str]:
    """Yield rows below their header; columns that are empty in every row are left out."""
    rows = [(*row.cells, row.text) for row in (table.header, *table.rows)]
    used = [column for column in range(len(rows[0])) if any(row[column] for row in rows[1:])]
    if not used:
        return
    header, *below = ("| " + " | ".join(escaped(row[i]) for i in used) + " |" for row in rows)
    yield from (header, "| " + " | ".join("---" for _ in used) + " |", *below[:most])
    more = 0 if most is None else len(below[most:])
    yield from ["", f"and {count(more, 'more row')}"] if more else []


def _fenced(lines: list[str]) -> list[str]:
    # Longer than any run of backticks within, so that nothing in a line can end the block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(lines))), default=0))
    return [f"{fence}diff", *lines, fence] if lines else []


def _title(fold: Fold) -> str:
    # HTML, because Markdown is not rendered inside of ``<summary>``.
    kind = f"{escaped(fold.kind)} " if fold.kind else ""
    space = " " if fold.outcome.startswith(" ") else ""
    return f"{kind}<b>{escaped(fold.name)}</b>{space}{escaped(fold.outcome)}"


def _forms(fold: Fold) -> Iterator[str]:
    """Yield the forms of a fold, the longest first."""
    for blocks in filter(None, (fold.blocks, fold.shorter)):
        # The empty line after the summary ends the HTML block, so that Markdown is rendered again.
        begin = "<details open>" if fold.open else "<details>"
        lines = ["", f"{begin}<summary>{_title(fold)}</summary>", "", *_lines(blocks, None)]
        yield "\n".join([*lines, "", "</details>", ""])


def _fitted(text: str, folds: Iterable[Sequence[str]], command: str) -> str:
    """Return the text with every fold, or only its title, as far as they fit; the command shows all
    of it.

    The titles come before details: room is kept for those that follow, up to half of it.

    Args:
        text: the text above the folds.
        folds: the forms of each fold, the longest first, and its title.
        command: the command, to be named where something is left out.
    """
    room = LIMIT - _RESERVE
    if len(text) > room:
        text = text[:room].rpartition("\n")[0] + "\n"  # between two lines, where no markup is open
    lines = [(forms, f"\n- {title}\n") for *forms, title in folds]
    following = sum(len(line) for _, line in lines)
    shortened = titled = dropped = 0
    for forms, line in lines:
        following -= len(line)
        # Room for the titles of the folds that follow, but never more than half of what there is.
        spare = room - len(text) - min(following, room // 2)
        form = next((form for form in forms if len(form) <= spare), None)
        if form is not None:
            text += form
            shortened += form is not forms[0]
        elif len(text) + len(line) <= room:
            text += line
            titled += 1
        else:
            dropped += 1
    notes = (
        (shortened, "some details of {}"),
        (titled, "the details of {}"),
        (dropped, "{} altogether"),
    )
    cut = " and ".join(note.format(count(number, "placement")) for number, note in notes if number)
    note = (
        f"\n_Cut to {LIMIT:,} characters: left out {cut}; `{command}` shows all, and its JSON has"
        " it._\n"
    )
    return text + (note if cut else "")


def escaped(text: str) -> str:
    """Return a text that is shown as it is: nothing in it is markup, a link, an image, a mention or
    a reference.
    """
    plain = single_line(visible(text)).replace("&", "&amp;").replace("<", "&lt;")
    return _LINKS.sub(r"\g<0><!-- -->", _MARKUP.sub(r"\\\g<0>", plain))


_MARKUP = re.compile(r"[\\`*_~\[\]|!]|^>|^#(?=#*(?: |$))|^[+-](?= )")
_LINKS = re.compile(
    r"@|#(?=\d)|:(?=//|[a-z_+-][\w+-]*:)|(?<=www)\.|(?<=GH)-(?=\d)|\$", re.IGNORECASE
)
"""Text that GitHub turns into something else without markup: mentions, numbers of issues,
addresses, emoji, formulas.

An empty comment behind it prevents that; an entity would not, since it is decoded first.
"""
