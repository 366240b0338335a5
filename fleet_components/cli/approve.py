"""The command ``fleet approve``: gives approvals of staged updates, and shows what they let
happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click
from click.core import ParameterSource

from fleet_components.cli import edits, options
from fleet_components.cli.help import Command
from fleet_components.live.approvals import approve_on_hub, hub_approvals
from fleet_components.live.kubeconfig import read_kubeconfig_file
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest, visible
from fleet_components.review.planning import approve as planning
from fleet_components.review.showing.edits import approval_view
from fleet_components.systems.kubefleet.hub.approvals import HubApproval

_SECONDS = 30.0


@click.command(
    cls=Command,
    examples={
        "what is asked for": "fleet approve fleet/ --state state.json",
        "what an approval lets happen": "fleet approve fleet/ go-after-canary --state state.json",
        "the same, and the file is written": (
            "fleet approve fleet/ go-after-canary --state state.json --write"
        ),
        "what the update runs of a hub ask for": "fleet approve --hub ~/.kube/config",
    },
)
@click.argument("given", nargs=-1, metavar="[DIR] [NAME]...")
@options.WITH
@options.where
@options.endings(detailed=False)
@click.option(
    "--hub",
    "hub_file",
    type=click.Path(path_type=Path),
    metavar="KUBECONFIG",
    help=(
        "Give the approvals on the hub that carries the placements out, in the place of a pull"
        " request; without DIR."
    ),
)
@click.option(
    "--write",
    is_flag=True,
    help="Write the files, or approve on the hub; otherwise it is only shown.",
)
@click.pass_context
def approve(
    ctx: click.Context,
    /,
    given: tuple[str, ...],
    others: tuple[Path, ...],
    hub_file: Path | None,
    write: bool,
    strict: bool,
    **where: Any,
) -> None:
    """Give the approvals NAME of staged updates by a pull request; without NAME, list those that
    are asked for.

    A name is RUN-before-STAGE or RUN-after-STAGE, of a run in a namespace
    NAMESPACE/RUN-after-STAGE. Each becomes an approved request in a file beside its run. Shows the
    files, which members of which stage then move to which revision, and the plan with the
    approvals. Give the --state, so that what really stands is looked at. DIR may be a Pulumi
    project whose fleet:source names a directory.

    Through a hub the requests are made there, by KubeFleet, and --hub gives them there. What is
    given cannot be taken
    back: the run goes on at once.
    """
    if hub_file is not None:
        # A hub needs no source and no state: any of those options would have no effect.
        more = [param.opts[0] for param in ctx.command.params if _is_given(ctx, param)]
        if more:
            raise click.UsageError(f"--hub asks nothing but the hub: without {more[0]}")
        _on_hub(hub_file, given, write=write)
        return
    if not given:
        raise click.UsageError("missing argument DIR, or --hub KUBECONFIG")
    path, *names = given
    paths, command = [Path(path), *others], options.command_line(**where)
    if not names:
        found = planning.asked(paths, command)
        for asked in found:
            click.echo(
                f"{asked.name}: {asked.words} ({asked.decided.name}, stage {asked.stage.name})"
            )
        if not found:
            click.echo("no approval is asked for")
        return
    approval = planning.approve(names, paths, command)
    lines = approval.edits, approval.survey
    edits.end(*lines, approval_view(approval), write=write, strict=strict)


def _is_given(ctx: click.Context, param: click.Parameter) -> bool:
    """Return whether an option is on the command line that ``--hub`` does not take."""
    # None is the source of a parameter that click has not processed.
    source = ctx.get_parameter_source(param.name or "")
    default = ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP
    return param.name not in ("given", "hub_file", "write") and source not in (*default, None)


def _on_hub(file: Path, names: Sequence[str], *, write: bool) -> None:
    """List what a hub is asked for, or give approvals there.

    Raises:
        FleetError: nothing waits for one of them, or the hub does not take it. Those before it are
            given.
    """
    try:
        text = read_kubeconfig_file(file, "hub")
    except FleetError as error:
        raise FleetError(
            attrs.evolve(problem, subject="the hub", hint="--hub KUBECONFIG")
            for problem in error.problems
        ) from None
    # A request with a reason cannot be approved, and is kept to say why.
    found = {approval.name: approval for approval in hub_approvals(text, _SECONDS)}
    waiting = [approval for approval in found.values() if not approval.reason]
    if not names:
        for approval in waiting:
            click.echo(visible(f"{approval.name}: {approval.words}: {approval.opens}"))
        if not waiting:
            click.echo("no approval is waited for on the hub")
        return
    problems = [
        _wrong(name, found.get(name), waiting)
        for name in names
        if name not in {w.name for w in waiting}
    ]
    if problems:
        raise FleetError(problems)
    # A name that is given twice is approved once.
    for name in dict.fromkeys(names):
        click.echo(visible(f"{name}: {found[name].words}: {found[name].opens}"))
        if write:
            approve_on_hub(text, found[name], _SECONDS)
            click.echo(visible(f"approved on the hub: {name}"))
    if not write:
        click.echo("not approved, without --write")


def _wrong(name: str, hub_approval: HubApproval | None, waiting: Sequence[HubApproval]) -> Problem:
    """Return why an approval cannot be given."""
    there = f"waited for is: {few([each.name for each in waiting], 20) or 'none'}"
    if hub_approval is not None:
        return Problem(
            Message("not-approvable", "{reason}", reason=hub_approval.reason),
            subject=name,
            hint=there,
        )
    meant = nearest(name, [each.name for each in waiting])
    what = Message(
        "no-update-run-hub", 'no update run of the hub asks for the approval "{name}"', name=name
    )
    return Problem(
        what,
        hint=(
            f"did you mean {meant}? {there}"
            if meant
            else f"{there}; the hub asks once its turn comes"
        ),
    )
