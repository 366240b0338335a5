"""The arguments and options that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from fleet_components.cli.exit_status import status_of, strictly
from fleet_components.model.member_cluster import read_time
from fleet_components.model.problem import FleetError
from fleet_components.review.documents.form import Document
from fleet_components.review.planning.past import StateFile, parse_state, read_state
from fleet_components.review.planning.survey import STANDARD_INPUT, Survey, Told
from fleet_components.review.showing import words

F = TypeVar("F", bound=Callable[..., Any])


class _Time(click.ParamType[datetime]):
    """An RFC 3339 time with a zone."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read it; wrong usage when it is none."""
        try:
            time = value if isinstance(value, datetime) else read_time(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        assert time is not None
        return time


PATHS = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")


def where(command: F) -> F:
    """``--state``, ``--stack``, and what a plan is told besides; :func:`told` takes them."""
    options = (
        click.option(
            "--state",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="What was decided before: the output of `pulumi stack export`, or the state.json of a render; "
            "- reads standard input.",
        ),
        click.option(
            "--stack",
            metavar="NAME",
            help="The stack of a Pulumi project, needed when there are several. A directory of YAML is planned as "
            "the stack of that name, local by default: objects are stamped with it, and ties between members fall "
            "by it.",
        ),
        click.option("--any-state", is_flag=True, help="Take a state of another project or stack."),
        click.option(
            "--confirm", multiple=True, metavar="TOKEN", help="Allow a refused loss, as fleet:confirm does; repeatable."
        ),
        click.option(
            "--approve",
            multiple=True,
            metavar="NAME",
            help="An approval of a staged update, RUN-before-STAGE or RUN-after-STAGE, as fleet:approvals gives it; "
            "repeatable.",
        ),
        click.option("--lost", multiple=True, metavar="MEMBER", help="A member that is gone for good; repeatable."),
        click.option(
            "--returned", multiple=True, metavar="MEMBER", help="A member that was lost and is back; repeatable."
        ),
        click.option(
            "--pass-over",
            multiple=True,
            metavar="KIND",
            help="A kind that steers a hub and is not carried out: leave its objects out, as fleet:passOver does; "
            "repeatable.",
        ),
        click.option("--as-of", type=_Time(), help="The time at which observed members and waits are judged."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def output(*forms: str) -> Callable[[F], F]:
    """``-o``, the first form being the default."""
    return click.option("-o", "--output", type=click.Choice(forms), default=forms[0], show_default=True)


def endings(*, detailed: bool = True) -> Callable[[F], F]:
    """``--strict`` and ``--detailed-exitcode``, which :func:`end` takes; and the table of exit statuses in the help."""

    def decorated(command: F) -> F:
        if detailed:
            flag = "--detailed-exitcode"
            command = click.option(flag, "detailed", is_flag=True, help="End with status 2 where there are changes.")(
                command
            )
        text = "Refuse a plan with an unfulfilled policy or a warning: end with status 3."
        return click.option("--strict", is_flag=True, help=text)(command)

    return decorated


def told(
    state: Path | None,
    stack: str | None,
    as_of: datetime | None,
    confirm: tuple[str, ...],
    approve: tuple[str, ...],
    lost: tuple[str, ...],
    returned: tuple[str, ...],
    pass_over: tuple[str, ...],
    any_state: bool,
) -> Told:
    """What the options of :func:`where` say."""
    return Told(
        state=state_of(state),
        stack=stack,
        as_of=as_of,
        confirm=frozenset(confirm),
        approve=frozenset(approve),
        lost=frozenset(lost),
        returned=frozenset(returned),
        pass_over=frozenset(pass_over),
        any_state=any_state,
    )


def state_of(state: Path | None) -> StateFile:
    """What ``--state`` holds, or why it cannot be read; nothing for a new fleet."""
    if state is None:
        return StateFile()
    try:
        return parse_state(sys.stdin.buffer.read(), STANDARD_INPUT) if str(state) == "-" else read_state(state)
    except FleetError as error:
        return StateFile(str(state)).unread(error.problems)


def say_refused(surveyed: Survey, *, told: bool = False) -> None:
    """Say on standard error why the update is refused.

    Standard output may be a file or a pipe, and a refusal must not go unseen; nor is it said twice in one place.

    Args:
        surveyed: what was planned.
        told: standard output has told a reader of it already.
    """
    for problem in () if told and _one_place() else surveyed.refused:
        click.echo(f"refused: {problem}", err=True)


def say_warnings(document: Document) -> None:
    """Say on standard error what is not as it was asked for, and what may surprise."""
    for name, text in words.warnings(document):
        click.echo(f"warning: {f'{name}: ' if name else ''}{words.one_line(text)}", err=True)


def end(document: Document, *, strict: bool, detailed: bool = False) -> None:
    """End the command with its status."""
    if strict and (why := strictly(document)):
        click.echo(why, err=True)
    sys.exit(status_of(document, strict=strict, detailed=detailed))


def _one_place() -> bool:
    """Whether standard output and standard error go to one terminal, or to one log."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except OSError:
        return False
