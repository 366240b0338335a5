"""Wording that messages share: counted nouns, shortened lists and suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_NEAR = 0.7


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
