"""The ``fleet`` command: what would happen to a fleet, and why, before anything does."""

from __future__ import annotations

import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command. Needs the extra ``cli``; Pulumi is only loaded for Pulumi projects."""
    try:
        from fleet_components.cli.command import fleet
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in ("click", "rich"):
            raise
        sys.exit(f"error: {package} is not installed\n  hint: pip install 'fleet-components[cli]'")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal cannot say is shown somehow
    fleet()
