"""An observation for people: what there is, what has changed, and what is missing in it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

import attrs
from rich.console import Console
from rich.text import Text

from fleet_components.model.text import count, few, visible
from fleet_components.review.documents.form import Document
from fleet_components.review.showing.words import single_line
from fleet_components.systems.karmada.hub.settings import UNTOLD

_LEAST = 20
"""Smallest width to which a text is wrapped, however narrow the terminal is."""
MOST_FILES = 20
"""Largest number of files that are named."""
_CALLED = {"kubefleet": "KubeFleet", "karmada": "Karmada"}
_MISSING = re.compile(
    r"\b(left out|not read|not known|not asked for|does not know|not carried out|not on the hub)\b"
)
_MARKS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}


def print_observed(console: Console, document: Document) -> None:
    """Print an observation: what it is of, what has changed, what is missing in it, and what else
    is to be known.
    """
    _print(console, _of_what(document), "bold", indent=0)
    _print_changes(console, document)
    whose = "the hub has" if document["hub"] else "the clusters have"
    for heading, noun, files in (
        # Of clusters without a hub, all that is placed there is made by people.
        ("edited, and not on the hub yet", "file", document["edited"] if document["hub"] else []),
        (
            f"replaced, as {whose} changed the same field (to have it again, write it again)",
            "edit",
            document["lost"],
        ),
        ("with the data of Secrets: not to be committed", "file", document["private"]),
    ):
        _print_files(console, heading, files, noun)
    for name, reason in document["silent"].items():
        _print(console, f"! member {visible(name)} {single_line(visible(reason))}", "red", indent=0)
    for refusal in document["refused"]:
        _print(console, f"! {single_line(visible(refusal))}", "red", indent=0)
    if document["grant"]:
        _print(
            console,
            "this extends the role fleet-observe, with a kubectl that may do so there:",
            indent=0,
        )
        console.print(Text(f"  {visible(document['grant'])}"), soft_wrap=True)  # to be copied
        if any(item.startswith("Secret ") for item in document["refused"]):
            _print(console, "or leave Secrets out, which it then names: --no-secrets", indent=0)
    for name, context in document["named"].items():
        _print(console, f"note: member {visible(name)} is the context {visible(context)}", indent=0)
    for note in folded(sorted(document["notes"], key=_weight)):
        _print(console, f"note: {single_line(visible(note))}", indent=0)


def _of_what(document: Document) -> str:
    named = filter(None, (_CALLED[document["system"]], document["release"]))
    system, as_of = " ".join(named), document["asOf"]
    if not document["hub"]:
        return f"{count(document['members'], 'cluster')} as of {as_of}, as members of {system}"
    counted = [count(document["members"], "member"), count(document["policies"], "policy")]
    counted.append(count(document["objects"], "object"))
    bound = {"kubefleet": ("placements", "placement"), "karmada": ("templates", "bound template")}
    key, noun = bound[document["system"]]
    counted.append(count(document[key], noun))
    return f"{system} as of {as_of}: {', '.join(counted)}"


def _weight(note: str) -> int:
    """Return how far back a note stands: what is missing comes first, what holds for every hub
    last.
    """
    if _MISSING.search(note):
        return 0
    return 2 if note == UNTOLD else 1


def _print_files(console: Console, heading: str, files: Sequence[str], noun: str) -> None:
    if files:
        _print(console, f"{heading}: {count(len(files), noun)}", indent=0)
        for file in files[:MOST_FILES]:
            _print(console, visible(file))
        more = len(files[MOST_FILES:])
        if more:
            _print(console, f"and {count(more, f'more {noun}')}")


def _print_changes(console: Console, document: Document) -> None:
    changes, folder = document["changes"], visible(document["directory"])
    numbers = {what: len(files) for what, files in changes.items()}
    if document["before"] is None and not (numbers["changed"] or numbers["removed"]):
        if numbers["added"]:
            _print(console, f"{folder}: made, with {count(numbers['added'], 'file')}", indent=0)
        return
    # Without a time the directory was there, and its header was damaged.
    since = f"since {document['before']}" if document["before"] else "of what was damaged"
    if not any(numbers.values()):
        _print(console, f"{folder}: nothing has changed {since}", indent=0)
        return
    numbers_text = ", ".join(f"{number} {what}" for what, number in numbers.items() if number)
    _print(console, f"{folder}: {numbers_text} {since}", indent=0)
    files = [(what, file) for what in _MARKS for file in changes[what]]
    for what, file in files[:MOST_FILES]:
        mark, style = _MARKS[what]
        _print(console, f"{mark} {visible(file)}", style)
    more = len(files[MOST_FILES:])
    if more:
        _print(console, f"and {count(more, 'more file')}")


def _print(console: Console, text: str, style: str = "", indent: int = 2) -> None:
    """Print a text in lines of the terminal's width. No word is broken: paths and names are to be
    copied.
    """
    further = " " * (indent + 2)
    lines = textwrap.wrap(
        text,
        max(console.width, _LEAST),
        initial_indent=" " * indent,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    console.print(Text("\n".join(lines), style), soft_wrap=True)


# Sentences that say the same of several things, told as one.


_ALIKE = 4
"""Least number of words that two sentences share at their ends."""
_OTHER = 4
"""Largest number of words in the middle in which they differ."""


def folded(sentences: Iterable[str], most: int = 3) -> list[str]:
    """Return sentences of which those that differ in a few words alone are one: ``A (also B, C) is
    left out``.

    Args:
        sentences: the sentences; their order stays.
        most: the largest number of further things that are named.
    """
    groups: list[_Group] = []
    for words in map(str.split, sentences):
        if not any(group.takes(words) for group in groups):
            groups.append(_Group(words, [words], len(words), 0))
    return [group.text(most) for group in groups]


@attrs.define
class _Group:
    """Sentences that share their beginnings and ends.

    Attributes:
        first: the words of the first one.
        all: the words of all.
        head: number of words that all begin with.
        tail: number of words that all end with.
    """

    first: list[str]
    all: list[list[str]]
    head: int
    tail: int

    def takes(self, words: list[str]) -> bool:
        """Add a sentence if it is like the others; return whether it is."""
        head = min(self.head, _shared(self.first, words))
        shortest = min(len(words), *map(len, self.all)) - head
        tail = min(
            shortest, _shared(self.first[::-1], words[::-1]), *([self.tail] if self.all[1:] else [])
        )
        middles = [len(items) - head - tail for items in (*self.all, words)]
        if head + tail < _ALIKE or not all(0 < middle <= _OTHER for middle in middles):
            return False
        self.all.append(words)
        self.head, self.tail = head, tail
        return True

    def text(self, most: int) -> str:
        """Return the sentence."""
        if not self.all[1:]:
            return " ".join(self.first)
        first, *others = (" ".join(words[self.head : len(words) - self.tail]) for words in self.all)
        sign = next((text for text in ",:" if first.endswith(text)), "")
        also = few([other.removesuffix(sign) for other in others], most)
        begin, end = (
            self.first[: self.head],
            self.first[len(self.first) - self.tail :] if self.tail else [],
        )
        return " ".join([*begin, f"{first.removesuffix(sign)} (also {also}){sign}", *end])


def _shared(items: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two sequences begin with alike."""
    number = 0
    for left, right in zip(items, other, strict=False):
        if left != right:
            break
        number += 1
    return number
