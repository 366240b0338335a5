"""The progress of a rollout for people: a picture that changes in a terminal, a line for each event
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from fleet_components.automation.progress import Move, UpdateProgress, UpdateStand
from fleet_components.model.text import count, few, visible
from fleet_components.rollout.rollout import Change

_MOST_ROWS = 8
_DOING = {Change.ADD: "joins", Change.UPDATE: "is updated", Change.REMOVE: "is left"}
_DONE = {Change.ADD: "has joined", Change.UPDATE: "is up to date", Change.REMOVE: "has been left"}
_SIGNS = {
    UpdateStand.AHEAD: " ",
    UpdateStand.BEGUN: "~",
    UpdateStand.DONE: "+",
    UpdateStand.FAILED: "x",
}
_COLOURS = {
    UpdateStand.AHEAD: "dim",
    UpdateStand.BEGUN: "yellow",
    UpdateStand.DONE: "green",
    UpdateStand.FAILED: "red",
}


class Lines:
    """Display without a terminal.

    Args:
        err: True to print on standard error, if standard output is for a document.
    """

    def __init__(self, *, err: bool = False) -> None:
        self._err = err
        self._noted = ""

    def say(self, text: str) -> None:
        """Print a line that stays."""
        click.echo(visible(text), err=self._err)

    def plan(self, number: int) -> None:
        """Show that an update is planned."""

    def begin(self, progress: UpdateProgress) -> None:
        """Print that an update begins."""
        self.say(f"{progress.title}: {ahead(progress)}")

    def moved(self, progress: UpdateProgress, move: Move) -> None:
        """Print that a member has made progress."""
        words = {
            UpdateStand.BEGUN: _DOING[move.change],
            UpdateStand.DONE: _DONE[move.change],
            UpdateStand.FAILED: "has failed",
        }
        wave = f", wave {move.wave}" if move.wave else ""
        self.say(f"{progress.title}: {move.subject}{wave}: {move.member} {words[move.stand]}")

    def refresh(self, progress: UpdateProgress) -> None:
        """Print the reason for waiting, once."""
        if progress.note and progress.note != self._noted:
            self.say(f"{progress.title}: {progress.note}")
        self._noted = progress.note

    def count_down(self, why: str, left: timedelta) -> None:
        """Print the reason for waiting, once."""
        if why != self._noted:
            self._noted = why
            self.say(f"waiting {_span(left)}: {why}")

    def succeed(self, progress: UpdateProgress) -> None:
        """Print that an update has succeeded."""
        self.say(f"{progress.title}: done")

    def end(self) -> None:
        """Leave what was printed."""
        self._noted = ""


class Picture(Lines):
    """Display in a terminal.

    Args:
        console: the terminal.
    """

    def __init__(self, console: Console) -> None:
        super().__init__()
        # carried_out redraws several times a second from the main thread: rich needs no thread of
        # its own.
        self._live = Live(console=console, transient=True, auto_refresh=False)

    def say(self, text: str) -> None:
        """Print a line above the picture."""
        # The terminal wraps long lines, so that a command can be copied as one line.
        self._live.console.print(Text(visible(text)), soft_wrap=True)

    def plan(self, number: int) -> None:
        """Show that an update is planned."""
        self._live.start()
        self._live.update(_line(f"planning update {number}", "dim"), refresh=True)

    def begin(self, progress: UpdateProgress) -> None:
        """Draw the picture for the first time."""
        self._live.start()
        self.refresh(progress)

    def moved(self, progress: UpdateProgress, move: Move) -> None:
        """Redraw the picture."""
        self.refresh(progress)

    def refresh(self, progress: UpdateProgress) -> None:
        """Redraw the picture."""
        self._live.update(Group(*picture(progress)), refresh=True)

    def count_down(self, why: str, left: timedelta) -> None:
        """Draw the reason for waiting, with the remaining time."""
        self._live.start()
        self._live.update(_line(f"{_span(left)} left: {why}", "yellow"), refresh=True)

    def succeed(self, progress: UpdateProgress) -> None:
        """Print what has been done, which stays when the picture goes."""
        done = (
            f"{move.subject}: {move.member} {_DONE[move.change]}"
            for move in progress.moves.values()
        )
        # Lines that stay are cut to a few members as well: a rollout may move hundreds.
        self.say(f"{progress.title}: {few(list(done), _MOST_ROWS) or 'done'}")

    def end(self) -> None:
        """Take the picture away."""
        self._live.stop()


def ahead(progress: UpdateProgress) -> str:
    """Return what an update has before it: ``shop: c, d, a in 2 waves``."""
    parts = []
    for subject, waves in progress.waves().items():
        members = [move.member for move in progress.moves.values() if move.subject == subject]
        # Wave 0 is not a wave: it stands for the removals at the end of the update.
        number = sum(1 for wave in waves if wave)
        how = f" in {count(number, 'wave')}" if number > 1 else ""
        parts.append(f"{subject}: {few(members, 10)}{how}")
    if progress.to_hub:
        parts.append("what the hub carries out goes to it")
    return "; ".join(parts) or "no member changes"


def picture(progress: UpdateProgress) -> Iterator[RenderableType]:
    """Yield the lines of the picture: the update, its subjects with their wave, and the members of
    that wave.
    """
    done = len(progress.members(UpdateStand.DONE))
    title = f"{progress.title}: {done} of {count(len(progress.moves), 'member')} done"
    yield _line(title, "bold")
    for subject, waves in progress.waves().items():
        moves = [move for move in progress.moves.values() if move.subject == subject]
        # Moves are in the order of their waves, and the removals come last. A failed member keeps
        # the picture at its wave.
        now = next((move.wave for move in moves if move.stand is not UpdateStand.DONE), None)
        if now is None:
            yield _line(f"  {subject}: done", "green")
            continue
        where = (
            f"wave {waves.index(now) + 1} of {sum(1 for wave in waves if wave)}"
            if now
            else "removals"
        )
        yield _line(f"  {subject}: {where}", "cyan")
        yield from _rows([move for move in moves if move.wave == now])
    if progress.note:
        yield _line(f"  {progress.note}", "yellow")


def _rows(moves: list[Move]) -> Iterator[RenderableType]:
    # Begun and failed members (1 and 3 in _SIGNS) come first, since only _MOST_ROWS rows are shown.
    moves = sorted(moves, key=lambda move: list(_SIGNS).index(move.stand) in (0, 2))
    width = max(len(move.member) for move in moves)
    for move in moves[:_MOST_ROWS]:
        doing = _DONE[move.change] if move.stand is UpdateStand.DONE else _DOING[move.change]
        what = "has failed" if move.stand is UpdateStand.FAILED else doing
        text = f"    {_SIGNS[move.stand]} {move.member.ljust(width)}  {what}"
        yield _line(f"{text}: {move.note}" if move.note else text, _COLOURS[move.stand])
    more = len(moves) - _MOST_ROWS
    if more > 0:
        yield _line(f"    and {more} more", "dim")


def _line(text: str, style: str) -> Text:
    """Return a line that is cut where the terminal ends."""
    return Text(visible(text), style, no_wrap=True, overflow="ellipsis")


def _span(time: timedelta) -> str:
    """Return a time in hours, minutes and seconds: ``1:05:09``."""
    return str(timedelta(seconds=max(0, round(time.total_seconds()))))
