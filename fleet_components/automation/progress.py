"""Progress of one update: which members it has reached, by the events of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import attrs

from fleet_components.model.text import visible
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.rollout.rollout import Change
from fleet_components.status.events import EngineEvent, EventKind, Events

_BEFORE_A_WAVE = "waiting "
"""Beginning of what the program says while it waits between two waves."""

_MOST_WARNINGS = 1000


class UpdateStand(StrEnum):
    """Degree to which an update has come on a member."""

    AHEAD = "ahead"
    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"


@attrs.define
class Move:
    """Change of a member by an update, and how far it has come.

    Attributes:
        subject: key of the placement or template.
        member: the member.
        change: what is done to it.
        wave: the wave in which that is done; 0 for the end of the update.
        stand: how far it has come.
        note: what is waited for there, in the words of the provider.
    """

    subject: str
    member: str
    change: Change
    wave: int
    stand: UpdateStand = UpdateStand.AHEAD
    note: str = ""


class UpdateProgress:
    """Course of an update: how far it has come.

    Args:
        plans: the plans of the update.
        number: its number in the rollout, from 1.
        total: the number of updates that the rollout takes, as far as it is known.
    """

    def __init__(self, plans: Iterable[FleetPlan], number: int, total: str) -> None:
        self.number, self.total = number, total
        self.moves: dict[str, Move] = {}
        self.to_hub = False
        self.note = ""
        self.events = Events()
        self.warnings: dict[str, None] = {}
        for plan in plans:
            self.moves |= _moves(plan)
            self.to_hub |= bool(plan.consignment.system)

    @property
    def title(self) -> str:
        """``update 1 of 3``."""
        return f"update {self.number} of {self.total}"

    @property
    def errors(self) -> list[str]:
        """The errors of the update, in the order in which they were said."""
        return [
            visible(text, lines=True) for errors in self.events.errors.values() for text in errors
        ]

    def waves(self) -> dict[str, list[int]]:
        """Return the waves of each subject, in order; 0, the removals, is the last one."""
        found: dict[str, set[int]] = {}
        for move in self.moves.values():
            found.setdefault(move.subject, set()).add(move.wave)
        return {
            subject: sorted(waves, key=lambda wave: (not wave, wave))
            for subject, waves in found.items()
        }

    def members(self, *stands: UpdateStand) -> list[str]:
        """Return the members that have come so far, as ``member`` or, where several subjects move,
        with the subject.
        """
        several = len({move.subject for move in self.moves.values()}) > 1
        found = [move for move in self.moves.values() if move.stand in stands]
        return [f"{move.member} ({move.subject})" if several else move.member for move in found]

    def hear(self, event: EngineEvent) -> Iterator[Move]:
        """Take over what an event says, and yield the move that it brings forward."""
        self.events.hear(event)
        match event.kind:
            case EventKind.DIAGNOSTIC:
                self._diagnostic(event)
            # A resource that stays as it is begins nothing on its member.
            case EventKind.BEGAN if event.op != "same":
                yield from self._brought(event.urn, UpdateStand.BEGUN, UpdateStand.AHEAD)
            case EventKind.FAILED:
                yield from self._brought(
                    event.urn, UpdateStand.FAILED, UpdateStand.AHEAD, UpdateStand.BEGUN
                )
            # A binding follows all objects of its member. One that is deleted goes before them, so
            # that a removal is done only when the update is: see succeed.
            case EventKind.DONE if (
                event.urn and Urn.parse(event.urn).type == names.BINDING and event.op != "delete"
            ):
                yield from self._brought(
                    event.urn, UpdateStand.DONE, UpdateStand.AHEAD, UpdateStand.BEGUN
                )

    def succeed(self) -> Iterator[Move]:
        """Take the update for done, and yield the moves of which no event has said so: removals."""
        self.note = ""
        for move in self.moves.values():
            if move.stand is not UpdateStand.DONE:
                move.stand = UpdateStand.DONE
                yield move

    def _brought(self, urn: str, stand: UpdateStand, *before: UpdateStand) -> Iterator[Move]:
        move = self._of(urn)
        if move and move.stand in before:
            # What was waited for is over once anything moves.
            move.stand, move.note, self.note = stand, "", ""
            yield move

    def _of(self, urn: str) -> Move | None:
        """Return the move that a resource belongs to: its name begins with that of the target."""
        name = Urn.parse(urn).name if urn else ""
        # Resources of a target are named below it: cut the name from its end until it is that of a
        # move.
        while name and name not in self.moves:
            name = name.rpartition("/")[0]
        return self.moves.get(name)

    def _diagnostic(self, event: EngineEvent) -> None:
        text = visible(event.text, lines=True).strip()
        move = self._of(event.urn)
        if event.severity == "warning":
            if len(self.warnings) < _MOST_WARNINGS:
                self.warnings.setdefault(text)
        # self.events has it already.
        elif event.severity == "error":
            return
        elif move:
            move.note = " ".join(text.split())
        elif text.startswith(_BEFORE_A_WAVE):
            self.note = text


def _moves(plan: FleetPlan) -> Mapping[str, Move]:
    """Return the moves that an update makes itself, by the name of the target, in the order in
    which they come.
    """
    found: dict[str, Move] = {}
    for decided in (subject for subject in plan.subjects if not subject.hub):
        for cluster, entry in decided.entries.items():
            if entry.change in (Change.ADD, Change.UPDATE, Change.REMOVE):
                # A removal has no placement, and comes after all waves.
                wave = entry.placed.wave if entry.placed else 0
                name = names.target_name(plan.options.fleet, decided.subject.key, cluster)
                found[name] = Move(decided.subject.key, cluster, entry.change, wave)
    return dict(
        sorted(
            found.items(),
            # Removals have wave 0 and come last, as False sorts before True.
            key=lambda item: (item[1].subject, not item[1].wave, item[1].wave, item[0]),
        )
    )
