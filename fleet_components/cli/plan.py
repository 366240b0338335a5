"""The command ``fleet plan``: shows what would happen to each cluster, and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fleet_components.cli import options
from fleet_components.cli.help import Command
from fleet_components.cli.progress import watch
from fleet_components.cli.review_output import Shown, reviewing, show
from fleet_components.review.planning.survey import survey


@click.command(
    cls=Command,
    examples={
        "what changes, most important first": "fleet plan fleet/",
        "a Pulumi project: its program is run, without the Pulumi CLI": "fleet plan . --stack prod",
        "on top of what stands, with the members that do not answer": (
            "fleet plan fleet/ --state state.json --live"
        ),
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
    help=(
        "Write what the state would be after this plan, without secrets and with made-up IDs, for"
        " --state of a plan of what comes next. Not where the plan is refused. A program is run"
        " twice."
    ),
)
@click.option(
    "--live",
    is_flag=True,
    help=(
        "Ask the members of the state whether they answer, and which clusters they are, as `pulumi"
        " preview` does. A silent one is a warning, with the wave in which the update breaks there;"
        " another cluster than before is refused."
    ),
)
@options.reaching
@reviewing
def plan(
    paths: tuple[Path, ...],
    save_state: Path | None,
    live: bool,
    kubeconfigs: Mapping[str, Path],
    timeout: float,
    asked: Shown,
    **where: Any,
) -> None:
    """Show what would happen to each cluster, and why.

    DIR holds members, policies and manifests as YAML; several files and directories make one fleet.
    A Helm chart or a kustomization stands for what helm or kustomize makes of it, - for standard
    input: see docs/sources.md. A Pulumi project is planned with --project or --stack: its program
    is run here, without the Pulumi CLI and without touching a cluster, and what `pulumi preview`
    would do is shown too.
    """
    if kubeconfigs and not live:
        raise click.UsageError("--kubeconfig is for --live")
    command = options.command_line(**where)
    found = survey(paths, command)
    if live:
        # Imported here, so that a plan of files loads no client of API servers.
        from fleet_components.review.planning.asked import answering

        found = answering(found, command.state.state, kubeconfigs, timeout, watch)
    show(found, asked, save_state)
