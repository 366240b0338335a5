"""An observation for people: what there is, what has changed, and what is missing in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from fleet_components.model.text import count, few
from fleet_components.plan.ways import Way
from fleet_components.review.documents.observed import ObservationDocument
from fleet_components.review.showing.blocks import Block, Paragraph, Role
from fleet_components.systems.karmada.hub.settings import UNTOLD

MOST_FILES = 20
"""Largest number of files that are named."""
_CALLED = {"kubefleet": "KubeFleet", "karmada": "Karmada"}
_MISSING = re.compile(
    r"\b(left out|not read|not known|not asked for|does not know|not carried out|not on the hub)\b"
)
_MARKS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}


def observed_view(document: ObservationDocument) -> Iterator[Block]:
    """Yield what an observation is of, what has changed, what is missing in it, and what else is to
    be known.
    """
    yield Paragraph(_of_what(document), Role.HEADLINE, "bold")
    yield from _changes(document)
    whose = "the hub has" if document.hub else "the clusters have"
    again = f"replaced, as {whose} changed the same field (to have it again, write it again)"
    # Of clusters without a hub, all that is placed there is made by people.
    edited = document.edited if document.hub else ()
    yield from _files("edited, and not on the hub yet", edited, "file")
    yield from _files(again, document.lost, "edit")
    yield from _files("with the data of Secrets: not to be committed", document.private, "file")
    for name, reason in document.silent.items():
        yield Paragraph(f"! member {name} {reason}", Role.ITEM, "red")
    yield from (Paragraph(f"! {refusal}", Role.ITEM, "red") for refusal in document.refused)
    if document.grant:
        yield Paragraph("this extends the role fleet-observe, with a kubectl that may do so there:")
        yield Paragraph(document.grant, Role.COMMAND, level=1)
        if any(item.startswith("Secret ") for item in document.refused):
            yield Paragraph("or leave Secrets out, which it then names: --no-secrets")
    for name, context in document.named.items():
        yield Paragraph(f"note: member {name} is the context {context}", Role.NOTE)
    for note in folded(sorted(document.notes, key=_weight)):
        yield Paragraph(f"note: {note}", Role.NOTE)


def _of_what(document: ObservationDocument) -> str:
    system = " ".join(filter(None, (_CALLED[document.system], document.release)))
    as_of = document.as_of
    if not document.hub:
        return f"{count(document.members, 'cluster')} as of {as_of}, as members of {system}"
    bound = (
        count(document.placements, "placement")
        if document.system == Way.KUBEFLEET
        else count(document.templates, "bound template")
    )
    members, policies = count(document.members, "member"), count(document.policies, "policy")
    objects = count(document.objects, "object")
    return f"{system} as of {as_of}: {', '.join((members, policies, objects, bound))}"


def _weight(note: str) -> int:
    """Return how far back a note stands: what is missing comes first, what holds for every hub
    last.
    """
    if _MISSING.search(note):
        return 0
    return 2 if note == UNTOLD else 1


def _files(heading: str, files: Sequence[str], noun: str) -> Iterator[Block]:
    if files:
        yield Paragraph(f"{heading}: {count(len(files), noun)}")
        yield from _listed([("", file) for file in files], noun)


def _listed(files: Sequence[tuple[str, str]], noun: str) -> Iterator[Block]:
    """Yield the first files, each with its style, and how many more there are."""
    for style, file in files[:MOST_FILES]:
        yield Paragraph(file, Role.ITEM, style, level=1)
    more = len(files[MOST_FILES:])
    if more:
        yield Paragraph(f"and {count(more, f'more {noun}')}", Role.ITEM, level=1)


def _changes(document: ObservationDocument) -> Iterator[Block]:
    changes: dict[str, Sequence[str]] = attrs.asdict(document.changes, recurse=False)
    folder, before = document.directory, document.before
    numbers = {what: len(files) for what, files in changes.items() if files}
    if before is None and not (document.changes.changed or document.changes.removed):
        if numbers:
            yield Paragraph(f"{folder}: made, with {count(numbers['added'], 'file')}")
        return
    # Without a time the directory was there, and its header was damaged.
    since = f"since {before}" if before else "of what was damaged"
    if not numbers:
        yield Paragraph(f"{folder}: nothing has changed {since}")
        return
    counted = ", ".join(f"{number} {what}" for what, number in numbers.items())
    yield Paragraph(f"{folder}: {counted} {since}")
    marked = [
        (style, f"{mark} {file}")
        for what, (mark, style) in _MARKS.items()
        for file in changes[what]
    ]
    yield from _listed(marked, "file")


# Sentences that say the same about several things, merged into one.


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
        # takes adds the sentence to the group that fits: the first one wins.
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
        # A word must not count both for the beginning and for the end.
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
        # A comma or colon after the thing stays behind what is added in brackets.
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
