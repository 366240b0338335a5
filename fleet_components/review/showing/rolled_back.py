"""The rollback of a placement in a terminal: what is left to do by hand, and which members go back."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import visible
from fleet_components.review.planning.rollback import Rollback
from fleet_components.review.showing.moves import moves
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import single_line


def print_rollback(console: Console, back: Rollback) -> None:
    """Print what no file can be changed for, and in which wave the members go back."""
    for name, words in back.by_hand.items():
        print_indented(console, Text(f"{visible(name)}: {single_line(visible(words))}"), 0)
    if not back.edits and not back.by_hand:
        print_indented(console, Text(f"{visible(back.name)} is as in revision {back.revision} already"), 0)
    for line in moves(back.decided):
        print_indented(console, Text(visible(line)), 0)
    console.print()
