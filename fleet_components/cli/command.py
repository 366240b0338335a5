"""The command line: ``fleet plan``, ``fleet explain``, ``fleet render``."""

from __future__ import annotations

from typing import Any

import click

from fleet_components.cli.explain import explain
from fleet_components.cli.plan import plan
from fleet_components.cli.render import render
from fleet_components.cli.showing.words import confirming
from fleet_components.model.problem import FleetError, Problem, show_path

_MOST = 50
"""As many problems are shown at once."""


class _Commands(click.Group):
    """Says what is wrong with the input, a problem a line with its hint below, and ends with status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except FleetError as error:
            for problem in error.problems[:_MOST]:
                click.echo(_shown(problem), err=True)
            if more := len(error.problems[_MOST:]):
                click.echo(f"and {more} more errors", err=True)
            if line := confirming(problem.hint for problem in error.problems):
                click.echo(line, err=True)
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="fleet-components", prog_name="fleet")
def fleet() -> None:
    """Decide which cluster of a fleet gets what, and see it before it happens."""


def _shown(problem: Problem) -> str:
    where = f"{problem.file}:{problem.line}" if problem.line is not None else problem.file
    parts = [part for part in (where, problem.subject, show_path(problem.path), problem.what) if part]
    return f"error: {': '.join(parts)}" + (f"\n  hint: {problem.hint}" if problem.hint else "")


fleet.add_command(plan)
fleet.add_command(explain)
fleet.add_command(render)
