"""Objects as members have them: what is known of each from a state, an event log or the member
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

from fleet_components.model.manifest import ObjectKey

Applied = Literal[
    "",
    "Applied",
    "ManifestApplyFailed",
    "FailedToTakeOver",
    "NotTakenOver",
    "FoundDrifts",
    "FoundDriftsInDegradedMode",
    "FailedToRunDriftDetection",
]
"""KubeFleet's reasons for the condition ``Applied`` of a manifest; empty while it is not known."""
Available = Literal["", "Available", "ManifestNotAvailableYet", "NotTrackable"]
"""KubeFleet's reasons for the condition ``Available`` of a manifest; empty while it is not
known.
"""
Compared = Literal["", "NoDiffFound", "FoundDiff", "FoundDiffInDegradedMode", "FailedToReportDiff"]
"""KubeFleet's reasons for the condition ``DiffReported`` of a manifest; empty where nothing is
compared.
"""
SILENT = "its cluster does not answer, or not as Kubernetes does"
"""Reason for which something of a member is not known, or not done there."""
UNUSABLE = "its kubeconfig or its credential plugin does not work"
"""The same reason, where the cluster could not be asked."""


@attrs.frozen(order=True)
class FieldDifference:
    """A field that differs between an object as it is wanted and as a member has it.

    Attributes:
        path: a JSON pointer, as KubeFleet writes it: ``/spec/replicas``; ``/`` for the whole
            object.
        wanted: the value that is wanted, as text; None if the field is not wanted.
        there: the value on the member, as text; None if it has none.
    """

    path: str
    wanted: str | None = None
    there: str | None = None


@attrs.frozen
class ObservedObject:
    """All that is known of one object on one member.

    Attributes:
        key: the object.
        api_version: its version.
        applied: whether it was written.
        available: whether it is available.
        compared: whether it was compared, where differences are reported only.
        error: why it was not written or compared, in the words of the API server or of the engine;
            empty if it was.
        generation: its generation on the member; 0 if that is unknown.
        differences: fields that somebody has changed since it was written, or that stand in the way
            of writing it.
        degraded: True if only what is sent was compared, as the API server refuses a trial.
        causes: why it is not available, in words: events, conditions, pods that are not ready.
        status: its status on the member; None if that is unknown.
        there: the object as the member has it; None if it has none, or if that is unknown.
        leaving: True if it is not wanted there any more, and has not been deleted yet.
        absent: True if it was brought there, and is not there any more; ``causes`` say how that
            is known.
    """

    key: ObjectKey
    api_version: str
    applied: Applied = ""
    available: Available = ""
    compared: Compared = ""
    error: str = ""
    generation: int = 0
    differences: tuple[FieldDifference, ...] = ()
    degraded: bool = False
    causes: tuple[str, ...] = ()
    status: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    there: Mapping[str, Any] | None = attrs.field(default=None, repr=False, eq=False)
    leaving: bool = False
    absent: bool = False


@attrs.frozen
class ObservedMember:
    """All that is known of the objects of one placement or template on one member.

    Attributes:
        objects: by key, in the order in which they are written.
        unreached: why the member could not be asked; empty if it was, or was not to be asked.
    """

    objects: Mapping[ObjectKey, ObservedObject] = attrs.field(factory=dict)
    unreached: str = ""
