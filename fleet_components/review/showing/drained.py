"""The draining of a member in a terminal: the files that change, as a diff, then what moves."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import visible
from fleet_components.review.planning.drain import Drain, Edit
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import one_line

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_drain(console: Console, drain: Drain) -> None:
    """Print the diff, and what comes of each placement and template on the member."""
    for edit in drain.edits:
        for line in _diff(edit):
            console.print(Text(visible(line), _STYLES.get(line[:1], "")), soft_wrap=True)
    console.print()
    for name, words in drain.outcomes.items():
        print_indented(console, Text(f"{visible(name)}: {one_line(visible(words))}"), 0)
    if not drain.outcomes:
        print_indented(console, Text("nothing is on it"), 0)
    console.print()


def _diff(edit: Edit) -> Iterator[str]:
    old, new = (text.splitlines() for text in (edit.old, edit.new))
    yield from unified_diff(old, new, edit.file if edit.old else "/dev/null", edit.file, lineterm="")
