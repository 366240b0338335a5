"""Whole numbers in texts of any length: ``int`` refuses texts of more than some thousands of
digits.
"""

from __future__ import annotations

_MOST = 20
BEYOND = 10**_MOST
"""Stands for every number with more than 20 digits: no 64 bits hold it."""


def integer(text: str) -> int:
    """Return the number that decimal digits, with or without a sign, stand for; beyond 20 digits
    plus or minus 10**20.

    Leading zeros do not count.
    """
    digits = text.lstrip("+-0")
    number = int(digits or "0") if len(digits) <= _MOST else BEYOND
    return -number if text.startswith("-") else number
