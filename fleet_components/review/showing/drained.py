"""The draining of a member in a terminal: what moves."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import visible
from fleet_components.review.planning.drain import Drain
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import single_line


def print_drain(console: Console, drain: Drain) -> None:
    """Print what comes of each placement and template on the member."""
    for name, words in drain.outcomes.items():
        print_indented(console, Text(f"{visible(name)}: {single_line(visible(words))}"), 0)
    if not drain.outcomes:
        print_indented(console, Text("nothing is on it"), 0)
    console.print()
