"""What all documents have in common: their version, and the words for what happens to a member."""

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
