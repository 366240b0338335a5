"""Templates of Karmada's policies for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from fleet_components.cli.documents.form import Document
from fleet_components.cli.showing import words
from fleet_components.cli.showing.console import STYLES
from fleet_components.cli.showing.rows import Row, print_indented, print_rows

_MEMBERS = Row(("member", "what", "replicas", "revision"), "why", "bold")


def print_templates(console: Console, documents: Iterable[Document]) -> None:
    """Print templates: who has them, where they go, and why."""
    for document in documents:
        print_indented(console, Text("Template ") + Text(document["key"], "bold cyan"), 0)
        for line in words.holders(document):
            print_indented(console, Text(words.one_line(line)))
        if document["clusters"]:
            print_rows(console, _MEMBERS, [_member_row(cluster) for cluster in document["clusters"]])
        for style, line in words.template_notes(document):
            print_indented(console, Text(words.one_line(line), style))
        console.print()


def _member_row(cluster: Document) -> Row:
    cells: Sequence[str] = (
        cluster["name"],
        cluster["change"],
        words.show_revision(cluster["replicas"]),
        words.show_revision(cluster["revision"]),
    )
    return Row(cells, words.one_line(cluster["why"]), STYLES[cluster["change"]])
