"""The end of a command that changes the source for a pull request: the plan of it, and the
files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click

from fleet_components.cli import clock, options
from fleet_components.cli.options import F
from fleet_components.cli.progress import watch
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.planning.edit import FileEdit
from fleet_components.review.planning.survey import Survey
from fleet_components.review.showing.age import with_age
from fleet_components.review.showing.blocks import Block
from fleet_components.review.showing.edits import edits_view
from fleet_components.review.showing.plan import plan_view
from fleet_components.review.showing.terminal import printed

WRITE = click.option(
    "--write", is_flag=True, help="Write the files; otherwise they are only shown."
)


def changing(command: F) -> F:
    """Add the options of a command that changes the source: those of a plan, ``--strict`` and
    ``--write``.
    """
    return options.where(options.endings(detailed=False)(WRITE(command)))


def end(
    edits: Sequence[FileEdit],
    surveyed: Survey,
    outcome: Iterable[Block],
    *,
    write: bool,
    strict: bool,
) -> None:
    """Show how files change and the plan with them, write them if asked, and exit with the status
    of the plan.

    Args:
        edits: the files.
        surveyed: the plan of the changed source.
        outcome: what comes of the change.
        write: whether the files are written.
        strict: whether the plan is judged strictly.
    """
    with watch(options.SUMMING_UP):
        document = plan_document(surveyed)
    page = plan_view(with_age(document, clock.now()))
    for blocks in (edits_view(edits), outcome, page.blocks):
        sys.stdout.write(printed(blocks))
    options.say_refused(document, shown=True)
    options.say_old(document)
    # Also if the plan is refused, which the exit status then says.
    for edit in edits if write else ():
        edit.write()
    files = ", ".join(edit.file for edit in edits) or "no file has to change"
    click.echo(f"{'written' if write else 'not written, without --write'}: {files}")
    options.end(document, strict=strict)
