"""Parts of a plan that are counted and not shown: what changes elsewhere, what does not, and what is as before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet_components.model.text import count, few
from fleet_components.review.documents.form import Document
from fleet_components.review.documents.headline import subjects_in_words
from fleet_components.review.documents.view import is_narrow
from fleet_components.review.documents.weight import is_as_before

_MOST_NAMES = 10


def left_out(document: Document) -> Iterator[str]:
    """Yield lines that count what is not shown: what changes elsewhere, and what does not change."""
    if more := document["leftOut"]:
        yield f"{count(more, 'more placement')} {'changes' if more == 1 else 'change'}: not shown"
    if document["view"]["all"]:
        return
    shown = in_full(document)
    others = [subject for subject in document["subjects"] if subject not in shown]
    folded, due = ([other for other in others if other["pending"] is pending] for pending in (False, True))
    templates = sum(item["kind"] == "Template" for item in folded)
    same = document["unchanged"]
    quiet = same["placements"] - len(folded) + templates, same["templates"] - templates
    if any(quiet):
        yield f"{subjects_in_words(*quiet)} unchanged: --all shows them"
    if due:
        yield f"due already, as what is compared with changes the same: {_named(due, '')}: --all shows them"
    warnings = 0 if _all_asked(document) else len(document["asBefore"]["warnings"])
    if before := [*_as_before(folded), *([count(warnings, "warning")] if warnings else [])]:
        yield f"as before: {', '.join(before)}: --all shows them"


def in_full(document: Document) -> list[Document]:
    """Return the subjects that are shown in full; those to which nothing new happens are, if it is asked for."""
    asked = _all_asked(document)
    return [subject for subject in document["subjects"] if asked or not (subject["pending"] or _as_it_was(subject))]


def _as_it_was(subject: Document) -> bool:
    return is_as_before(subject["weight"], subject["asBefore"])


def new_warnings(document: Document) -> list[str]:
    """Return the warnings that are shown; those that are there without the change are, if it is asked for."""
    known = [] if _all_asked(document) else document["asBefore"]["warnings"]
    return [warning for warning in document["warnings"] if warning not in known]


def _all_asked(document: Document) -> bool:
    return document["view"]["all"] or is_narrow(document)


def _as_before(subjects: Sequence[Document]) -> Iterator[str]:
    """Yield the subjects that are as before by their gravest condition: ``2 placements held (shop, till)``."""
    for weight in dict.fromkeys(subject["weight"] for subject in subjects):
        alike = [subject for subject in subjects if subject["weight"] == weight]
        yield _named(alike, f" {weight}")


def _named(subjects: Sequence[Document], what: str) -> str:
    templates = sum(subject["kind"] == "Template" for subject in subjects)
    number = subjects_in_words(len(subjects) - templates, templates)
    return f"{number}{what} ({few([subject['key'] for subject in subjects], _MOST_NAMES)})"
