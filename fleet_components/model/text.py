"""Words that are alike in every text: numbers of things, lists that are not told to their end, and what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_NEAR = 0.7


def few(names: Sequence[str], most: int = 5) -> str:
    """``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def count(number: int, noun: str, several: str = "") -> str:
    """``1 object``, ``2 objects``, ``2 policies``; ``several`` where neither is so."""
    if number == 1 or several:
        return f"{number} {noun if number == 1 else several}"
    return f"{number} {re.sub('(?<![aeiou])y$', 'ie', noun)}{'es' if noun.endswith('s') else 's'}"


def article(noun: str) -> str:
    """``an int``, ``a str``."""
    return f"an {noun}" if noun[0] in "AEIOUaeiou" else f"a {noun}"


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str:
    """The known word that was probably meant; empty when none is near. Case does not count.

    Args:
        word: what was written.
        known: what there is.
        cutoff: how near it must be, from 0 to 1, which is the same.
    """
    by_folded = {name.casefold(): name for name in known}
    matches = get_close_matches(word.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[matches[0]] if matches else ""
