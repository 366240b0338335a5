"""The command ``fleet move``: moves what stands to another way of delivery, step by step, and
deletes none of it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus
from fleet_components.cli.help import Command
from fleet_components.cli.names import placements as completed
from fleet_components.cli.progress import watch
from fleet_components.cli.stack import needing_pulumi
from fleet_components.content.observed import is_observed
from fleet_components.model.message import Message
from fleet_components.model.text import count, visible
from fleet_components.plan.transfer import MoveStep, Standpoint, carry_out, steps, unharmed
from fleet_components.plan.ways import Way
from fleet_components.review.planning.observed import refuse_observed
from fleet_components.review.planning.project import choose_stack, read_project
from fleet_components.review.planning.survey import CommandLine, project_among

_BY_HUB = Message("delivers-already", "which delivers it already")
_INSTEAD = "a stack moves: give the directory of its project"


@click.command(
    cls=Command,
    examples={
        "say all steps, and which are done": "fleet move . --stack prod --to kubefleet",
        "do them one after the other": "fleet move . --stack prod --to kubefleet --yes",
        "one placement, whose annotation asks for it": (
            "fleet move . --stack prod --to direct --placement shop --yes"
        ),
    },
)
@click.argument("project", type=click.Path(path_type=Path), default=".", metavar="[PROJECT]")
@click.option("--stack", metavar="NAME", help="The stack, needed when there are several.")
@click.option(
    "--to",
    required=True,
    type=click.Choice([str(way) for way in Way]),
    help="The way that the objects are to go.",
)
@click.option(
    "--placement",
    "placements",
    multiple=True,
    metavar="NAME",
    shell_complete=completed,
    help=(
        "Move this placement or template alone, whose annotation fleet-components/delivery asks for"
        " it; repeatable. Without it the configuration of the stack is set, and all that it decides"
        " about moves."
    ),
)
@click.option(
    "--hub",
    "hub_file",
    type=click.Path(path_type=Path),
    metavar="KUBECONFIG",
    help="The kubeconfig with which the hub is asked and told; that of the stack by default.",
)
@options.reaching
@click.option("--yes", is_flag=True, help="Do the steps without asking.")
def move(
    project: Path,
    stack: str | None,
    to: str,
    placements: tuple[str, ...],
    hub_file: Path | None,
    kubeconfigs: Mapping[str, Path],
    timeout: float,
    yes: bool,
) -> None:
    """Move what stands to another way of delivery, and delete none of it.

    It says each step before it is done, checks after each that the objects on the members are the
    same, by their uids, and stops where something would be deleted. What is done already is read
    from the state, the hub and the members, so that the same command goes on wherever it has
    stopped. Without --yes it says the steps and asks.
    """
    command = CommandLine(stack=stack, project=True, watch=watch)
    if is_observed(project):
        refuse_observed([project], command.state, _BY_HUB, _INSTEAD)
    folder = project_among([project], command) or project
    found = read_project(folder)
    # The file of a stack has no organization in its name.
    name = choose_stack(found, (stack or "").rpartition("/")[2] or None)
    chosen = stack or name
    # Imported here: without the extra, the other commands still work.
    with needing_pulumi():
        from fleet_components.automation.move import StackMove
    mover = StackMove(
        project=found,
        name=name,
        folder=folder,
        command=CommandLine(stack=chosen, project=True),
        to=to,
        placements=frozenset(placements),
        hub_file=hub_file,
        given=kubeconfigs,
        timeout=max(timeout, 10.0),
        say=_line,
    )
    now = mover.look()
    # Before the first step too: an object that is being deleted must not move.
    unharmed(now.objects, now)
    _show(now, mover.moving())
    if all(step.done for step in steps(now)):
        click.echo("nothing is left to do")
        return
    again = f"fleet move {shlex.quote(str(project))} --stack {chosen} --to {to}"
    if not yes and not sys.stdin.isatty():
        _line(f"nothing was done; {again} --yes does it")
        return
    if not (yes or click.confirm("Begin?")):
        sys.exit(ExitStatus.ERROR)
    done = carry_out(mover, _say)
    click.echo(
        f"moved: {count(len(done.objects), 'object')} on members, each with the uid that it had"
    )


def _show(now: Standpoint, moving: Iterable[str]) -> None:
    _line(f"to move: {', '.join(moving)}")
    for (member, key), seen in sorted(now.objects.items()):
        _line(f"  stays on {member}: {key}, uid {seen.uid}")
    for number, step in enumerate(steps(now), 1):
        _line(f"{number}. {step.deed}: {step.what}")
        _line(f"   {'done' if step.done else 'to do; done when'}: {step.how}")


def _say(step: MoveStep) -> None:
    _line(f"{step.deed}: {step.what}")


def _line(text: str) -> None:
    """Print a line, of which nothing commands a terminal or a CI system."""
    click.echo(visible(text))
