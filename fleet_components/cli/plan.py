"""The command ``fleet plan``: shows what would happen to each cluster, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fleet_components.cli import options
from fleet_components.cli.help import Command
from fleet_components.cli.review_output import Shown, reviewing, show
from fleet_components.review.planning.survey import survey


@click.command(
    cls=Command,
    examples={
        "what changes, most important first": "fleet plan fleet/",
        "on top of what stands, with the differences whole": "fleet plan fleet/ --state state.json --diff",
        "a Pulumi project: its program is run, without the Pulumi CLI": "fleet plan . --stack prod",
        "in a pipeline: Markdown and JSON, and status 2 for changes": (
            "fleet plan fleet/ -o markdown --also json=plan.json --detailed-exitcode"
        ),
    },
)
@options.PATHS
@options.where
@options.CONFIG
@click.option(
    "--save-state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what the state would be after this plan, without secrets and with made-up IDs, for --state of a plan "
    "of what comes next. Not where the plan is refused. A program is run twice.",
)
@reviewing
def plan(
    paths: tuple[Path, ...],
    save_state: Path | None,
    asked: Shown,
    **where: Any,
) -> None:
    """Show what would happen to each cluster, and why.

    DIR holds members, policies and manifests as YAML; several files and directories make one fleet. A Helm chart or
    a kustomization stands for what helm or kustomize makes of it, - for standard input: see docs/sources.md. A
    Pulumi project is planned with --project or --stack: its program is run here, without the Pulumi CLI and without
    touching a cluster, and what `pulumi preview` would do is shown too.
    """
    show(survey(paths, options.command_line(**where)), asked, save_state)
