"""Text for standard output: in the width and colours of a terminal; plain and unwrapped without a
terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from rich.console import Console

from fleet_components.model.text import commanding_nothing

UNFOLDED = 100_000
STYLES = {"joins": "green", "updated": "yellow", "leaves": "red", "held": "magenta", "stays": "dim"}


def shown(draw: Callable[[Console], None]) -> str:
    """Return what a function draws, as text for standard output."""
    console = make_console()
    with console.capture() as capture:
        draw(console)
    # Rich fills lines with spaces, which would be in the way when copied.
    text = "".join(f"{line.rstrip()}\n" for line in capture.get().removesuffix("\n").split("\n"))
    return commanding_nothing(text)  # once more: a line that was folded begins anew


def make_console() -> Console:
    """Return a console for standard output. Without a terminal lines are not wrapped, unless
    COLUMNS is set.
    """
    plain = bool(os.environ.get("NO_COLOR"))
    piped = not sys.stdout.isatty()
    return Console(
        # A pipe has no width: Rich would fold at 80 columns.
        width=UNFOLDED if piped and not os.environ.get("COLUMNS") else None,
        color_system=None if plain else "auto",
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )
