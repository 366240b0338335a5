"""The treatment of the fields of policies by each delivery, as a table and as the page of the documentation."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from fleet_components.review.documents.deliveries import CARRIED_OUT, DELIVERIES
from fleet_components.review.documents.form import Document
from fleet_components.review.showing.rows import print_indented

_NAMES = ("direct", "through a hub", "Argo CD", "Flux")
_PAGE = """\
# What each delivery does with a field

Written by `make docs` from the table that every plan goes by; `fleet fields --deliveries KIND` shows a part of it.
[Which delivery when](which-delivery.md) says what else they differ in, and [fields](fields.md) why something is not
carried out.

Every field of `spec` is here, of every kind of policy: those that not all deliveries carry out in a table, all others
below it by the highest field of which everything is carried out. "The same" is what the direct delivery does. A render
for Argo CD or Flux refuses what a plan refuses. Whatever a hub decides, it decides as soon as it sees a reason; the
others decide with each update, or with each render.
"""


def print_deliveries(console: Console, document: Document) -> None:
    """Print the table, kind by kind, and below each field what each delivery does with it."""
    for policy in document["policies"]:
        print_indented(console, Text(", ".join(policy["kinds"]), "bold cyan"), 0)
        for row in policy["fields"]:
            print_indented(console, Text(_place(row), "bold"), 1)
            members_by_words: dict[str, list[str]] = {}
            for name, words in zip(_NAMES, _cells(row), strict=True):
                members_by_words.setdefault(words, []).append(name)
            for words, names in members_by_words.items():
                print_indented(console, Text(f"{', '.join(names)}: {words}"), 2)
        if policy["carriedOut"]:
            print_indented(console, Text(f"{_ALL}: {', '.join(policy['carriedOut'])}", "dim"), 1)
        console.print()


def deliveries_markdown(document: Document, *, whole: bool) -> str:
    """Return the page of the documentation, or its part about one kind."""
    parts = [_PAGE] if whole else []
    for policy in document["policies"]:
        lines = [f"## {', '.join(policy['kinds'])}", ""]
        if policy["fields"]:
            lines += [f"| field | {' | '.join(_NAMES)} |", f"| --- |{' --- |' * len(_NAMES)}"]
            lines += [f"| `{_place(row)}` | {' | '.join(_cells(row))} |" for row in policy["fields"]]
            lines.append("")
        if policy["carriedOut"]:
            lines += [f"{_ALL}: {', '.join(f'`{item}`' for item in policy['carriedOut'])}.", ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)


_ALL = "Carried out by every delivery"


def _place(row: dict[str, Any]) -> str:
    """Return the field with its values: ``spec.strategy.applyStrategy.type: ReportDiff``."""
    plain = [text for text in row["values"] if not text.startswith("beside ")]
    beside = [text for text in row["values"] if text.startswith("beside ")]
    return " ".join([row["field"] + (f": {', '.join(plain)}" if plain else ""), *beside])


def _cells(row: dict[str, Any]) -> list[str]:
    first, *others = (str(row[name]) for name in DELIVERIES)
    return [first, *("the same" if text == first != CARRIED_OUT else text for text in others)]
