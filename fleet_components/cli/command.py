"""The command group ``fleet`` with its commands, in the order of their use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import attrs
import click
from click.shell_completion import CompletionItem

from fleet_components.cli.exit_status import MEANINGS, ExitStatus
from fleet_components.cli.help import HelpContext
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import Vocabulary, count, visible
from fleet_components.review.showing.words import confirming

GROUPS = {
    "Know before you merge": {
        "init": "Write a fleet to begin with, and the workflow that reviews it",
        "observe": "Read a hub that you have into a directory to plan with",
        "plan": "Show what would happen to each cluster, and why",
        "review": "Show what a pull request would do to each cluster",
        "simulate": "Show what a loss or any other change would do",
        "explain": "Show why each member is in a placement, or is not",
        "render": "Write the manifests of each member",
    },
    "Roll out and look after": {
        "rollout": "Update a stack until everything is rolled out",
        "move": "Move objects between direct delivery and a hub, and delete none",
        "status": "Show what stands on each cluster, and what went wrong",
        "drift": "Show what somebody has changed by hand on the clusters",
        "drain": "Move the work off a member by a pull request",
        "approve": "Give approvals of staged updates by a pull request",
        "rollback": "Take a placement back to a revision by a pull request",
    },
    "Besides": {
        "comment": "Post a review as the one comment of its pull request",
        "completion": "Print the script that completes fleet in a shell",
    },
}
"""The commands with a line each, in the order of their use; each is the function of its name in the
module of its name.
"""
COMMANDS = tuple(name for group in GROUPS.values() for name in group)
MOST_SHOWN = 50
"""Largest number of problems that are shown."""
# Least similarity, from 0 to 1, at which a command was probably meant.
_ALIKE = 0.6


class _Commands(click.Group):
    """A command group that prints problems of the input, one a line with its hint below, and exits
    with status 1.

    Wrong usage exits with 1 as well, not with click's own 2. Only the command that is run is
    loaded.
    """

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if no command has that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            import_module(f"fleet_components.cli.{cmd_name}"), cmd_name
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first argument, and say which one was probably meant if there is
        none.
        """
        name = args[0]
        # While a line is completed, a name may still be incomplete.
        if name in COMMANDS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        meant = Vocabulary(COMMANDS).near(name, _ALIKE)
        what = f"there is no command {visible(name)}"
        raise click.UsageError(f"{what}; did you mean {meant}?" if meant else what, ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the commands that begin so, or the options; no command is loaded for that."""
        if ctx.args or getattr(ctx, "_protected_args", []):
            return []  # behind a command that there is not
        lines = {name: line for group in GROUPS.values() for name, line in group.items()}
        found = [
            CompletionItem(name, help=line)
            for name, line in lines.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in groups; none is loaded for that."""
        widest = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), line) for name, line in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit statuses of all commands."""
        with formatter.section("Exit status"):
            formatter.write_dl(
                [(str(int(status)), meaning) for status, meaning in MEANINGS.items()]
            )

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
            more = len(error.problems[MOST_SHOWN:])
            if more:
                click.echo(f"and {count(more, 'more error')}", err=True)
            # Several tokens in one line to be copied, instead of one in each hint.
            line = confirming(error.problems)
            if line:
                click.echo(line, err=True)
            ctx.exit(ExitStatus.ERROR)
        # A very large input may need more than there is, and a traceback would not help.
        except MemoryError:
            click.echo(
                "error: there is not enough memory\n  hint: give less at once, or a machine with"
                " more",
                err=True,
            )
            ctx.exit(ExitStatus.ERROR)
        except KeyboardInterrupt:
            click.echo("error: interrupted", err=True)
            ctx.exit(ExitStatus.ERROR)


@contextmanager
def _ending_with_1() -> Iterator[None]:
    try:
        yield
    except click.UsageError as wrong:
        # click's 2 would say that there are changes.
        wrong.exit_code = ExitStatus.ERROR  # type: ignore[misc]
        raise


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fleet-components", prog_name="fleet")
def fleet() -> None:
    """Decide which cluster of a fleet gets what, and see it before it happens."""


def _shown(problem: Problem) -> str:
    hint = f"\n  hint: {visible(problem.hint)}" if problem.hint else ""
    return f"error: {attrs.evolve(problem, hint='')}{hint}"
