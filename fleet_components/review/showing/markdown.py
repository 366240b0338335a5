"""The plan as a comment on a pull request: a summary, and the details of each subject in a folded
block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fleet_components.model.text import count
from fleet_components.review.documents.form import Document, is_narrow, kind_of, to_read
from fleet_components.review.showing import words
from fleet_components.review.showing.diffs import (
    diff_block,
    heading,
    in_full,
    left_out,
    new_warnings,
    notes,
    shown_changes,
)

LIMIT = 60_000
"""Largest number of characters of a comment; GitHub cuts comments at 65,536."""

_RESERVE = 500
"""Characters kept free for the note about what is left out."""
_LINES_SHOWN = 30
"""Number of lines of a list above the folded blocks."""
_VALUE_SHOWN = 200


def to_markdown(document: Document, *, diff: bool = False, command: str = "plan") -> str:
    """Return the plan in GitHub's Markdown, always shorter than ``LIMIT``; a note at the end says
    what is left out.

    Args:
        document: the document of the plan.
        diff: whether differences are shown whole.
        command: the command of ``fleet`` that has made it: the title, and what shows all of it.
    """
    document = to_read(document)
    parts = [f"### Fleet {command}\n", *_first(document)]
    counts = document["totals"].get("resources")
    if counts:
        parts.append(f"Resources: {words.resource_counts(counts)}\n")
    line = words.uncompared(document.get("resources") or ())
    if line:
        parts.append(f"{escaped(line)}\n")
    parts += _few(f"> {m['level']}: {escaped(m['text'])}\n" for m in document.get("messages", ()))
    parts += _few(f"> warning: {escaped(warning)}\n" for warning in new_warnings(document))
    parts += [f"{escaped(line)}\n" for line in left_out(document)]
    asked = {"whole": document["view"]["all"], "narrow": is_narrow(document)}
    forms = (True, False) if diff else (False,)
    blocks = [
        (*(_block(subject, diff=form, **asked) for form in forms), _title(subject))
        for subject in in_full(document)
    ]
    return fitted("\n".join(parts), blocks, f"fleet {command}")


def _first(document: Document) -> Iterator[str]:
    """Yield what a reader must see first: what happens, why it is refused, and what is lost."""
    yield from _few(f"> **{escaped(line)}**\n" for line in document["disregarded"])
    happens, *more = document["headline"]
    yield f"**{escaped(happens)}**\n"
    yield from (f"{escaped(line)}\n" for line in more)
    yield from _few(f"> **{escaped(line)}**\n" for line in words.refusals(document))
    line = words.confirmation(document)
    if line:
        yield f"> {escaped(line)}\n"
    lines = _few(f"- {escaped(line)}" for _, line in words.leaving(document))
    if lines:
        yield "\n".join(lines) + "\n"


def _few(lines: Iterable[str]) -> list[str]:
    """Return the first lines of a list, and how many more there are, so that no list takes all of
    the room.
    """
    every = list(lines)
    more = len(every) - _LINES_SHOWN
    return [*every[:_LINES_SHOWN], *([f"_and {more} more_\n"] if more > 0 else [])]


def fitted(text: str, blocks: Iterable[Sequence[str]], command: str) -> str:
    """Return the text with every block, or only its title, as far as they fit; the command shows
    all of it.

    The titles come before details: room is kept for those that follow, up to half of it.

    Args:
        text: the text above the blocks.
        blocks: the forms of each block, the longest first, and its title.
        command: the command, to be named where something is left out.
    """
    room = LIMIT - _RESERVE
    if len(text) > room:
        text = text[:room].rpartition("\n")[0] + "\n"  # between two lines, where no markup is open
    lines = [(forms, f"\n- {title}\n") for *forms, title in blocks]
    following = sum(len(line) for _, line in lines)
    shortened = titled = dropped = 0
    for forms, line in lines:
        following -= len(line)
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


def _title(subject: Document) -> str:
    changes = dict.fromkeys(("joins", "updated", "leaves", "held", "stays"), 0)
    for cluster in subject["clusters"]:
        changes[cluster["change"]] += 1
    # HTML, because Markdown is not rendered inside of ``<summary>``.
    return f"{escaped(kind_of(subject))} <b>{escaped(subject['key'])}</b>: {words.changes(changes)}"


def _block(subject: Document, *, diff: bool, whole: bool, narrow: bool) -> str:
    holders = words.holders(subject, whole=whole or narrow)
    lines = [escaped(words.headline(subject)), "", *(f"- {escaped(line)}" for line in holders)]
    lines += [""] if holders else []
    if subject["clusters"]:
        rows = [(*cells, why) for _, cells, why in words.rows(subject, whole=whole)]
        lines += [*table((*words.HEADER, "why"), rows), ""]
    for change in shown_changes(subject, whole=diff, narrow=narrow):
        lines += _content(change, diff)
    overridden = words.overridden(subject, diff=diff, whole=whole or narrow)
    lines += [f"{'  ' * level}- {escaped(_cut(line))}" for level, line in overridden]
    return folded(_title(subject), [*lines, *(f"- {escaped(note)}" for _, note in notes(subject))])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows below their header; columns that are empty in every row are left out."""
    used = [column for column in range(len(header)) if any(row[column] for row in rows)]
    yield "| " + " | ".join(header[column] for column in used) + " |"
    yield "| " + " | ".join("---" for _ in used) + " |"
    yield from ("| " + " | ".join(escaped(row[column]) for column in used) + " |" for row in rows)


def folded(title: str, lines: Iterable[str]) -> str:
    """Return lines in a block that a click unfolds."""
    # The empty line after the summary ends the HTML block, so that Markdown is rendered again.
    return "\n".join(["", f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""])


def _content(change: Document, diff: bool) -> list[str]:
    block = diff_block(change, whole=diff)
    return [f"- {escaped(heading(change))}", *(["", *block, ""] if block else [])]


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}..."


def escaped(text: str) -> str:
    """Return a text that is shown as it is: nothing in it is markup, a link, an image, a mention or
    a reference.
    """
    plain = words.single_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return _LINKS.sub(r"\g<0><!-- -->", _MARKUP.sub(r"\\\g<0>", plain))


_MARKUP = re.compile(r"[\\`*_~\[\]|!]|^>|^#(?=#*(?: |$))|^[+-](?= )")
_LINKS = re.compile(
    r"@|#(?=\d)|:(?=//|[a-z_+-][\w+-]*:)|(?<=www)\.|(?<=GH)-(?=\d)|\$", re.IGNORECASE
)
"""Text that GitHub turns into something else without markup: mentions, numbers of issues,
addresses, emoji, formulas.

An empty comment behind it prevents that; an entity would not, since it is decoded first.
"""
