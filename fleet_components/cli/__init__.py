"""The ``fleet`` command: what would happen to a fleet, and why, before anything does."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from fleet_components.model.extras import extra_of, not_installed


def main() -> None:
    """Run the command. Needs the extra ``cli``; Pulumi is only loaded for Pulumi projects."""
    try:
        from fleet_components.cli.command import fleet
    except ModuleNotFoundError as missing:
        if extra_of(missing.name or "") != "cli":
            raise
        problem = not_installed(missing.name or "")
        sys.exit(f"error: {problem.what}\n  hint: {problem.hint}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal cannot say is shown somehow
    fleet()
