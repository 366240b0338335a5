"""The rollback of a placement in a terminal: what is left to do by hand, and which members go back."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import few, visible
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.rollback import Rollback
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import single_line
from fleet_components.rollout.rollout import Change


def print_rollback(console: Console, back: Rollback) -> None:
    """Print what no file can be changed for, and in which wave the members go back."""
    for name, words in back.by_hand.items():
        print_indented(console, Text(f"{visible(name)}: {single_line(visible(words))}"), 0)
    if not back.edits and not back.by_hand:
        print_indented(console, Text(f"{visible(back.name)} is as in revision {back.revision} already"), 0)
    for line in moves(back.decided):
        print_indented(console, Text(visible(line)), 0)
    console.print()


# The members that move in an update, in lines of text.


_MOST = 20


def moves(decided: Decided) -> Iterator[str]:
    """Yield which members get which revision, by wave, and which are held with the reason."""
    entries = decided.entries
    for wave in decided.outcome.rollout.waves:
        placed = {name: entries[name].placed for name in wave.clusters}
        sent = {name: item.revision for name, item in placed.items() if item}
        for revision in sorted(set(sent.values())):
            names = few([name for name, at in sent.items() if at == revision], _MOST)
            yield f"{decided.name}: wave {wave.number}: {names} to revision {revision}"
    held: dict[str, list[str]] = {}
    for name, entry in entries.items():
        if entry.change is Change.HELD:
            held.setdefault(entry.reason, []).append(name)
    for why, names_held in held.items():
        yield f"{decided.name}: held: {few(names_held, _MOST)}: {why}"
