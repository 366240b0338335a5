"""The command ``fleet review``: shows what a pull request would do to each cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fleet_components.cli import options
from fleet_components.cli.help import Command, planned
from fleet_components.cli.review_output import Shown, reviewing, show
from fleet_components.model.text import visible
from fleet_components.review.planning import two_sides

MOST_WARNINGS = 20
"""Largest number of errors of the base that are printed."""


@click.command(
    cls=Command,
    examples={
        "the files as they are": "fleet review fleet/ --base origin/main",
        "a stranger's: nothing of it is run": (
            "fleet review fleet/ --base origin/main --no-program -o markdown"
        ),
        "on top of what stands": "fleet review fleet/ --base origin/main --state state.json",
        "a Pulumi project": "fleet review . --stack prod --base origin/main",
    },
)
@options.PATHS
@planned(
    "--base",
    required=True,
    metavar="REF",
    help=(
        "The branch that the pull request is for: compared with is the commit where the two have"
        " parted."
    ),
)
@planned(
    "--head",
    default="",
    metavar="REF",
    help="A commit to be reviewed; by default the files as they are in DIR.",
)
@options.where
@options.CONFIG
@click.option(
    "--save-state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=(
        "Write what the state would be once the pull request is carried out, as for fleet plan. Not"
        " where that is refused. A program is run once more."
    ),
)
@reviewing
def review(
    paths: tuple[Path, ...],
    base: str,
    head: str,
    save_state: Path | None,
    asked: Shown,
    **where: Any,
) -> None:
    """Show what a pull request would do to each cluster, and why.

    What the branch of --base had when the two parted is read from the objects of the git repository
    around DIR, without a checkout, and the files in DIR are planned on top of it. Without --state
    the base is planned as if newly made, and decisions that what really runs could change are
    marked. With --state, or where DIR is an observed directory, the files are planned on what runs,
    and what the base would change as well is marked.
    """
    found = two_sides.review(paths, options.command_line(**where), base, head)
    _say(found)
    show(found.survey, asked, save_state)


def _say(found: two_sides.Review) -> None:
    """Print notes and errors of the base on standard error; they do not count for the review."""
    for note in found.notes:
        click.echo(f"note: {visible(note)}", err=True)
    for problem in found.warnings[:MOST_WARNINGS]:
        click.echo(f"warning: {problem}", err=True)
