"""The command ``fleet approve``: writes approvals of staged updates, and shows what they let happen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fleet_components.cli import edits, options
from fleet_components.cli.help import Command
from fleet_components.review.planning import approve as planning
from fleet_components.review.showing.approved import print_approval


@click.command(
    cls=Command,
    examples={
        "what is asked for": "fleet approve fleet/ --state state.json",
        "what an approval lets happen": "fleet approve fleet/ go-after-canary --state state.json",
        "the same, and the file is written": "fleet approve fleet/ go-after-canary --state state.json --write",
    },
)
@click.argument("path", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.WITH
@options.where
@options.endings(detailed=False)
@edits.WRITE
def approve(
    path: Path, names: tuple[str, ...], others: tuple[Path, ...], write: bool, strict: bool, **where: Any
) -> None:
    """Give the approvals NAME of staged updates by a pull request; without NAME, list those that are asked for.

    A name is RUN-before-STAGE or RUN-after-STAGE, of a run in a namespace NAMESPACE/RUN-after-STAGE. Each becomes an
    approved request in a file beside its run. Shows the files, which members of which stage then move to which
    revision, and the plan with the approvals. Give the --state, so that what really stands is looked at. DIR may be a
    Pulumi project whose fleet:source names a directory.
    """
    paths, command = [path, *others], options.command_line(**where)
    if not names:
        found = planning.asked(paths, command)
        for one in found:
            click.echo(f"{one.name}: {one.words} ({one.decided.name}, stage {one.stage.name})")
        if not found:
            click.echo("no approval is asked for")
        return
    given = planning.approve(names, paths, command)
    edits.end(given.edits, given.survey, lambda console: print_approval(console, given), write=write, strict=strict)
