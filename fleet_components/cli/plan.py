"""The command ``fleet plan``: shows what would happen to each cluster, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus, epilogue, status_of
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.wire import to_json, to_yaml
from fleet_components.review.planning.survey import survey
from fleet_components.review.rendering.saved import save
from fleet_components.review.showing.console import shown
from fleet_components.review.showing.markdown import to_markdown
from fleet_components.review.showing.table import plan_table


@click.command(epilog=epilogue())
@options.PATHS
@options.where
@options.CONFIG
@options.output("table", "json", "yaml", "markdown")
@options.endings()
@click.option(
    "--save-state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what the state would be after this plan, without secrets and with made-up IDs, for --state of a plan "
    "of what comes next. Not where the plan is refused. A program is run twice.",
)
@click.option("--diff", is_flag=True, help="Show the old and the new value of every field that changes.")
def plan(
    paths: tuple[Path, ...],
    output: str,
    save_state: Path | None,
    diff: bool,
    strict: bool,
    detailed: bool,
    **where: Any,
) -> None:
    """Show what would happen to each cluster, and why.

    DIR holds members, policies and manifests as YAML; several files and directories make one fleet. A Helm chart or
    a kustomization stands for what helm or kustomize makes of it, - for standard input: see docs/sources.md. A
    Pulumi project is planned with --project or --stack: its program is run here, without the Pulumi CLI and without
    touching a cluster, and what `pulumi preview` would do is shown too.
    """
    surveyed = survey(paths, options.command_line(**where))
    document = plan_document(surveyed)
    if save_state and status_of(document, strict=strict) is not ExitStatus.REFUSED:
        save(save_state, surveyed.after())
    match output:
        case "json":
            text = to_json(document)
        case "yaml":
            text = to_yaml(document)
        case "markdown":
            text = to_markdown(document, diff=diff)
        case _:
            text = shown(lambda console: plan_table(console, document, diff=diff))
    sys.stdout.write(text)
    options.say_refused(surveyed.refused, shown=output in ("table", "markdown"))
    options.end(document, strict=strict, detailed=detailed)
