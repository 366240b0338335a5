"""Differences of objects: a heading that says what changes where, and the diff below it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from fleet_components.model.text import count, few, visible
from fleet_components.review.documents.form import Document

LINES = 20
"""Number of lines of a diff that are shown unless all are asked for."""
_LONGEST = 200
"""Length of a line that is shown unless all is asked for."""
_SIGNS = {"create": "+", "delete": "-", "update": "~", "replace": "+-"}
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HEADINGS = {"create": "green", "delete": "red", "update": "yellow", "replace": "red"}
_FATES = {
    "kept": "kept there, no longer managed",
    "forgotten": "forgotten, as the member is lost",
    "undone": "if the update that was interrupted has made it",
}

_UNKNOWN = "what stands is unknown: the last update was killed while it was writing this object"


def shown_changes(subject: Document, *, whole: bool, narrow: bool) -> list[Document]:
    """Return the changes that are shown of a subject; those of which only the heading is shown share one if they can.

    Args:
        subject: the document of the subject.
        whole: whether new objects are shown with all of their fields.
        narrow: whether only a part of the plan is shown. Otherwise what is deleted now is told ahead of all subjects.
    """
    alike: dict[str, list[Document]] = {}
    for change in subject["content"] or ():
        if change["change"] == "delete" and not (narrow or change["later"]):
            continue
        bare = change["change"] == "delete" or (change["change"] == "create" and not whole)
        apart = {key: value for key, value in change.items() if key not in ("object", "diff") or not bare}
        alike.setdefault(json.dumps(apart), []).append(change)
    return [{**found[0], "object": few([data["object"] for data in found])} for found in alike.values()]


def heading(change: Document) -> str:
    """Return what happens to an object, and where: ``~ Deployment shop/web on east, west and 57 more``."""
    envelope = f" in {change['envelope']}" if change["envelope"] else ""
    notes = [
        *(["once they move" if len(change["members"]) > 1 else "once it moves"] if change["later"] else []),
        *([_FATES[change["fate"]]] if change["fate"] in _FATES else []),
        *([_UNKNOWN] if change["unknown"] else []),
        *([_taken_up(change)] if change["takenUp"] else []),
        *([f"made anew for {few(change['immutable'])}"] if change["immutable"] else []),
    ]
    suffix = f": {', '.join(notes)}" if notes else ""
    return f"{_SIGNS[change['change']]} {change['object']}{envelope} on {few(change['members'])}{suffix}"


def _taken_up(change: Document) -> str:
    words = "taken up again, as the member is back"
    return words if change["fields"] else f"{words}; in which form it stands there is not known"


def diff_lines(change: Document, *, whole: bool, limit: int = LINES) -> Iterator[tuple[str, str]]:
    """Yield the lines of a change for a terminal, each with its style: the heading, then the diff, indented.

    Args:
        change: an entry of ``content``.
        whole: whether to show all of it. Otherwise a new object has its heading only, and a long diff is cut.
        limit: the number of lines of the diff at which it is cut.
    """
    yield _HEADINGS[change["change"]], heading(change)
    yield from ((_STYLES.get(line[:1], ""), f"  {line}") for line in _shown(change, whole, limit))


def diff_block(change: Document, *, whole: bool, limit: int = LINES) -> list[str]:
    """Return the lines of a block with the diff of a change for Markdown; none where nothing but the heading is shown.

    Args:
        change: an entry of ``content``.
        whole: whether to show all of it, as :func:`diff_lines` does.
        limit: the number of lines of the diff at which it is cut.
    """
    lines = list(_shown(change, whole, limit))
    # Longer than any run of backticks within, so that nothing in a line can end the block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(lines))), default=0))
    return [f"{fence}diff", *lines, fence] if lines else []


def _shown(change: Document, whole: bool, limit: int) -> Iterator[str]:
    """Yield the lines of the diff without anything that a terminal or a log would carry out."""
    lines = visible(change["diff"], lines=True).splitlines()
    if whole:
        yield from lines
    elif change["change"] != "create":
        # A note in place of a single line would be no shorter.
        shown = lines if len(lines) <= limit + 1 else lines[:limit]
        yield from (line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..." for line in shown)
        if more := len(lines) - len(shown):
            yield f"... {count(more, 'more line')}: --diff shows {'it' if more == 1 else 'them'}"
