"""An observation for people: what there is, what has changed, and what is missing in it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import count, visible
from fleet_components.review.documents.form import Document
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import one_line

MOST_FILES = 20
"""Largest number of files that are named."""
_CALLED = {"kubefleet": "KubeFleet", "karmada": "Karmada"}
_MARKS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}


def print_observed(console: Console, document: Document) -> None:
    """Print an observation."""
    counted = [
        count(document["members"], "member"),
        count(document["policies"], "policy"),
        count(document["objects"], "object"),
        count(document["subjects"], "subject"),
    ]
    line = f"{_CALLED[document['system']]} as of {document['asOf']}: {', '.join(counted)}"
    print_indented(console, Text(line, "bold"), 0)
    _print_changes(console, document)
    for heading, noun, files in (
        ("edited, and not on the hub yet", "file", document["edited"]),
        (
            "replaced, as the hub has changed the same field (to have it again, write it again)",
            "edit",
            document["lost"],
        ),
        ("with the data of Secrets: not to be committed", "file", document["private"]),
    ):
        _print_files(console, heading, files, noun)
    for name, reason in document["silent"].items():
        print_indented(console, Text(f"! member {visible(name)} {one_line(visible(reason))}", "red"), 0)
    for refusal in document["refused"]:
        print_indented(console, Text(f"! {one_line(visible(refusal))}", "red"), 0)
    for note in document["notes"]:
        print_indented(console, Text(f"note: {one_line(visible(note))}"), 0)


def _print_files(console: Console, heading: str, files: Sequence[str], noun: str) -> None:
    if files:
        print_indented(console, Text(f"{heading}: {count(len(files), noun)}"), 0)
        for file in files[:MOST_FILES]:
            print_indented(console, Text(visible(file)))
        if more := len(files[MOST_FILES:]):
            print_indented(console, Text(f"and {count(more, f'more {noun}')}"))


def _print_changes(console: Console, document: Document) -> None:
    changes, folder = document["changes"], visible(document["directory"])
    numbers = {what: len(files) for what, files in changes.items()}
    if document["before"] is None:
        print_indented(console, Text(f"{folder}: {count(numbers['added'], 'file')}"), 0)
        return
    since = f"since {document['before']}"
    if not any(numbers.values()):
        print_indented(console, Text(f"{folder}: nothing has changed {since}"), 0)
        return
    told = ", ".join(f"{number} {what}" for what, number in numbers.items() if number)
    print_indented(console, Text(f"{folder}: {told} {since}"), 0)
    files = [(what, file) for what in _MARKS for file in changes[what]]
    for what, file in files[:MOST_FILES]:
        mark, style = _MARKS[what]
        print_indented(console, Text(f"{mark} {visible(file)}", style))
    if more := len(files[MOST_FILES:]):
        print_indented(console, Text(f"and {count(more, 'more file')}"))
