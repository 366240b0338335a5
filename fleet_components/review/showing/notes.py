"""Lines about a placement or template that follow its rows: why it is so, what waits, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.model.text import count, few
from fleet_components.review.documents.form import Document
from fleet_components.review.showing import words

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
"""Words for the fields of a record that people have a say in, by the begin of the path; all others follow from them."""
_OTHERWISE = "nothing changes on a member, and later decisions may start from something else"


def notes(subject: Document) -> Iterator[tuple[str, str]]:
    """Yield the lines about a placement or template that follow the rows, each with its style."""
    standing = ", as before" if "unfulfilled" in subject["asBefore"] else ""
    yield from (("red", f"not fulfilled{standing}: {message}") for message in subject["unfulfilled"])
    yield from [("yellow", f"as if newly made: {subject['unsure']}")] if subject["unsure"] else []
    yield from [("dim", "what is compared with changes the same: it is due already")] if subject["pending"] else []
    yield from (("", line) for line in _remembered(subject))
    yield from (("", line) for line in subject["division"])
    yield from (("", f"{item['name']}: {item['why']}") for item in subject["due"])
    yield from [("yellow", subject["left"])] if subject["left"] else []
    yield from (("", line) for line in words.update_run(subject))
    yield from (("", line) for line in subject["notes"])
    yield from (("", line) for line in words.waits(subject))
    yield from [("yellow", f"left: {left}")] if (left := subject["remaining"]["words"]) else []
    yield from (("dim", line) for line in words.unseen(subject))
    yield from [("dim", f"stays on {few(staying)}")] if (staying := words.stays(subject)) else []
    yield from (("dim", f"not picked: {line}") for line in words.not_picked(subject))
    yield from (("yellow", f"warning: {warning}") for warning in subject["warnings"])
    yield from (("yellow", f"skipped: {item['object']}: {item['why']}") for item in subject["skipped"])


def _remembered(subject: Document) -> Iterator[str]:
    """Yield in words what changes in what is remembered of a subject; nothing where more than that changes."""
    if not subject["recorded"]:
        return
    found = list(dict.fromkeys(filter(None, map(_in_words, subject["recorded"]))))
    yield from found[:_MOST] or [_OTHERWISE]
    if more := len(found[_MOST:]):
        yield f"and {count(more, 'more field')}"


def _in_words(field: Mapping[str, Any]) -> str:
    """Return a field in words: ``policy: numberOfClusters: 2 -> 3``; empty for one that follows from others."""
    path = field["field"]
    begin = next((text for text in _FIELDS if path.startswith(text)), None)
    if begin is None:
        return ""
    named = _FIELDS[begin] + (path.removeprefix(begin) if begin.endswith(".") else "")
    return f"{named}: {_shown(field['old'])} -> {_shown(field['new'])}"


def _shown(value: Any) -> str:
    """Return a value; a policy by its kind and name."""
    if isinstance(value, Mapping) and {"kind", "name"} <= value.keys():
        return f"{value['kind']} {'/'.join(filter(None, (value.get('namespace'), value['name'])))}"
    return words.show_value(value)
