"""The age of an observation. Documents have times alone, so that they are the same whenever they
are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import attrs

from fleet_components.model.cluster import read_time
from fleet_components.model.text import count
from fleet_components.review.documents.schema import PlanDocument

OLD = timedelta(days=1)
"""Age from which an observation is warned of."""
_UNITS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def with_age(document: PlanDocument, now: datetime) -> PlanDocument:
    """Return the document of a plan with the age of what it starts from, in words, beside each such
    time.
    """
    aged = {time: f"{time}, {age}" for time in _times(document) if (age := age_in_words(time, now))}
    if not aged:
        return document

    def text_with_age(text: str) -> str:
        for time, with_its_age in aged.items():
            # The times stand in texts as the document writes them, so that they can be found there.
            text = text.replace(time, with_its_age)
        return text

    happens, lost, start = map(text_with_age, document.headline)
    return attrs.evolve(
        document,
        headline=(happens, lost, start),
        warnings=[*map(text_with_age, document.warnings)],
    )


def old(document: PlanDocument, now: datetime) -> str:
    """Return a warning about an observation that is older than a day; empty if it is not."""
    observed = document.observed
    time = read_time(observed.as_of) if observed else None
    if observed is None or time is None or now - time < OLD:
        return ""
    which = "the hub was" if observed.hub else "the clusters were"
    return f"{which} observed {age_in_words(observed.as_of, now)}: fleet observe --update"


def age_in_words(time: str, now: datetime) -> str:
    """Return how long ago a time was, as ``3 hours ago``; empty for one that is still to come."""
    then = read_time(time)
    # A clock that is wrong would give a negative age.
    if then is None or then > now:
        return ""
    # The largest unit that fits; units are sorted from day to minute.
    unit, number = next(
        ((unit, (now - then) // item) for unit, item in _UNITS if now - then >= item), ("", 0)
    )
    return f"{count(number, unit)} ago" if unit else "just now"


def _times(document: PlanDocument) -> Iterator[str]:
    observed = document.observed
    if observed:
        silent = [member.since for member in observed.silent]
        unanswered = [answer.since for answer in observed.unanswered]
        yield from dict.fromkeys(filter(None, [observed.as_of, *silent, *unanswered]))
