"""The command ``fleet rollout``: updates a stack again and again until everything is rolled out."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from functools import partial
from pathlib import Path

import attrs
import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus, status_of, strictly
from fleet_components.cli.help import Command
from fleet_components.cli.stack import needing_pulumi
from fleet_components.content.observed import is_observed
from fleet_components.content.wire import to_json
from fleet_components.model.message import Message
from fleet_components.model.text import indented, visible
from fleet_components.review.documents.schema import PlanDocument
from fleet_components.review.documents.statuses import StatusesDocument
from fleet_components.review.planning.observed import refuse_observed
from fleet_components.review.planning.project import choose_stack, read_project
from fleet_components.review.planning.survey import CommandLine, project_among
from fleet_components.review.showing.plan import plan_view
from fleet_components.review.showing.statuses import stories
from fleet_components.review.showing.terminal import printed

_MOST_UPDATES = 100
_BY_HUB = Message("rolls-out-itself", "which rolls out itself")
_INSTEAD = "apply the files to the hub; fleet plan shows what it will do"


@click.command(
    cls=Command,
    examples={
        "show the plan, ask, and update until all is rolled out": "fleet rollout . --stack prod",
        "in a pipeline: nobody is asked, and the outcome is JSON": (
            "fleet rollout . --stack prod --yes -o json"
        ),
        "go past waits that are longer than fleet:maxWait": (
            "fleet rollout . --stack prod --yes --wait"
        ),
    },
)
@click.argument("project", type=click.Path(path_type=Path), default=".", metavar="[PROJECT]")
@click.option("--stack", metavar="NAME", help="The stack, needed when there are several.")
@click.option("--yes", is_flag=True, help="Begin without asking.")
@click.option(
    "--wait",
    is_flag=True,
    help=(
        "Wait for the end of waits that are longer than fleet:maxWait. Plans and updates are then"
        " made as of the time of the clock, which observed members are judged by too."
    ),
)
@click.option(
    "--as-of", type=options.TIME, help="The time of plans and updates, in the place of fleet:asOf."
)
@click.option(
    "--updates",
    type=click.IntRange(min=1),
    default=_MOST_UPDATES,
    show_default=True,
    metavar="NUMBER",
    help="The most updates to run.",
)
@options.output("text", "json")
@options.endings()
def rollout(
    project: Path,
    stack: str | None,
    yes: bool,
    wait: bool,
    as_of: datetime | None,
    updates: int,
    output: str,
    strict: bool,
    detailed: bool,
) -> None:
    """Update a stack again and again, until everything is rolled out.

    One update often cannot do it all: a member has to be left before another one joins, or a later
    stage waits. This plans, updates through the Pulumi CLI, and plans again, until an update has
    nothing to do. PROJECT is a Pulumi project, the current directory by default; the first plan is
    shown, and asked about.

    It never goes past an approval: it stops and says which one is needed. Ctrl-C stops an update as
    it stops `pulumi
    up`: what has begun on a member is finished; a second one ends it at once. What is done is
    remembered in the stack alone, so that the same command goes on.
    """
    if wait and as_of:
        raise click.UsageError("--wait and --as-of exclude each other")
    quiet = output == "json"
    # -o json has no place for a question.
    if not yes and (quiet or not sys.stdin.isatty()):
        raise click.UsageError(
            "nobody can be asked here whether to begin: --yes begins without asking"
        )
    command = CommandLine(stack=stack, as_of=as_of, project=True)
    if is_observed(project):
        refuse_observed([project], command.state, _BY_HUB, _INSTEAD)
    # With ``project=True`` a directory without a project is refused, so None does not occur.
    folder = project_among([project], command) or project
    found = read_project(folder)
    name = choose_stack(found, (stack or "").rpartition("/")[2] or None)
    # As it was given, perhaps with its organization: the Pulumi CLI takes that.
    chosen = stack or name
    with needing_pulumi():
        from fleet_components.automation.rollout import StackRollout
    rolling = StackRollout(
        project=found,
        config=found.stack_file(name),
        folder=folder,
        command=attrs.evolve(command, stack=chosen),
        agreed=partial(_agreed, yes=yes, quiet=quiet),
        refuses=lambda document: status_of(document, strict=strict) is ExitStatus.REFUSED,
        quiet=quiet,
        most=updates,
        waits=wait,
        again=f"fleet rollout {shlex.quote(str(project))} --stack {chosen}",
    )
    result = rolling.run()
    if result.ending == "refused":
        if not (quiet or result.updates):
            # After an update a plan was shown already, and only the reasons follow.
            _show(result.plan)
        options.say_refused(result.plan, shown=not (quiet or result.updates))
        if strict and (why := strictly(result.plan)):
            click.echo(why, err=True)
    if quiet:
        sys.stdout.write(to_json(result.document()))
    else:
        printed = _tell(rolling.standing())
        for line in result.words(errors=not printed):
            click.echo(indented(visible(line, lines=True)))
    sys.exit(_status(str(result.ending), complete=result.complete, detailed=detailed))


def _agreed(document: PlanDocument, *, yes: bool, quiet: bool) -> bool:
    """Show the first plan, and return whether to carry it out."""
    if not quiet:
        _show(document)
    return yes or click.confirm("Begin?")


def _show(document: PlanDocument) -> None:
    click.echo(printed(plan_view(document).blocks), nl=False)


def _tell(standing: StatusesDocument | None) -> bool:
    """Show what went wrong, where that is known; return whether that shows every error."""
    subjects = standing.subjects if standing else ()
    broken = [trouble for subject in subjects for trouble in subject.broken]
    if standing and broken:
        click.echo(printed(stories(standing)))
    return bool(broken) and all(trouble.words for trouble in broken)


def _status(ending: str, *, complete: bool, detailed: bool) -> ExitStatus:
    if ending == "refused":
        return ExitStatus.REFUSED
    if ending in ("failed", "interrupted", "killed", "declined"):
        return ExitStatus.ERROR
    return ExitStatus.CHANGES if detailed and not complete else ExitStatus.FINE
