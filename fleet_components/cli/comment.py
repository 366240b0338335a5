"""The command ``fleet comment``: posts a review as the one comment of its pull request."""

from __future__ import annotations

import os
from pathlib import Path

import click

from fleet_components.cli.exit_status import epilogue
from fleet_components.forges.comment import FORGES, comment_text, publish
from fleet_components.forges.forge import NothingToDoError
from fleet_components.model.problem import FleetError, Problem

EXAMPLES = """\b
Examples:
  fleet comment review/ --on github
  fleet comment review/ --on gitlab --about clusters/fleet"""


@click.command(epilog=f"{EXAMPLES}\n\n{epilogue()}")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--on", "forge", type=click.Choice(list(FORGES)), required=True, help="Where the pull request is.")
@click.option(
    "--about",
    default="fleet",
    show_default=True,
    metavar="NAME",
    help="Tells the comments of several fleets on one pull request apart.",
)
def comment(folder: Path, forge: str, about: str) -> None:
    """Post the review in DIR as a comment on the pull request of this CI run, or update the one that is there.

    DIR holds review.md, what `fleet review -o markdown` prints, and errors.txt, what it says besides and what is
    posted where review.md is empty. Both are only text to this command. The pull request is found in what the CI
    system says of the run; the token is in FLEET_COMMENT_TOKEN. `fleet init --ci` writes workflows that call it.
    """
    if "--" in about or ">" in about or not about.isprintable():
        raise click.BadParameter("letters, digits, ., _, - and / are fine, but no -- and no >", param_hint="--about")
    if not folder.is_dir():
        raise FleetError([Problem("is not a folder", file=str(folder), hint="write review.md into one, and give it")])
    text = comment_text(folder)
    try:
        click.echo(publish(FORGES[forge](os.environ), text, about))
    except NothingToDoError as why:
        click.echo(f"no comment: {why}")
