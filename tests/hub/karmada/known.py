"""Steps of recordings that are not settled, or that a plan from an observation foresees otherwise, and why."""

from __future__ import annotations

from collections.abc import Mapping

UNDISCOVERED = (
    "the control plane had not discovered the new kind yet, and makes a binding once it has"
)
UNTOLD = "when an application began to fail is nowhere: only an ApplicationHealth tells a plan"

UNSETTLED: Mapping[tuple[str, int], str] = {("binding_status_texts", 1): UNDISCOVERED}
"""By recording and step."""
OTHERWISE: Mapping[tuple[str, int], str] = {
    ("binding_status_texts", 1): UNDISCOVERED,
    ("application_failover", 3): UNTOLD,
    ("application_failover", 5): UNTOLD,
}
"""By recording and the step that was to be foreseen."""
