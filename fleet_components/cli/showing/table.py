"""The plan for people in a terminal: what happens to each member, then why others are left out, then totals."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from fleet_components.cli.documents.form import Document
from fleet_components.cli.showing import words
from fleet_components.cli.showing.console import STYLES
from fleet_components.cli.showing.rows import Row, print_indented, print_rows
from fleet_components.cli.showing.templates import print_templates
from fleet_components.cli.showing.tree import print_resources

_HEADER = Row(("member", "what", "wave", "revision", "score"), "why", "bold")
_SIGNS = {"create": "+", "delete": "-", "update": "~"}


def plan_table(console: Console, document: Document, *, diff: bool = False) -> None:
    """Print a plan; with ``diff`` the old and the new value of every field that changes."""
    for placement in document["placements"]:
        _placement(console, placement, diff)
    print_templates(console, document.get("templates", ()))
    if resources := document.get("resources"):
        print_resources(console, resources, diff=diff)
    for message in document.get("messages", ()):
        print_indented(console, Text(f"{message['level']}: {message['text']}"), 0)
    if line := words.confirmation(document):
        console.print(Text(line, "yellow"), soft_wrap=True)  # never folded, so that it can be pasted
    print_indented(console, Text(words.summary(document), "bold"), 0)
    if counts := document["totals"].get("resources"):
        print_indented(console, Text(f"Resources: {words.resource_counts(counts)}", "bold"), 0)


def _placement(console: Console, placement: Document, diff: bool) -> None:
    print_indented(console, Text(f"{placement['kind']} ") + Text(placement["key"], "bold cyan"), 0)
    print_indented(console, Text(words.headline(placement), "dim"))
    if placement["clusters"]:
        print_rows(console, _HEADER, [_row(cluster) for cluster in placement["clusters"]])
    for change in placement["content"] or ():
        _content(console, change, diff)
    for style, line in _notes(placement):
        print_indented(console, Text(line, style))
    console.print()


def _row(cluster: Document) -> Row:
    return Row(words.cells(cluster), words.why(cluster), STYLES[cluster["change"]])


def _notes(placement: Document) -> Iterator[tuple[str, str]]:
    """Further lines, each with its style."""
    yield from (("red", f"not fulfilled: {message}") for message in words.unfulfilled(placement))
    yield from (("", line) for line in words.waits(placement))
    yield from (("dim", line) for line in words.unseen(placement))
    yield from (("dim", f"not picked: {line}") for line in words.not_picked(placement))
    yield from (("yellow", f"warning: {words.one_line(warning)}") for warning in placement["warnings"])
    for skipped in placement["skipped"]:
        yield "yellow", f"skipped: {skipped['object']}: {words.one_line(skipped['why'])}"


def _content(console: Console, change: Document, diff: bool) -> None:
    """What changes in an object: which fields, or with ``diff`` how."""
    fields = change["fields"]
    names = "" if diff or not fields else ": " + ", ".join(field["field"] for field in fields)
    print_indented(console, Text(f"{_SIGNS[change['change']]} {change['object']}{names}"))
    for field in fields if diff else ():
        print_indented(console, Text(words.show_field(field)), 4)
