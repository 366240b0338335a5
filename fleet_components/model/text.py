"""Words that are alike in every text: numbers of things, and lists that are not told to their end."""

from __future__ import annotations

from collections.abc import Sequence


def few(names: Sequence[str], most: int = 5) -> str:
    """``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def count(number: int, noun: str, several: str = "") -> str:
    """``1 object``, ``2 objects``; ``several`` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"
