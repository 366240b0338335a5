"""The engine's events of one update: what it said of each resource, and how far it came.

``pulumi up --json`` prints them, a JSON object a line; ``PULUMI_DEBUG_COMMANDS=true pulumi up
--event-log FILE`` writes the same to a file. Source: pulumi/pulumi v3.272.0,
``sdk/go/common/apitype/events.go``.

Messages quote what clusters answer, so nothing is taken for granted: neither types, nor sizes, nor
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import read_regular
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count
from fleet_components.plan.names import is_urn

_HINT = (
    "give what `pulumi up --json` has printed, or the file of PULUMI_DEBUG_COMMANDS=true pulumi up"
    " --event-log FILE"
)
_SAME = "same"
_LONGEST = 16_384
"""Length of a message; the rest of a longer one is counted."""
_MOST_ERRORS = 1000
_MOST_RESOURCES = 100_000
"""Numbers of messages and of resources that are remembered of an update."""


class EventKind(StrEnum):
    """Kinds of events that are read, by the names of their fields."""

    PRELUDE = "preludeEvent"
    DIAGNOSTIC = "diagnosticEvent"
    BEGAN = "resourcePreEvent"
    DONE = "resOutputsEvent"
    FAILED = "resOpFailedEvent"
    SUMMARY = "summaryEvent"


@attrs.frozen
class EngineEvent:
    """Event of the engine, with the fields that are read.

    Attributes:
        kind: its kind.
        urn: the resource; empty for the update as a whole.
        op: what is done to it: ``create``, ``update``, ``delete``.
        severity: of a message: ``error``, ``warning``, ``info``, ``info#err``, ``debug``.
        text: the message, without marks of colours and shortened.
        planned: True in a preview.
    """

    kind: EventKind
    urn: str = ""
    op: str = ""
    severity: str = ""
    text: str = ""
    planned: bool = False

    @classmethod
    def of(cls, line: bytes) -> EngineEvent | None:
        """Return the event of a line; None if it is no event, or none of these kinds."""
        try:
            data = read_json(line.decode(errors="replace")) if line.strip() else None
        except UnreadableError:
            return None
        fields: dict[str, Any] = data if isinstance(data, dict) else {}
        # An event has exactly one of these fields, which is the name of its kind.
        kind = next((kind for kind in EventKind if isinstance(fields.get(kind), dict)), None)
        if kind is None:
            return None
        body = fields[kind]
        if kind is EventKind.DIAGNOSTIC:
            text = plain(shortened(_text(body.get("message")))).strip()
            return cls(kind, _urn(body.get("urn")), severity=_text(body.get("severity")), text=text)
        step = body.get("metadata")
        step = step if isinstance(step, dict) else {}
        return cls(
            kind, _urn(step.get("urn")), _text(step.get("op")), planned=bool(body.get("planning"))
        )


@attrs.define
class Events:
    """Account of an update by resource, from its events.

    Attributes:
        errors: errors, by URN; those of the update as a whole are under the empty one.
        notes: the last message while the engine waited for a resource, by URN.
        begun: URNs of what was begun and has not ended.
        failed: URNs of what has failed.
        ended: True once the engine has summed up; a log without that is one of an update that was
            killed.
    """

    errors: dict[str, list[str]] = attrs.field(factory=dict)
    notes: dict[str, str] = attrs.field(factory=dict)
    begun: set[str] = attrs.field(factory=set)
    failed: set[str] = attrs.field(factory=set)
    ended: bool = False
    _room: int = _MOST_ERRORS

    def hear(self, event: EngineEvent) -> None:
        """Take over an event."""
        match event.kind:
            case EventKind.DIAGNOSTIC:
                self._diagnostic(event)
            case EventKind.SUMMARY:
                self.ended = True
            case EventKind.BEGAN if _changes(event) and len(self.begun) < _MOST_RESOURCES:
                self.begun.add(event.urn)
            # A later step of the same resource, as in a replacement, has succeeded.
            case EventKind.DONE if _changes(event):
                self.begun.discard(event.urn)
                self.failed.discard(event.urn)
            case EventKind.FAILED if _changes(event):
                self.begun.discard(event.urn)
                if len(self.failed) < _MOST_RESOURCES:
                    self.failed.add(event.urn)

    def _diagnostic(self, event: EngineEvent) -> None:
        if event.severity == "error" and self._room:
            self._room -= 1
            self.errors.setdefault(event.urn, []).append(event.text)
        elif event.severity in ("info", "warning") and event.text and event.urn:
            self.notes[event.urn] = event.text
            if len(self.notes) > _MOST_RESOURCES:
                # The oldest key: dicts keep the order of insertion.
                del self.notes[next(iter(self.notes))]

    def error(self, urn: str) -> str:
        """Return what was wrong with a resource; empty if nothing was."""
        return "\n".join(self.errors.get(urn, ()))

    @classmethod
    def of(cls, events: Iterable[EngineEvent]) -> Events:
        """Return the account of the last update in a log, which may begin with its preview."""
        found = cls()
        for event in events:
            # Preview and update each begin with a prelude: what came before it is the preview.
            if event.kind is EventKind.PRELUDE:
                found = cls()
            found.hear(event)
        return found


def read_events(file: Path) -> Events:
    """Read the events of an update.

    Raises:
        FleetError: the file cannot be read, or has no events.
    """
    try:
        return parse_events(read_regular(file), str(file))
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message("cannot-read", "cannot be read: {strerror}", strerror=error.strerror),
                    file=str(file),
                    hint=_HINT,
                )
            ]
        ) from error
    except UnreadableError as error:
        raise FleetError([error.problem(str(file), _HINT)]) from None


def parse_events(text: bytes, file: str) -> Events:
    """Return the account of an update from a log; lines of others, and one that was cut off, are
    passed over.

    Raises:
        FleetError: the text has no events.
    """
    found = [event for line in text.splitlines() if (event := EngineEvent.of(line))]
    if not found:
        raise FleetError(
            [
                Problem(
                    Message("no-events-engine", "has no events of the engine"),
                    file=file,
                    hint=_HINT,
                )
            ]
        )
    return Events.of(found)


def plain(text: str) -> str:
    """Return a message without the marks that the engine puts around what it colours."""
    # The engine marks colours as in <{%bold%}>text<{%reset%}>.
    parts = text.split("<{%")
    return parts[0] + "".join(part.partition("%}>")[2] for part in parts[1:])


def shortened(text: str) -> str:
    """Return a message of which a very long rest is counted only."""
    more = len(text) - _LONGEST
    return f"{text[:_LONGEST]}... and {count(more, 'more character')}" if more > 0 else text


def _changes(event: EngineEvent) -> bool:
    """Return whether a step changes something: no preview, and no resource that stays as it is."""
    return not event.planned and event.op != _SAME and bool(event.urn)


def _urn(value: Any) -> str:
    return value if isinstance(value, str) and is_urn(value) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
