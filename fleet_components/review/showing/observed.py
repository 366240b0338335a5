"""An observation for people: what there is, what has changed, and what is missing in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from fleet_components.hub.karmada.settings import UNTOLD
from fleet_components.model.alike import folded
from fleet_components.model.text import count, visible
from fleet_components.review.documents.form import Document
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import one_line

MOST_FILES = 20
"""Largest number of files that are named."""
_CALLED = {"kubefleet": "KubeFleet", "karmada": "Karmada"}
_MISSING = re.compile(r"\b(left out|not read|not known|not asked for|does not know|not carried out|not on the hub)\b")
_MARKS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}


def print_observed(console: Console, document: Document) -> None:
    """Print an observation: what it is of, what has changed, what is missing in it, and what else is to be known."""
    print_indented(console, Text(_of_what(document), "bold"), 0)
    _print_changes(console, document)
    whose = "the hub" if document["hub"] else "the clusters"
    for heading, files in (
        # Of clusters without a hub, all that is placed there is made by people.
        ("edited, and not on the hub yet", document["edited"] if document["hub"] else []),
        (f"edits that {whose} {'has' if document['hub'] else 'have'} replaced", document["lost"]),
        ("with the data of Secrets: not to be committed", document["private"]),
    ):
        _print_files(console, heading, files)
    for name, reason in document["silent"].items():
        print_indented(console, Text(f"! member {visible(name)} {one_line(visible(reason))}", "red"), 0)
    for refusal in document["refused"]:
        print_indented(console, Text(f"! {one_line(visible(refusal))}", "red"), 0)
    if document["grant"]:
        print_indented(console, Text("this grants it, with a kubectl that may do so there:"), 0)
        print_indented(console, Text(visible(document["grant"])))
    for name, context in document["named"].items():
        print_indented(console, Text(f"note: member {visible(name)} is the context {visible(context)}"), 0)
    for note in folded(sorted(document["notes"], key=_weight)):
        print_indented(console, Text(f"note: {one_line(visible(note))}"), 0)


def _of_what(document: Document) -> str:
    system, as_of = _CALLED[document["system"]], document["asOf"]
    if not document["hub"]:
        return f"{count(document['members'], 'cluster')} as of {as_of}, as members of {system}"
    counted = [count(document["members"], "member"), count(document["policies"], "policy")]
    counted.append(count(document["objects"], "object"))
    bound = {"kubefleet": ("placements", "placement"), "karmada": ("templates", "bound template")}
    key, noun = bound[document["system"]]
    counted.append(count(document[key], noun))
    return f"{system} as of {as_of}: {', '.join(counted)}"


def _weight(note: str) -> int:
    """Return how far back a note stands: what is missing comes first, what holds for every hub last."""
    if _MISSING.search(note):
        return 0
    return 2 if note == UNTOLD else 1


def _print_files(console: Console, heading: str, files: Sequence[str]) -> None:
    if files:
        print_indented(console, Text(f"{heading}: {count(len(files), 'file')}"), 0)
        for file in files[:MOST_FILES]:
            print_indented(console, Text(visible(file)))
        if more := len(files[MOST_FILES:]):
            print_indented(console, Text(f"and {count(more, 'more file')}"))


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
