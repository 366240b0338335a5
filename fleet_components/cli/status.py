"""The command ``fleet status``: shows what stands on each cluster, and what went wrong."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus
from fleet_components.cli.help import Command
from fleet_components.cli.names import members, placements
from fleet_components.cli.progress import watch
from fleet_components.cli.stack import with_state
from fleet_components.model.problem import FleetError
from fleet_components.review.documents.statuses import api_list, statuses_document
from fleet_components.review.planning.asked import asked, hub_asked
from fleet_components.review.planning.statuses import statuses
from fleet_components.review.showing.forms import in_form
from fleet_components.review.showing.statuses import BY, statuses_view
from fleet_components.status.events import read_events


@click.command(
    cls=Command,
    examples={
        "a Pulumi project: the Pulumi CLI gives its state": "fleet status . --stack prod",
        "what the members themselves say, of each member": (
            "fleet status . --stack prod --live --by member"
        ),
        "a directory, with an exported state": (
            "pulumi stack export --stack prod | fleet status fleet/ --state -"
        ),
    },
)
@options.PATHS
@options.where
@click.option(
    "--events",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "What the last update said, besides the state: the output of `pulumi up --json`, or the"
        " file of `PULUMI_DEBUG_COMMANDS=true pulumi up --event-log FILE`."
    ),
)
@click.option(
    "--live",
    is_flag=True,
    help=(
        "Ask the members what they have, and why a workload is not ready. Nothing is written: what"
        " was never delivered is tried without effect."
    ),
)
@click.option(
    "--hub",
    "hub_file",
    type=click.Path(path_type=Path),
    metavar="KUBECONFIG",
    help=(
        "Ask the hub that carries placements out what it has made of them, and show it beside the"
        " forecast. Without it --live asks the hub of the stack."
    ),
)
@options.reaching
@click.option(
    "--by",
    type=click.Choice(BY),
    help="Show each placement, member or object with all that is known of it.",
)
@click.option(
    "--only",
    metavar="PLACEMENT",
    shell_complete=placements,
    help="Show this placement or template alone.",
)
@click.option("--member", metavar="NAME", shell_complete=members, help="Show this member alone.")
@options.output("text", "json", "yaml", "markdown")
@options.endings(
    changes="not all is applied and available",
    strict="Refuse what is not all applied and available",
)
def status(
    paths: tuple[Path, ...],
    events: Path | None,
    live: bool,
    hub_file: Path | None,
    kubeconfigs: Mapping[str, Path],
    timeout: float,
    by: str | None,
    only: str | None,
    member: str | None,
    output: str,
    strict: bool,
    detailed: bool,
    **where: Any,
) -> None:
    """Show what stands on each cluster, what went wrong, and how to go on.

    It is read from the state of the stack after the last update, a failed or killed one too. DIR is
    its source, as for `fleet plan`, which tells what the next update will do. Of a Pulumi project
    the state is asked of the Pulumi CLI unless --state gives it. JSON and YAML have the statuses in
    the form of the APIs of KubeFleet and Karmada.
    """
    if kubeconfigs and not live:
        raise click.UsageError("--kubeconfig is for --live")
    command, engine_events = options.command_line(**where), None
    try:
        engine_events = read_events(events) if events else None
    except FleetError as error:
        # Reported together with the problems of the plan.
        command = command.wrong(error.problems)
    command = with_state(paths, command)
    members = () if member is None else (member,)
    ask = partial(
        asked,
        state=command.state.state,
        given=kubeconfigs,
        members=members,
        timeout=timeout,
        watch=watch,
    )
    # Without --hub only --live asks: a status from files reaches no cluster.
    hub = hub_asked(command.state.state, hub_file, timeout, watch) if hub_file or live else None
    found = statuses(paths, command, engine_events, ask if live else None, hub)
    document = statuses_document(found, only, member)
    listed = api_list(found, only) if output in ("json", "yaml") else None
    sys.stdout.write(in_form(output, listed, partial(statuses_view, document, by)))
    if strict and not document.settled:
        click.echo("refused by --strict: not everything is applied and available", err=True)
        sys.exit(ExitStatus.REFUSED)
    sys.exit(ExitStatus.CHANGES if detailed and not document.settled else ExitStatus.FINE)
