"""The command group ``fleet`` with its commands, from ``plan`` to ``fields``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import click

from fleet_components.cli.approve import approve
from fleet_components.cli.comment import comment
from fleet_components.cli.drain import drain
from fleet_components.cli.drift import drift
from fleet_components.cli.exit_status import ExitStatus, epilogue
from fleet_components.cli.explain import explain
from fleet_components.cli.fields import fields
from fleet_components.cli.init import init
from fleet_components.cli.plan import plan
from fleet_components.cli.render import render
from fleet_components.cli.review import review
from fleet_components.cli.rollback import rollback
from fleet_components.cli.rollout import rollout
from fleet_components.cli.status import status
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, visible
from fleet_components.review.showing.words import confirming

MOST_SHOWN = 50
"""Largest number of problems that are shown."""


class _Commands(click.Group):
    """A command group that prints problems of the input, one a line with its hint below, and exits with status 1.

    Wrong usage exits with 1 as well, not with click's own 2.
    """

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


fleet.add_command(init)
fleet.add_command(plan)
fleet.add_command(review)
fleet.add_command(explain)
fleet.add_command(render)
fleet.add_command(rollout)
fleet.add_command(status)
fleet.add_command(drain)
fleet.add_command(drift)
fleet.add_command(approve)
fleet.add_command(rollback)
fleet.add_command(comment)
fleet.add_command(fields)
