"""The plan in a terminal: what happens to each member, then why others are left out, then totals."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from fleet_components.review.documents.form import Document, kind_of, to_read
from fleet_components.review.documents.view import is_narrow
from fleet_components.review.showing import words
from fleet_components.review.showing.console import STYLES
from fleet_components.review.showing.diffs import diff_lines, shown_changes
from fleet_components.review.showing.folded import in_full, left_out, new_warnings
from fleet_components.review.showing.notes import notes
from fleet_components.review.showing.rows import Row, print_indented, print_rows
from fleet_components.review.showing.tree import print_resources

_HEADER = Row(words.HEADER, "why", "bold")


def plan_table(console: Console, document: Document, *, diff: bool = False) -> None:
    """Print a plan, refusals and losses first; with ``diff``, with the values of every field that changes."""
    document = to_read(document)
    whole = document["view"]["all"]
    _first(console, document)
    for subject in in_full(document):
        _subject(console, subject, diff=diff, whole=whole, narrow=is_narrow(document))
    if resources := document.get("resources"):
        print_resources(console, resources, diff=diff, whole=whole)
    for line in left_out(document):
        print_indented(console, Text(line, "dim"), 0)
    for warning in new_warnings(document):
        print_indented(console, Text(f"warning: {warning}", "yellow"), 0)
    for message in document.get("messages", ()):
        print_indented(console, Text(f"{message['level']}: {message['text']}"), 0)
    print_indented(console, Text(words.summary(document), "bold"), 0)
    if counts := document["totals"].get("resources"):
        print_indented(console, Text(f"Resources: {words.resource_counts(counts)}", "bold"), 0)
    if line := words.uncompared(document.get("resources") or ()):
        print_indented(console, Text(line, "dim"), 0)


def _first(console: Console, document: Document) -> None:
    """Print what a reader must see first: what happens, why it is refused, and what is lost."""
    for line in document["disregarded"]:
        print_indented(console, Text(line, "bold red"), 0)
    happens, *more = document["headline"]
    print_indented(console, Text(happens, "bold red" if document["refused"] else "bold"), 0)
    for line in more:
        print_indented(console, Text(line), 0)
    console.print()
    refusals, leaving = list(words.refusals(document)), list(words.leaving(document))
    for line in refusals:
        print_indented(console, Text(line, "bold red"), 0)
    if line := words.confirmation(document):
        console.print(Text(line, "yellow"), soft_wrap=True)  # not wrapped, so that it can be copied
    for style, line in leaving:
        print_indented(console, Text(line, style), 0)
    if refusals or leaving:
        console.print()


def _subject(console: Console, subject: Document, *, diff: bool, whole: bool, narrow: bool) -> None:
    print_indented(console, Text(f"{kind_of(subject)} ") + Text(subject["key"], "bold cyan"), 0)
    print_indented(console, Text(words.headline(subject), "dim"))
    for line in words.holders(subject, whole=whole or narrow):
        print_indented(console, Text(words.single_line(line)))
    if subject["clusters"]:
        rows = [Row(cells, why, STYLES[change]) for change, cells, why in words.rows(subject, whole=whole)]
        print_rows(console, _HEADER, rows)
    for change in shown_changes(subject, whole=diff, narrow=narrow):
        _content(console, change, diff)
    for level, line in words.overridden(subject, diff=diff, whole=whole or narrow):
        print_indented(console, Text(words.single_line(line)), 2 + 2 * level)
    for style, line in notes(subject):
        print_indented(console, Text(words.single_line(line), style))
    console.print()


def _content(console: Console, change: Document, diff: bool) -> None:
    """Print how an object changes; with ``diff``, all of it."""
    for style, line in diff_lines(change, whole=diff):
        print_indented(console, Text(line, style))
