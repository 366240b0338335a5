"""Wording that messages share: counted nouns, shortened lists and suggestions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import TypeVar

T = TypeVar("T")
# Similarity as difflib measures it, from 0 to 1.
_NEAR = 0.7
_BESIDE = 8
"""Number of known words before and behind a misspelt one that it is compared with, in both
orders.
"""
_LONGEST = 100
"""Length of the longest words that are compared."""
_COMMANDS = re.compile(r"##(?=\[|vso\[)|^(?=[^\S\n]*::)", re.MULTILINE)
"""Where a line could be taken for a command: by GitHub Actions (``::error::``, ``##[error]``) or
Azure Pipelines.
"""


def few(names: Sequence[T], most: int = 5, show: Callable[[T], str] = str) -> str:
    """Return the first names of a list and how many more there are: ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(map(show, names[:most])) + (f" and {more} more" if more > 0 else "")


def count(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun: ``1 object``, ``2 objects``, ``2 policies``.

    ``several`` is the plural if irregular.
    """
    if number == 1 or several:
        return f"{number} {noun if number == 1 else several}"
    return f"{number} {re.sub('(?<![aeiou])y$', 'ie', noun)}{'es' if noun.endswith('s') else 's'}"


def article(noun: str) -> str:
    """Return a noun with its article: ``an int``, ``a str``."""
    return f"an {noun}" if noun[0] in "AEIOUaeiou" else f"a {noun}"


def visible(text: str, *, lines: bool = False) -> str:
    """Return a text that shows all of its characters and commands nothing.

    What a terminal, a log or a browser would carry out or hide is written as an escape: control
    characters, escape sequences, marks of direction, characters without width. What a CI system
    would take for a command gets a space.

    Args:
        text: the text.
        lines: whether it may have several lines; otherwise they are joined with spaces.
    """
    # Nearly all texts.
    if text.isascii() and text.isprintable() and "::" not in text and "##" not in text:
        return text
    shown = text if lines else " ".join(text.splitlines())
    shown = _UNSEEN.sub(lambda found: _escaped(found[0]), shown)
    if not shown.isprintable():
        shown = "".join(map(_shown, shown))
    return commanding_nothing(shown)


def commanding_nothing(text: str) -> str:
    """Return a text in which no line is a command of a CI system: a mark in it is set apart."""
    # The second form matches the empty text before the colons: a backslash goes there.
    return _COMMANDS.sub(lambda found: "# #" if found[0] else "\\", text)


def indented(text: str) -> str:
    """Return a text whose further lines are indented, so that none of them looks like a message of
    its own.
    """
    return re.sub(r"\n(?!  )", "\n  ", text)


def could_command(text: str) -> bool:
    """Return whether a CI system would take a part of the text for a command."""
    return bool(_COMMANDS.search(text))


def _shown(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    return " " if char.isspace() and char not in _SEPARATORS else _escaped(char)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()


_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that Python takes for printable and nobody sees: those that Unicode lets a font
ignore, and the blank of Braille.
"""


_SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"


class Vocabulary:
    """Known words, among which the one that was probably meant is found without a look at all of
    them.

    Attributes:
        words: the words, sorted.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._known = frozenset(words)
        self.words = sorted(self._known)

    def __contains__(self, word: object) -> bool:
        return word in self._known

    def near(self, word: str, cutoff: float = _NEAR) -> str:
        """Return the word that was probably meant: the nearest, or the only one that contains it;
        empty if none.
        """
        folded = word.casefold()
        compared = self._compared(folded)
        parts = [name for name in compared if folded in name]
        found = _nearest(folded, compared, cutoff) or (
            # An empty word is a part of every name.
            parts[0] if folded and len(parts) == 1 else ""
        )
        return self._by_folded.get(found, "")

    def nearest(self, word: str, cutoff: float = _NEAR) -> str:
        """Return the most similar word; empty if none is similar enough. Case is ignored.

        Args:
            word: the word as written.
            cutoff: the least similarity, from 0 to 1, where 1 means equal.
        """
        folded = word.casefold()
        return self._by_folded.get(_nearest(folded, self._compared(folded), cutoff), "")

    @cached_property
    def _by_folded(self) -> dict[str, str]:
        return {word.casefold(): word for word in self.words}

    @cached_property
    def _forwards(self) -> list[str]:
        return sorted(self._by_folded)

    @cached_property
    def _backwards(self) -> list[str]:
        return sorted(word[::-1] for word in self._by_folded)

    def _compared(self, word: str) -> Collection[str]:
        """Return the words to compare: of many only those that begin or end most alike, as misspelt
        words do.
        """
        # As many as the two searches below would return at most.
        if len(self._by_folded) <= 4 * _BESIDE:
            return self._by_folded
        ending = (found[::-1] for found in _beside(word[::-1], self._backwards))
        return {*_beside(word, self._forwards), *ending}


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str:
    """Return the known word that was probably meant, as :meth:`Vocabulary.nearest` does."""
    return Vocabulary(known).nearest(word, cutoff)


def _beside(word: str, words: Sequence[str]) -> Sequence[str]:
    position = bisect_left(words, word)
    return words[max(0, position - _BESIDE) : position + _BESIDE]


def _nearest(word: str, known: Collection[str], cutoff: float) -> str:
    # Comparing takes the square of the length, or more.
    short = (name for name in known if len(name) <= _LONGEST) if len(word) <= _LONGEST else ()
    return next(iter(get_close_matches(word, short, n=1, cutoff=cutoff)), "")
