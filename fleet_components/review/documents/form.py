"""Common parts of all documents: their version, and the words for the changes of a member."""

from __future__ import annotations

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
