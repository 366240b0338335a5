"""Label selectors as ``kubectl`` takes them on its command line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.selector import Requirement
from fleet_components.model.text import visible

_KEY = r"(?P<key>[^\s!=,()]+)"
_FORMS = (
    (re.compile(rf"{_KEY}\s*==?\s*(?P<values>[^\s!=,()]*)"), "In"),
    (re.compile(rf"{_KEY}\s*!=\s*(?P<values>[^\s!=,()]*)"), "NotIn"),
    (re.compile(rf"{_KEY}\s+in\s*\((?P<values>[^()]*)\)"), "In"),
    (re.compile(rf"{_KEY}\s+notin\s*\((?P<values>[^()]*)\)"), "NotIn"),
    (re.compile(_KEY), "Exists"),
    (re.compile(rf"!\s*{_KEY}"), "DoesNotExist"),
)
_BETWEEN = re.compile(r",(?![^(]*\))")
"""A comma that stands in no parentheses."""
_HINT = (
    "write it as for kubectl: tier=0, tier!=0, tier in (0,1), tier notin (0,1), tier or !tier, with"
    " commas between"
)


def parsed(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a selector; none for an empty text.

    Raises:
        FleetError: it is no selector.
    """
    return (
        tuple(_requirement(part.strip(), text) for part in _BETWEEN.split(text))
        if text.strip()
        else ()
    )


def met_by(asked: Requirement, values: Mapping[str, Collection[str]]) -> bool:
    """Return whether labels meet a requirement, where one key may have several values.

    ``NotIn`` and ``DoesNotExist`` are the opposites of ``In`` and ``Exists``: no value may be one
    of the named ones.
    """
    match asked.operator:
        case "In" | "NotIn":
            return (asked.operator == "In") is not set(asked.values).isdisjoint(
                values.get(asked.key, ())
            )
        case _:
            return (asked.operator == "Exists") is (asked.key in values)


def _requirement(part: str, text: str) -> Requirement:
    for form, operator in _FORMS:
        found = form.fullmatch(part)
        if found:
            groups = found.groupdict()
            values = (
                tuple(value.strip() for value in groups["values"].split(","))
                if "values" in groups
                else ()
            )
            asked = Requirement(groups["key"], operator, values)
            if asked.valid:
                return asked
    raise FleetError(
        [
            Problem(
                Message(
                    "not-label-selector", '"{text}" is not a label selector', text=visible(text)
                ),
                hint=_HINT,
            )
        ]
    )
