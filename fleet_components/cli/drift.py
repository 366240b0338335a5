"""The command ``fleet drift``: holds what was delivered against what members have."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from fleet_components.cli import edits, names, options
from fleet_components.cli.exit_status import ExitStatus
from fleet_components.cli.help import Command
from fleet_components.cli.progress import watch
from fleet_components.cli.stack import with_state
from fleet_components.content.files import unreadable
from fleet_components.model.problem import FleetError
from fleet_components.model.text import few
from fleet_components.options import FLAGS
from fleet_components.review.documents.drift import DriftDocument, drift_document
from fleet_components.review.planning.adoption import Adoption
from fleet_components.review.planning.adoption import adopt as adoption
from fleet_components.review.planning.drift import drift as compared
from fleet_components.review.planning.survey import of_its_stack
from fleet_components.review.showing.drift import adoption_view, drift_view
from fleet_components.review.showing.forms import in_form


@click.command(
    cls=Command,
    examples={
        "a Pulumi project: the Pulumi CLI gives its state and the kubeconfigs": (
            "fleet drift . --stack prod"
        ),
        "one placement on one member": "fleet drift . --stack prod --only shop --member east",
        "a directory, with an exported state": (
            "pulumi stack export --stack prod --show-secrets | fleet drift fleet/ --state -"
        ),
        "what somebody has changed by hand becomes source": (
            "fleet drift . --stack prod --adopt --write"
        ),
    },
)
@options.PATHS
@options.where
@click.option(
    "--member",
    "members",
    multiple=True,
    metavar="NAME",
    shell_complete=names.members,
    help="Ask this member alone; repeatable.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PLACEMENT",
    shell_complete=names.placements,
    help="Look at this placement or template; repeatable.",
)
@options.reaching
@click.option(
    "--adopt",
    is_flag=True,
    help="Put what members have into the source, as far as files can say it.",
)
@options.output("text", "json", "yaml", "markdown")
@options.endings(
    changes="something has drifted", strict="Refuse drift, and with --adopt what fleet plan refuses"
)
@edits.WRITE
def drift(
    paths: tuple[Path, ...],
    members: tuple[str, ...],
    only: tuple[str, ...],
    kubeconfigs: Mapping[str, Path],
    timeout: float,
    adopt: bool,
    output: str,
    write: bool,
    strict: bool,
    detailed: bool,
    **where: Any,
) -> None:
    """Hold what was delivered against what the members have now.

    What was delivered is read from the state; the source of today does not count. Every member is
    asked at once, and
    nothing is written there: the API servers try out what was delivered, so that their defaults are
    no drift. Of a Pulumi project the state is asked of the Pulumi CLI unless --state gives it. A
    member that does not answer is an error.

    With --adopt, a change that all members have goes into the object's file, and one that single
    members have into an override of theirs; shows how the files change, and the plan of the changed
    fleet.
    """
    if write and not adopt:
        raise click.UsageError("--write is for --adopt")
    if adopt and output != "text":
        raise click.UsageError("--adopt shows files and a plan: it has no other output than text")
    unmatched = [option for name, option in _OF_PLANS.items() if where[name]]
    if unmatched and not adopt:
        raise click.UsageError(f"{unmatched[0]} is for --adopt")
    # Before the Pulumi CLI is asked for the state, which takes longer.
    _check_there(paths)
    command = with_state(paths, options.command_line(**where))
    # After the state is known: it may be that of another stack.
    command = of_its_stack(paths, command)
    found = compared(
        command.state, kubeconfigs, members=members, only=only, timeout=timeout, watch=watch
    )
    document = drift_document(found)
    if adopt:
        sys.stdout.write(in_form(output, document, partial(drift_view, document)) + "\n")
        # Does not return: it exits with the status of the plan.
        _adopt(
            adoption(found, paths, command),
            write=write,
            strict=strict,
            uncompared=_say_uncompared(document),
        )
    sys.stdout.write(in_form(output, document, partial(drift_view, document)))
    if found.by_hub:
        click.echo(
            f"not asked for: {few(found.by_hub)}, which a hub looks after: fleet status --hub",
            err=True,
        )
    if _say_uncompared(document):
        sys.exit(ExitStatus.ERROR)
    if strict and document.drifted:
        click.echo("refused by --strict: somebody has changed what was delivered", err=True)
        sys.exit(ExitStatus.REFUSED)
    sys.exit(ExitStatus.CHANGES if detailed and document.drifted else ExitStatus.FINE)


_OF_PLANS = {
    **{name: flag.name for name, (_, flag) in FLAGS.items()},
    "returned": "--returned",
}
"""Options that say how a plan is made: only the adoption of drift makes one."""


def _check_there(paths: Iterable[Path]) -> None:
    """Check that the source is there, though it counts for an adoption alone.

    Raises:
        FleetError: something is not.
    """
    problems = []
    for path in paths:
        try:
            path.stat()
        except OSError as error:
            problems.append(unreadable(path, error))
    if problems:
        raise FleetError(problems)


def _adopt(adopted: Adoption, *, write: bool, strict: bool, uncompared: bool) -> None:
    """Show and write the files, and exit with the status of the plan, or as an error if something
    is not known.
    """
    try:
        edits.end(
            adopted.edits,
            adopted.survey,
            adoption_view(adopted),
            write=write,
            strict=strict,
        )
    # An object that could not be compared is an error, whatever the plan says.
    except SystemExit:
        if uncompared:
            sys.exit(ExitStatus.ERROR)
        raise


def _say_uncompared(document: DriftDocument) -> bool:
    """Print on standard error how much could not be compared; return whether there is anything."""
    totals = document.totals
    if totals.uncompared:
        click.echo(
            f"error: {totals.uncompared} of {totals.objects} objects could not be compared",
            err=True,
        )
    return bool(totals.uncompared)
