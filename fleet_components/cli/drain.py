"""The command ``fleet drain``: writes what moves the work off a member, and shows what would
move.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fleet_components.cli import edits, names, options
from fleet_components.cli.help import Command
from fleet_components.review.planning import drain as planning
from fleet_components.review.showing.edits import drain_view


@click.command(
    cls=Command,
    examples={
        "how the files change, and what moves where": "fleet drain east fleet/ --state state.json",
        "the same, and the files are written": "fleet drain east fleet/ --state state.json --write",
    },
)
@click.argument("member", shell_complete=names.members)
@options.PATHS
@edits.changing
def drain(member: str, paths: tuple[Path, ...], write: bool, strict: bool, **where: Any) -> None:
    """Move the work off MEMBER by a pull request: a taint on it, and an eviction for each placement
    there.

    Shows how the files change, then what comes of each placement, and the plan of the changed
    fleet. Give the --state, so that what really stands is looked at; without one, what is planned
    now counts as delivered. DIR may be a Pulumi project whose fleet:source names a directory.
    """
    found = planning.drain(member, paths, options.command_line(**where))
    edits.end(found.edits, found.survey, drain_view(found), write=write, strict=strict)
