"""The command ``fleet comment``: posts a review as the one comment of its pull request."""

from __future__ import annotations

import os
from pathlib import Path

import click

from fleet_components.cli.help import Command
from fleet_components.cli.progress import watch
from fleet_components.forges.comment import FORGES, comment_text, publish
from fleet_components.forges.forge import NothingToDoError
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem


@click.command(
    cls=Command,
    examples={
        "in a workflow of GitHub, with review.md in review/": "fleet comment review/ --on github",
        "in a pipeline of GitLab, one of several fleets": (
            "fleet comment review/ --on gitlab --about clusters/fleet"
        ),
    },
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--on",
    "forge",
    type=click.Choice(list(FORGES)),
    required=True,
    help="Where the pull request is.",
)
@click.option(
    "--about",
    default="fleet",
    show_default=True,
    metavar="NAME",
    help="Tells the comments of several fleets on one pull request apart.",
)
def comment(folder: Path, forge: str, about: str) -> None:
    """Post the review in DIR as a comment on the pull request of this CI run, or update the one
    that is there.

    DIR holds review.md, what `fleet review -o markdown` prints, and errors.txt, what it says
    besides and what is posted where review.md is empty. Both are only text to this command. The
    pull request is found in what the CI system says of the run; the token is in
    FLEET_COMMENT_TOKEN. On GitHub only a comment of github-actions[bot] is updated; for the token
    of another user give its name in FLEET_COMMENT_AUTHOR. Mentions get a character without width.
    `fleet init --ci` writes workflows that call it.
    """
    # The name is written into an HTML comment, which "--" or ">" would end.
    if "--" in about or ">" in about or not about.isprintable():
        raise click.BadParameter(
            "letters, digits, ., _, - and / are fine, but no -- and no >", param_hint="--about"
        )
    if not folder.is_dir():
        raise FleetError(
            [
                Problem(
                    Message("not-folder", "is not a folder"),
                    file=str(folder),
                    hint="write review.md into one, and give it",
                )
            ]
        )
    text = comment_text(folder)
    try:
        with watch(f"asking {forge}"):
            lines = publish(FORGES[forge](os.environ), text, about)
        click.echo(lines)
    except NothingToDoError as why:
        click.echo(f"no comment: {why}")
