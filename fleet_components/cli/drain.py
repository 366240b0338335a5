"""The command ``fleet drain``: writes what moves the work off a member, and shows what would move."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import epilogue
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.planning import drain as planning
from fleet_components.review.showing.console import shown
from fleet_components.review.showing.drained import print_drain
from fleet_components.review.showing.table import plan_table


@click.command(epilog=epilogue())
@click.argument("member")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@options.where
@options.endings(detailed=False)
@click.option("--write", is_flag=True, help="Write the files; otherwise they are only shown.")
def drain(member: str, paths: tuple[Path, ...], write: bool, strict: bool, **where: Any) -> None:
    """Move the work off MEMBER by a pull request: a taint on it, and an eviction for each placement there.

    Shows how the files change, then what comes of each placement, and the plan of the changed fleet. Give the --state,
    so that what really stands is looked at; without one, what is planned now counts as delivered. DIR may be a Pulumi
    project whose fleet:source names a directory.
    """
    found = planning.drain(member, paths, options.command_line(**where))
    document = plan_document(found.survey)
    sys.stdout.write(shown(lambda console: print_drain(console, found)))
    sys.stdout.write(shown(lambda console: plan_table(console, document)))
    options.say_refused(found.survey.refused, shown=True)
    for edit in found.edits if write else ():
        edit.write()
    click.echo(f"{'written' if write else 'not written, without --write'}: {_files(found)}")
    options.end(document, strict=strict)


def _files(found: planning.Drain) -> str:
    return ", ".join(edit.file for edit in found.edits) or "no file has to change"
