"""Differences of objects: a heading that says what changes where, and the diff below it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleet_components.model.text import count, few, visible
from fleet_components.review.documents.form import Document, is_narrow
from fleet_components.review.documents.headline import subjects_in_words
from fleet_components.review.documents.weight import is_as_before
from fleet_components.review.showing import words

LINES = 20
"""Number of lines of a diff that are shown unless all are asked for."""
_LONGEST = 200
"""Length of a line that is shown unless all is asked for."""
_SIGNS = {"create": "+", "delete": "-", "update": "~", "replace": "+-"}
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HEADINGS = {"create": "green", "delete": "red", "update": "yellow", "replace": "red"}
_FATES = {
    "kept": "kept there, no longer managed",
    "forgotten": "forgotten, as the member is lost",
    "undone": "if the update that was interrupted has made it",
}

_UNKNOWN = "what stands is unknown: the last update was killed while it was writing this object"


def shown_changes(subject: Document, *, whole: bool, narrow: bool) -> list[Document]:
    """Return the changes that are shown of a subject; those of which only the heading is shown
    share one if they can.

    Args:
        subject: the document of the subject.
        whole: whether new objects are shown with all of their fields.
        narrow: whether only a part of the plan is shown. Otherwise what is deleted now is told
            ahead of all subjects.
    """
    alike: dict[str, list[Document]] = {}
    for change in subject["content"] or ():
        if change["change"] == "delete" and not (narrow or change["later"]):
            continue
        bare = change["change"] == "delete" or (change["change"] == "create" and not whole)
        apart = {
            key: value for key, value in change.items() if key not in ("object", "diff") or not bare
        }
        alike.setdefault(json.dumps(apart), []).append(change)
    return [
        {**found[0], "object": few([data["object"] for data in found])} for found in alike.values()
    ]


def heading(change: Document) -> str:
    """Return what happens to an object, and where: ``~ Deployment shop/web on east, west and 57
    more``.
    """
    envelope = f" in {change['envelope']}" if change["envelope"] else ""
    notes = [
        *(
            ["once they move" if len(change["members"]) > 1 else "once it moves"]
            if change["later"]
            else []
        ),
        *([_FATES[change["fate"]]] if change["fate"] in _FATES else []),
        *([_UNKNOWN] if change["unknown"] else []),
        *([_taken_up(change)] if change["takenUp"] else []),
        *([f"made anew for {few(change['immutable'])}"] if change["immutable"] else []),
    ]
    suffix = f": {', '.join(notes)}" if notes else ""
    return (
        f"{_SIGNS[change['change']]} {change['object']}{envelope} on"
        f" {few(change['members'])}{suffix}"
    )


def _taken_up(change: Document) -> str:
    words = "taken up again, as the member is back"
    return words if change["fields"] else f"{words}; in which form it stands there is not known"


def diff_lines(change: Document, *, whole: bool, limit: int = LINES) -> Iterator[tuple[str, str]]:
    """Yield the lines of a change for a terminal, each with its style: the heading, then the diff,
    indented.

    Args:
        change: an entry of ``content``.
        whole: whether to show all of it. Otherwise a new object has its heading only, and a long
            diff is cut.
        limit: the number of lines of the diff at which it is cut.
    """
    yield _HEADINGS[change["change"]], heading(change)
    yield from ((_STYLES.get(line[:1], ""), f"  {line}") for line in _shown(change, whole, limit))


def diff_block(change: Document, *, whole: bool, limit: int = LINES) -> list[str]:
    """Return the lines of a block with the diff of a change for Markdown; none where nothing but
    the heading is shown.

    Args:
        change: an entry of ``content``.
        whole: whether to show all of it, as :func:`diff_lines` does.
        limit: the number of lines of the diff at which it is cut.
    """
    lines = list(_shown(change, whole, limit))
    # Longer than any run of backticks within, so that nothing in a line can end the block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(lines))), default=0))
    return [f"{fence}diff", *lines, fence] if lines else []


def _shown(change: Document, whole: bool, limit: int) -> Iterator[str]:
    """Yield the lines of the diff without anything that a terminal or a log would carry out."""
    lines = visible(change["diff"], lines=True).splitlines()
    if whole:
        yield from lines
    elif change["change"] != "create":
        # A note in place of a single line would be no shorter.
        shown = lines if len(lines) <= limit + 1 else lines[:limit]
        yield from (line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..." for line in shown)
        more = len(lines) - len(shown)
        if more:
            yield f"... {count(more, 'more line')}: --diff shows {'it' if more == 1 else 'them'}"


# Parts of a plan that are counted and not shown: what changes elsewhere, what does not, and what
# is as before.


_MOST_NAMES = 10


def left_out(document: Document) -> Iterator[str]:
    """Yield lines that count what is not shown: what changes elsewhere, and what does not
    change.
    """
    more = document["leftOut"]
    if more:
        yield f"{count(more, 'more placement')} {'changes' if more == 1 else 'change'}: not shown"
    if document["view"]["all"]:
        return
    shown = in_full(document)
    others = [subject for subject in document["subjects"] if subject not in shown]
    folded, due = (
        [other for other in others if other["pending"] is pending] for pending in (False, True)
    )
    templates = sum(item["kind"] == "Template" for item in folded)
    same = document["unchanged"]
    quiet = same["placements"] - len(folded) + templates, same["templates"] - templates
    if any(quiet):
        yield f"{subjects_in_words(*quiet)} unchanged: --all shows them"
    if due:
        yield (
            f"due already, as what is compared with changes the same: {_named(due, '')}: --all"
            " shows them"
        )
    warnings = 0 if _all_asked(document) else len(document["asBefore"]["warnings"])
    before = [*_as_before(folded), *([count(warnings, "warning")] if warnings else [])]
    if before:
        yield f"as before: {', '.join(before)}: --all shows them"


def in_full(document: Document) -> list[Document]:
    """Return the subjects that are shown in full; those to which nothing new happens are, if it is
    asked for.
    """
    asked = _all_asked(document)
    return [
        subject
        for subject in document["subjects"]
        if asked or not (subject["pending"] or _as_it_was(subject))
    ]


def _as_it_was(subject: Document) -> bool:
    return is_as_before(subject["weight"], subject["asBefore"])


def new_warnings(document: Document) -> list[str]:
    """Return the warnings that are shown; those that are there without the change are, if it is
    asked for.
    """
    known = [] if _all_asked(document) else document["asBefore"]["warnings"]
    return [warning for warning in document["warnings"] if warning not in known]


def _all_asked(document: Document) -> bool:
    return document["view"]["all"] or is_narrow(document)


def _as_before(subjects: Sequence[Document]) -> Iterator[str]:
    """Yield the subjects that are as before by their gravest condition: ``2 placements held (shop,
    till)``.
    """
    for weight in dict.fromkeys(subject["weight"] for subject in subjects):
        alike = [subject for subject in subjects if subject["weight"] == weight]
        yield _named(alike, f" {weight}")


def _named(subjects: Sequence[Document], what: str) -> str:
    templates = sum(subject["kind"] == "Template" for subject in subjects)
    number = subjects_in_words(len(subjects) - templates, templates)
    return f"{number}{what} ({few([subject['key'] for subject in subjects], _MOST_NAMES)})"


# Lines about a placement or template that follow its rows: why it is so, what waits, and what is
# remembered of it.


_MOST = 10
"""Largest number of fields that are named."""
_FIELDS = {
    "memory.claim.policy": "claimed by",
    "memory.claim.bound.spec.": "policy: ",
    "memory.policy.": "policy: ",
    "memory.policy": "policy",
    "memory.schedule.rebalances": "rebalanced for",
    "memory.runs.latest": "update run",
    "protected": "protected from removal",
    "reports": "compared only, and not written",
    "apply": "way of applying",
    "delivery": "way of delivery",
}
"""Words for the fields of a record that people have a say in, by the begin of the path; all others
follow from them.
"""
_OTHERWISE = "nothing changes on a member, and later decisions may start from something else"


def notes(subject: Document) -> Iterator[tuple[str, str]]:
    """Yield the lines about a placement or template that follow the rows, each with its style."""
    standing = ", as before" if "unfulfilled" in subject["asBefore"] else ""
    yield from (
        ("red", f"not fulfilled{standing}: {message}") for message in subject["unfulfilled"]
    )
    yield from [("yellow", f"as if newly made: {subject['unsure']}")] if subject["unsure"] else []
    yield from (
        [("dim", "what is compared with changes the same: it is due already")]
        if subject["pending"]
        else []
    )
    yield from (("", line) for line in _remembered(subject))
    yield from (("", line) for line in subject["division"])
    yield from (("", f"{item['name']}: {item['why']}") for item in subject["due"])
    yield from [("yellow", subject["left"])] if subject["left"] else []
    yield from (("", line) for line in words.update_run(subject))
    yield from (("", line) for line in subject["notes"])
    yield from (("", line) for line in words.waits(subject))
    left = subject["remaining"]["words"]
    yield from [("yellow", f"left: {left}")] if left else []
    yield from (("dim", line) for line in words.unseen(subject))
    staying = words.stays(subject)
    yield from [("dim", f"stays on {few(staying)}")] if staying else []
    yield from (("dim", f"not picked: {line}") for line in words.not_picked(subject))
    yield from (("yellow", f"warning: {warning}") for warning in subject["warnings"])
    yield from (
        ("yellow", f"skipped: {item['object']}: {item['why']}") for item in subject["skipped"]
    )


def _remembered(subject: Document) -> Iterator[str]:
    """Yield in words what changes in what is remembered of a subject; nothing where more than that
    changes.
    """
    if not subject["recorded"]:
        return
    found = list(dict.fromkeys(filter(None, map(_in_words, subject["recorded"]))))
    yield from found[:_MOST] or [_OTHERWISE]
    more = len(found[_MOST:])
    if more:
        yield f"and {count(more, 'more field')}"


def _in_words(field: Mapping[str, Any]) -> str:
    """Return a field in words: ``policy: numberOfClusters: 2 -> 3``; empty for one that follows
    from others.
    """
    path = field["field"]
    begin = next((text for text in _FIELDS if path.startswith(text)), None)
    if begin is None:
        return ""
    named = _FIELDS[begin] + (path.removeprefix(begin) if begin.endswith(".") else "")
    return f"{named}: {_shown_note(field['old'])} -> {_shown_note(field['new'])}"


def _shown_note(value: Any) -> str:
    """Return a value; a policy by its kind and name."""
    if isinstance(value, Mapping) and {"kind", "name"} <= value.keys():
        return f"{value['kind']} {'/'.join(filter(None, (value.get('namespace'), value['name'])))}"
    return words.show_value(value)
