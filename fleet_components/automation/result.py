"""The result of a rollout: how it ended, what stands, and what it needs to go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.automation.progress import UpdateProgress, UpdateStand
from fleet_components.model.text import count, few, visible
from fleet_components.review.documents.schema import PlanDocument, WaitDocument
from fleet_components.review.documents.wire import as_data

VERSION = 1
_SHOWN = 10


class Ending(StrEnum):
    """Ways in which a rollout ends.

    ``stopped`` is for what no further update changes, as a missing approval; ``limit`` for the
    number of updates.
    """

    DONE = "done"
    STOPPED = "stopped"
    LIMIT = "limit"
    REFUSED = "refused"
    DECLINED = "declined"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    KILLED = "killed"


@attrs.frozen
class RunUpdate:
    """One update that was run.

    Attributes:
        progress: how far it has come.
        errors: what went wrong; empty if it succeeded.
    """

    progress: UpdateProgress
    errors: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the update as a part of the document."""
        members: Any = {
            str(stand): [
                {
                    "subject": move.subject,
                    "member": move.member,
                    "change": str(move.change),
                    "wave": move.wave or None,
                }
                for move in self.progress.moves.values()
                if move.stand is stand
            ]
            for stand in UpdateStand
        }
        return {
            "number": self.progress.number,
            "succeeded": not self.errors,
            "members": members,
            "errors": list(self.errors),
            "warnings": list(self.progress.warnings),
        }


@attrs.frozen(kw_only=True)
class Result:
    """Result of a rollout.

    Attributes:
        ending: how it ended.
        plan: the document of the last plan.
        again: the command that goes on with it.
        cancel: the command that unlocks the stack after an update that was killed.
        updates: the updates that were run.
        hub: the command that asks the hub how far it is; empty if nothing goes through one.
    """

    ending: Ending
    plan: PlanDocument
    again: str
    cancel: str
    updates: tuple[RunUpdate, ...] = ()
    hub: str = ""

    @property
    def complete(self) -> bool:
        """True if everything is as wanted on all members."""
        return self.ending is Ending.DONE

    def document(self) -> dict[str, Any]:
        """Return the document that ``-o json`` prints."""
        return {
            "version": VERSION,
            "fleet": as_data(self.plan.fleet),
            "ending": str(self.ending),
            "updates": [update.document() for update in self.updates],
            "remaining": as_data(self.plan.remaining),
            "refused": as_data(self.plan.refused),
            "words": list(self.words()),
        }

    def words(self, *, errors: bool = True) -> Iterator[str]:
        """Yield the outcome and the next step, a line each; without ``errors`` if they were printed
        before.
        """
        yield from self._ended(errors)
        # Without an update, and with something left to do, the hub has got nothing new from here.
        if self.hub and (self.updates or self.ending is Ending.DONE):
            yield (
                "what goes through the hub is carried out there, without further updates:"
                f" {self.hub}"
            )

    def _ended(self, errors: bool) -> Iterator[str]:
        ran = f" after {count(len(self.updates), 'update')}" if self.updates else ""
        match self.ending:
            case Ending.DONE if self.hub:
                yield f"nothing is left for updates to do{ran}"
            case Ending.DONE if self.updates:
                yield f"rolled out in {count(len(self.updates), 'update')}"
            case Ending.DONE:
                yield "nothing to do: every member is as wanted"
            case Ending.REFUSED:
                yield f"refused{ran}" if self.updates else "refused: nothing was updated"
            case Ending.DECLINED:
                yield "not confirmed: nothing was updated"
            case Ending.LIMIT:
                yield f"stopped{ran}, the most that was asked for; left: {self._left()}"
                yield f"to go on: {self.again}"
            case Ending.STOPPED:
                yield from self._stopped(ran)
            case Ending.FAILED | Ending.INTERRUPTED | Ending.KILLED:
                yield from self._broken(errors)

    def _left(self) -> str:
        """Return what is left before the planned update: that one, and what comes after it."""
        remaining = self.plan.remaining
        needed = [
            *(f"approval {name} is needed" for name in remaining.approvals),
            *_whys(remaining.waits),
        ]
        # The planned update itself is not among the remaining ones.
        more = count(remaining.updates + 1, "more update")
        return ", then ".join(filter(None, [more, " and ".join(needed)]))

    def _stopped(self, ran: str) -> Iterator[str]:
        remaining = self.plan.remaining
        for name in remaining.approvals:
            yield f"stopped{ran}: approval {name} is needed, and no update goes past it"
            yield f"to go on: fleet approve {name}, then {self.again}"
        for wait in remaining.waits:
            yield f"stopped{ran}: {wait.why}"
            then = f"after {wait.until}" if wait.until else "once it is over"
            yield f"to go on: {self.again} --wait, which waits until then, or --as-of TIME {then}"
        if not (remaining.approvals or remaining.waits):
            yield f"stopped{ran}: some members stay held, and no update changes that"
        for subject in self.plan.subjects:
            for held in subject.remaining.held:
                yield f"{subject.key}: {few(held.members, _SHOWN)} held: {held.why}"

    def _broken(self, errors: bool) -> Iterator[str]:
        if not self.updates:  # interrupted before the first one, or while nothing was under way
            yield "interrupted: nothing was updated"
            yield f"to go on: {self.again}"
            return
        # Only the last update can have failed: a rollout ends with a failure.
        last = self.updates[-1]
        progress = last.progress
        if self.ending is Ending.FAILED:
            yield f"{progress.title} has failed"
            yield from (f"error: {text}" for text in last.errors[:_SHOWN] if errors)
        # A signal that came as the update ended has interrupted nothing in it.
        elif last.errors:
            yield f"interrupted in {progress.title}"
        else:
            yield f"interrupted after {progress.title}"
        for what, stands in _STANDS:
            members = progress.members(stands)
            if members:
                yield f"{what}: {few(members, _SHOWN)}"
        if self.ending is Ending.KILLED:
            yield f"the stack is still locked: {self.cancel}"
        mend = "mend it, then " if self.ending is Ending.FAILED else ""
        yield f"to go on: {mend}{self.again}; it begins where this one stopped"


_STANDS = (
    ("done", UpdateStand.DONE),
    ("failed", UpdateStand.FAILED),
    ("begun and not finished", UpdateStand.BEGUN),
    ("not touched", UpdateStand.AHEAD),
)


def _whys(waits: Iterable[WaitDocument]) -> list[str]:
    return [wait.why for wait in waits]


def errors_of(progress: UpdateProgress, ended: str) -> tuple[str, ...]:
    """Return what went wrong in an update: what the engine and the program said, or else how the
    CLI ended.
    """
    if not ended:
        return ()
    # The engine ends every failed update with this message, which adds nothing.
    messages = [text for text in dict.fromkeys(progress.errors) if text != "update failed"]
    return tuple(messages or [visible(ended)])
