"""The command ``fleet rollback``: puts a kept revision of a placement back into the source, and
shows what moves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fleet_components.cli import edits, names, options
from fleet_components.cli.help import Command
from fleet_components.review.planning import rollback as planning
from fleet_components.review.showing.edits import rollback_view


@click.command(
    cls=Command,
    examples={
        "the revisions that are kept": "fleet rollback shop fleet/ --state state.json",
        "how the files change, and what moves": (
            "fleet rollback shop fleet/ --state state.json --to 0"
        ),
        "the same, and the files are written": (
            "fleet rollback shop fleet/ --state state.json --to 0 --write"
        ),
    },
)
@click.argument("placement", shell_complete=names.placements)
@options.PATHS
@click.option(
    "--to",
    type=click.IntRange(0),
    metavar="N",
    help="The revision; without it the kept ones are listed.",
)
@click.option(
    "--name", default="", help="Name of the update run, where one rolls the placement out."
)
@edits.changing
def rollback(
    placement: str,
    paths: tuple[Path, ...],
    to: int | None,
    name: str,
    write: bool,
    strict: bool,
    **where: Any,
) -> None:
    """Take PLACEMENT back to a revision by a pull request; one in a namespace is NAMESPACE/NAME.

    The revision is looked up in the --state. Its objects are put back into their files, of which
    nothing else changes; where update runs roll the placement out, such a run is added instead.
    Shows how the files change, what is left to do by hand, and the plan of the changed fleet. DIR
    may be a Pulumi project whose fleet:source names a directory.
    """
    command = options.command_line(**where)
    if to is None:
        called, found = planning.revisions(placement, paths, command)
        for revision in found:
            click.echo(f"{called} revision {planning.revision_text(revision)}")
        if not found:
            click.echo(f"{called}: no revision is kept; give the --state")
        return
    back = planning.rollback(placement, to, name, paths, command)
    edits.end(back.edits, back.survey, rollback_view(back), write=write, strict=strict)
