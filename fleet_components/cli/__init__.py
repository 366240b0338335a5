"""The ``fleet`` command: what would happen to a fleet, and why, before anything does."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command. Needs the extra ``cli``; Pulumi is only loaded for Pulumi projects."""
    try:
        from fleet_components.cli.command import fleet
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich"):
            raise
        sys.exit(f"error: {missing.name} is not installed\n  hint: pip install 'fleet-components[cli]'")
    fleet()
