"""Common parts of all documents: their version, and the words for the changes of a member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.rollout.plan import Change

VERSION = 2
WORDS = {
    Change.ADD: "joins",
    Change.UPDATE: "updated",
    Change.REMOVE: "leaves",
    Change.HELD: "held",
    Change.KEEP: "stays",
}
Document = dict[str, Any]


def without_none(fields: Mapping[str, Any]) -> Document:
    """Return the fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}
