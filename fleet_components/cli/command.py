"""The command group ``fleet`` with its commands, from ``plan`` to ``fields``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import attrs
import click

from fleet_components.cli.exit_status import ExitStatus, epilogue
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, visible
from fleet_components.review.showing.words import confirming

COMMANDS = (
    *("init", "plan", "review", "simulate", "explain", "render", "rollout", "status"),
    *("drain", "drift", "approve", "rollback", "comment", "fields"),
)
"""The commands; each is the function of its name in the module of its name."""
MOST_SHOWN = 50
"""Largest number of problems that are shown."""


class _Commands(click.Group):
    """A command group that prints problems of the input, one a line with its hint below, and exits with status 1.

    Wrong usage exits with 1 as well, not with click's own 2. Only the command that is run is loaded.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"fleet_components.cli.{cmd_name}"), cmd_name)
        return command

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options of the group itself."""
        with _ending_with_1():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and print its problems."""
        try:
            with _ending_with_1():
                return super().invoke(ctx)
        except FleetError as error:
            for problem in error.problems[:MOST_SHOWN]:
                click.echo(_shown(problem), err=True)
            if more := len(error.problems[MOST_SHOWN:]):
                click.echo(f"and {count(more, 'more error')}", err=True)
            if line := confirming(problem.hint for problem in error.problems):
                click.echo(line, err=True)
            ctx.exit(ExitStatus.ERROR)


@contextmanager
def _ending_with_1() -> Iterator[None]:
    try:
        yield
    except click.UsageError as wrong:
        # click's 2 would say that there are changes.
        wrong.exit_code = ExitStatus.ERROR  # type: ignore[misc]
        raise


@click.group(
    cls=_Commands, epilog=epilogue(), context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="fleet-components", prog_name="fleet")
def fleet() -> None:
    """Decide which cluster of a fleet gets what, and see it before it happens."""


def _shown(problem: Problem) -> str:
    hint = f"\n  hint: {visible(problem.hint)}" if problem.hint else ""
    return f"error: {attrs.evolve(problem, hint='')}{hint}"
