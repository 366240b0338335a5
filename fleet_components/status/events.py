"""The engine's events of one update: what it said of each resource, and how far it came.

``pulumi up --json`` prints them, a JSON object a line; ``PULUMI_DEBUG_COMMANDS=true pulumi up --event-log FILE`` writes
the same to a file. Source: pulumi/pulumi v3.272.0, ``sdk/go/common/apitype/events.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.regular_file import read_regular
from fleet_components.model.problem import FleetError, Problem

_HINT = "give what `pulumi up --json` has printed, or the file of PULUMI_DEBUG_COMMANDS=true pulumi up --event-log FILE"
_SAME = "same"
_STEPS = ("resourcePreEvent", "resOutputsEvent", "resOpFailedEvent")


@attrs.define
class Events:
    """Account of an update by resource, from its events.

    Attributes:
        errors: errors, by URN; those of the update as a whole are under the empty one.
        notes: the last thing that was said while it was waited for a resource, by URN.
        begun: URNs of what was begun and has not ended.
        failed: URNs of what has failed.
        ended: True once the engine has summed up; a log without that is one of an update that was killed.
    """

    errors: dict[str, list[str]] = attrs.field(factory=dict)
    notes: dict[str, str] = attrs.field(factory=dict)
    begun: set[str] = attrs.field(factory=set)
    failed: set[str] = attrs.field(factory=set)
    ended: bool = False

    def said(self, urn: str, severity: str, message: str) -> None:
        """Take over a message."""
        text = plain(message).strip()
        if severity == "error":
            self.errors.setdefault(urn, []).append(text)
        elif severity in ("info", "warning") and text and urn:
            self.notes[urn] = text

    def began(self, urn: str) -> None:
        """Note that an operation has begun."""
        self.begun.add(urn)

    def finished(self, urn: str, *, failed: bool) -> None:
        """Note that an operation has ended."""
        self.begun.discard(urn)
        (self.failed.add if failed else self.failed.discard)(urn)

    def error(self, urn: str) -> str:
        """Return what was wrong with a resource; empty if nothing was."""
        return "\n".join(self.errors.get(urn, ()))

    @classmethod
    def of(cls, events: Iterable[Mapping[str, Any]]) -> Events:
        """Return the account of the last update in a log, which may begin with its preview."""
        found = cls()
        for event in events:
            if "preludeEvent" in event:
                found = cls()
            found._hear(event)
        return found

    def _hear(self, event: Mapping[str, Any]) -> None:
        said, steps = event.get("diagnosticEvent"), [event.get(kind) for kind in _STEPS]
        before, after, failed = ((_changed(step) if isinstance(step, Mapping) else "") for step in steps)
        if isinstance(said, Mapping):
            self.said(_text(said.get("urn")), _text(said.get("severity")), _text(said.get("message")))
        elif before:
            self.began(before)
        elif after or failed:
            self.finished(after or failed, failed=bool(failed))
        elif "summaryEvent" in event:
            self.ended = True


def read_events(file: Path) -> Events:
    """Read the events of an update.

    Raises:
        FleetError: the file cannot be read, or has no events.
    """
    try:
        return parse_events(read_regular(file), str(file))
    except OSError as error:
        raise FleetError([Problem(f"cannot be read: {error.strerror}", file=str(file), hint=_HINT)]) from error
    except UnreadableError as error:
        raise FleetError([error.problem(str(file), _HINT)]) from None


def parse_events(text: bytes, file: str) -> Events:
    """Return the account of an update from a log; lines of others, and one that was cut off, are passed over.

    Raises:
        FleetError: the text has no events.
    """
    found = [event for line in text.splitlines() if (event := _event(line))]
    if not found:
        raise FleetError([Problem("has no events of the engine", file=file, hint=_HINT)])
    return Events.of(found)


def plain(text: str) -> str:
    """Return a message without the marks that the engine puts around what it colours."""
    parts = text.split("<{%")
    return parts[0] + "".join(part.partition("%}>")[2] for part in parts[1:])


def _event(line: bytes) -> Mapping[str, Any] | None:
    """Return the event of a line; None if it has none."""
    try:
        data = read_json(line) if line.strip() else None
    except UnreadableError:
        return None
    return data if isinstance(data, dict) and any(key.endswith("Event") for key in data) else None


def _changed(step: Mapping[str, Any]) -> str:
    """Return the URN of a step that changes something; empty for one of a preview."""
    metadata = step.get("metadata")
    if step.get("planning") or not isinstance(metadata, Mapping) or metadata.get("op") == _SAME:
        return ""
    return _text(metadata.get("urn"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
