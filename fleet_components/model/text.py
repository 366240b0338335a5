"""Wording that messages share: counted nouns, shortened lists and suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_NEAR = 0.7
_COMMANDS = re.compile(r"##(?=\[|vso\[)|^(?=[^\S\n]*::)", re.MULTILINE)
"""Where a line could be taken for a command: by GitHub Actions (``::error::``, ``##[error]``) or Azure Pipelines."""


def few(names: Sequence[str], most: int = 5) -> str:
    """Return the first names of a list and how many more there are: ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


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

    What a terminal, a log or a browser would carry out or hide is written as an escape: control characters, escape
    sequences, marks of direction, characters without width. What a CI system would take for a command gets a space.

    Args:
        text: the text.
        lines: whether it may have several lines; otherwise they are joined with spaces.
    """
    if text.isprintable() and "::" not in text and "##" not in text:  # nearly all texts
        return text
    shown = text if lines else " ".join(text.splitlines())
    if not shown.isprintable():
        shown = "".join(map(_shown, shown))
    return _COMMANDS.sub(lambda found: "# #" if found[0] else "\\", shown)


def indented(text: str) -> str:
    """Return a text whose further lines are indented, so that none of them looks like a message of its own."""
    return re.sub(r"\n(?!  )", "\n  ", text)


def could_command(text: str) -> bool:
    """Return whether a CI system would take a part of the text for a command."""
    return bool(_COMMANDS.search(text))


def _shown(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    return " " if char.isspace() and char not in _SEPARATORS else char.encode("unicode_escape").decode()


_SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str:
    """Return the known word that was probably meant; empty if none is similar enough. Case is ignored.

    Args:
        word: the word as written.
        known: the known words.
        cutoff: the least similarity, from 0 to 1, where 1 means equal.
    """
    by_folded = {name.casefold(): name for name in known}
    matches = get_close_matches(word.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[matches[0]] if matches else ""
