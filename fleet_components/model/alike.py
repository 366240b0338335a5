"""Sentences that say the same of several things, told as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from fleet_components.model.text import few

_ALIKE = 4
"""Least number of words that two sentences share at their ends."""
_OTHER = 4
"""Largest number of words in the middle in which they differ."""


def folded(sentences: Iterable[str], most: int = 3) -> list[str]:
    """Return sentences of which those that differ in a few words alone are one: ``A (also B, C) is left out``.

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
        tail = min(shortest, _shared(self.first[::-1], words[::-1]), *([self.tail] if self.all[1:] else []))
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
        begin, end = self.first[: self.head], self.first[len(self.first) - self.tail :] if self.tail else []
        return " ".join([*begin, f"{first.removesuffix(sign)} (also {also}){sign}", *end])


def _shared(items: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two sequences begin with alike."""
    number = 0
    for left, right in zip(items, other, strict=False):
        if left != right:
            break
        number += 1
    return number
