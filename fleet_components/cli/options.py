"""The arguments and options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from fleet_components.cli.planning.past import Past, parse_past, read_past
from fleet_components.model.member_cluster import read_time

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
    """``--state``, ``--stack`` and ``--as-of``."""
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
        click.option("--as-of", type=_Time(), help="The time at which observed members and waits are judged."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def output(*forms: str) -> Callable[[F], F]:
    """``-o``, the first form being the default."""
    return click.option("-o", "--output", type=click.Choice(forms), default=forms[0], show_default=True)


def past_of(state: Path | None) -> Past:
    """What ``--state`` holds; nothing for a new fleet.

    Raises:
        FleetError: the file cannot be read.
    """
    if state is None:
        return Past()
    if str(state) == "-":
        return parse_past(sys.stdin.buffer.read(), "standard input")
    return read_past(state)
