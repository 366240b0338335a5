"""Notes in the head of a table of the package or of a user: lines such as ``# prices-as-of: 2026-06-18``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

_NOTE = re.compile(r"# ([a-z-]+): (.*)")
AS_OF = "-as-of"


def notes_in(lines: Iterable[str]) -> dict[str, str]:
    """Return the notes among the lines of a table, by name."""
    return {note[1]: note[2].strip() for line in lines if (note := _NOTE.match(line))}


def dates_in(notes: Mapping[str, str]) -> dict[str, date]:
    """Return the days as of which a table says what it says, by what they are of; without those that are no dates."""
    given = {name.removesuffix(AS_OF): text for name, text in notes.items() if name.endswith(AS_OF)}
    return {of: day for of, text in given.items() if (day := day_of(text))}


def day_of(text: str) -> date | None:
    """Return the day that a text such as ``2026-06-18`` is; None if it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
