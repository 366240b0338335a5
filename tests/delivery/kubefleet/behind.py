"""What a hub shows of members that wait for something, and of what is as it was one step before."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from tests.delivery.kubefleet.comparison import (
    bindings_there,
    copies_there,
    others_there,
    placements_there,
)
from tests.delivery.recording import Data, Differing, Seen, Step
from tests.delivery.replay import Difference

_BLOCKED = "The rollout is being blocked by the rollout strategy"
_WAITING = (
    ("False", "RolloutNotStartedYet", _BLOCKED),
    (
        "False",
        "RolloutNotStartedYet",
        "The resources cannot be updated to the latest because of the rollout strategy",
    ),
    (
        "Unknown",
        "RolloutStartedUnknown",
        "In the process of deciding whether to roll out some version of the resources or not",
    ),
)
"""What the condition RolloutStarted of a member says that waits (pkg/utils/condition/reason.go, KubeFleet)."""
_FAILED = "Failed to apply resources to {} cluster(s), please check the `failedPlacements` status"
_STARTED = re.compile(r"condition (\w*Placement)?RolloutStarted$")
_LATER = ("Overridden", "WorkSynchronized", "Applied", "Available", "DiffReported")


@cache
def seen(step: Step) -> Seen:
    """All that was seen after a step."""
    return {
        **placements_there(step),
        **others_there(step),
        **bindings_there(step),
        **copies_there(step),
    }


def before(difference: Difference) -> Seen:
    """All that was seen one step before."""
    steps = [
        step for step in difference.recording.steps if step.number == difference.step.number - 1
    ]
    return seen(steps[0]) if steps else {}


def about(difference: Difference) -> Differing:
    """What differs; an empty one where a difference is told in words."""
    found = difference.found
    return found if isinstance(found, Differing) else Differing("", "", None, None)


def stays(difference: Difference) -> bool:
    """A field is as it was seen one step before, or something is, or is not, there as it was."""
    found, earlier = about(difference), before(difference).get(about(difference).name)
    if found.field:
        return earlier is not None and bool(found.there == earlier.get(found.field))
    return bool(found.there == earlier)


def is_there(difference: Difference) -> bool:
    """Whether an object is on a member, and belongs to a placement."""
    cluster, kind, name = about(difference).name.split()
    named = [
        item
        for item in difference.step.after["memberObjects"][cluster]
        if (item["kind"], "/".join(filter(None, (item.get("namespace"), item["name"]))))
        == (kind, name)
    ]
    return any(
        owner.startswith("AppliedWork/") for item in named for owner in item.get("owners", ())
    )


def waits(difference: Difference) -> bool:
    """A member, its binding and its objects stay as they were, and are said to wait."""
    found = about(difference)
    if found.name.startswith("binding "):
        return bool(found.field) and (stays(difference) or _not_bound(found))
    if not re.search(r"Placement ", found.name):
        return stays(difference) and (found.there is not None or not is_there(difference))
    shown = seen(difference.step)
    entry = shown.get(found.name, {})
    return _said(found, entry, len(_waiting_members(shown, found.name)))


def _said(found: Differing, entry: Data, waiting: int) -> bool:
    """Whether a field of a placement or of a member says that it waits, or nothing as it does."""
    if _STARTED.match(found.field):
        return _is_waiting(found.there, waiting)
    if not any(
        _is_waiting(value, waiting) for field, value in entry.items() if _STARTED.match(field)
    ):
        return False
    if found.field == "order":
        return bool(
            found.there == found.here[: len(found.there)] and found.there[-1:] == ["RolloutStarted"]
        )
    return not found.there and (found.field.endswith(_LATER) or found.field == "overrides")


def _is_waiting(condition: Any, waiting: int) -> bool:
    """Whether a condition says that its member waits, or so many members of its placement."""
    deciding = f"There are still {waiting} cluster(s) in the process of deciding whether to roll out the latest resources"
    texts = (
        *_WAITING,
        ("False", "RolloutNotStartedYet", f"{_BLOCKED} in {waiting} cluster(s)"),
        ("Unknown", "RolloutStartedUnknown", f"{deciding} or not"),
    )
    return condition in texts


def _waiting_members(shown: Seen, placement: str) -> list[str]:
    """The members of a placement that wait."""
    members = {name: entry for name, entry in shown.items() if name.startswith(f"{placement} on ")}
    return [
        name for name, entry in members.items() if entry["condition RolloutStarted"] in _WAITING
    ]


def _not_bound(found: Differing) -> bool:
    """Whether a binding has been made, and nothing sent yet."""
    return (found.field, found.there) in (
        ("state", "Scheduled"),
        ("resources", None),
    )


def unfinished(difference: Difference) -> bool:
    """A member has not written what it was sent, or could not."""
    found = about(difference)
    placement = found.name.partition(" on ")[0].rpartition(" ")[2].rpartition("/")[2]
    entry = seen(difference.step).get(found.name, {})
    texts = [
        f"Work object {placement}-work has {what}"
        for what in ("not yet completed the apply op", "failed to apply")
    ]
    failing = [
        *(("False", "NotAllWorkHaveBeenApplied", text) for text in texts),
        ("False", "ApplyInProgress", "Resources are being applied"),
        ("False", "ApplyFailed", _FAILED.format(len(_not_applied(difference.step, found.name)))),
    ]
    applied = next((value for field, value in entry.items() if field.endswith("Applied")), None)
    if applied not in failing:
        return False
    if found.field == "order":
        return bool(
            found.there == found.here[: len(found.there)] and found.there[-1:] == ["Applied"]
        )
    return (
        found.there in failing
        if found.field.endswith("Applied")
        else not found.there and found.field.endswith("Available")
    )


def _not_applied(step: Step, placement: str) -> list[str]:
    """The members of a placement to which something was sent that is not there yet."""
    members = {
        name: entry for name, entry in seen(step).items() if name.startswith(f"{placement} on ")
    }
    return [
        name
        for name, entry in members.items()
        if (entry["condition Applied"] or ("",))[0] == "False"
    ]
