"""The command ``fleet simulate``: shows what a change would do that nobody has written yet, or each
loss in turn.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus
from fleet_components.cli.help import Command
from fleet_components.cli.progress import watch
from fleet_components.cli.review_output import Shown, put, reviewing, show
from fleet_components.cli.supposing import supposing
from fleet_components.model.text import count
from fleet_components.review.documents.form import View
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.sweep import SweepDocument, sweep_document
from fleet_components.review.planning.simulation import Simulation
from fleet_components.review.planning.simulation import simulate as simulated
from fleet_components.review.planning.supposition import Supposition
from fleet_components.review.planning.sweep import Sweep
from fleet_components.review.showing.forms import in_form
from fleet_components.review.showing.sweep import sweep_view


def _once(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> str | None:
    """Return the only value of an option that counts once; several are a usage error."""
    if len(given) > 1:
        raise click.BadParameter(
            f"{', '.join(given)} is more than one: a sweep loses one kind of thing", ctx, param
        )
    return next(iter(given), None)


@click.command(
    cls=Command,
    examples={
        "a region is lost": "fleet simulate fleet/ --lose region=us",
        "a new member in a region of its own": (
            "fleet simulate fleet/ --add north:like=east,region=no"
        ),
        "an edited policy, and eight more CPUs": (
            "fleet simulate fleet/ --policy edited.yaml --set 'ea*:capacity.cpu=+8'"
        ),
        "each member is lost in turn": "fleet simulate fleet/ --state state.json --sweep member",
    },
)
@options.PATHS
@supposing
@click.option(
    "--sweep",
    multiple=True,
    callback=_once,
    metavar="region|member|LABEL",
    help=(
        "Lose each region, each member, or the members of each value of a label in turn, each after"
        " what is supposed besides, and show which placements would be short."
    ),
)
@options.where
@reviewing
def simulate(
    paths: tuple[Path, ...],
    suppositions: Sequence[Supposition],
    sweep: str | None,
    asked: Shown,
    **where: Any,
) -> None:
    """Show what would happen if: a member or region lost, added or changed, a policy edited,
    several at once.

    Nothing is written, and no cluster is asked. What is decided now is the --state; without one,
    the plan of the fleet as it is counts as carried out. DIR may be a Pulumi project whose
    fleet:source names a directory.

    MEMBER is a name, a pattern as 'eu-*', or LABEL=VALUE. What would be refused ends with 3 and
    shows its token, as `fleet plan` does; a loss that is supposed is never refused itself.
    """
    if not suppositions and sweep is None:
        raise click.UsageError(
            "say what is supposed: --lose, --add, --set, --policy, or --sweep region"
        )
    if sweep is not None and (asked.diff or asked.view != View()):
        raise click.UsageError(
            "--all, --only, --member and --diff show parts of one plan, and --sweep makes many"
        )
    found = simulated(paths, options.command_line(**where), suppositions)
    if sweep is None:
        # Does not return.
        show(found.survey, asked)
    _sweep(found, sweep, asked)


def _sweep(found: Simulation, key: str, asked: Shown) -> NoReturn:
    """Show a sweep, and end with its status; where what is supposed is refused, nothing can come
    after it.
    """
    if found.survey.refused:
        options.say_refused(plan_document(found.survey))
        sys.exit(ExitStatus.REFUSED)
    sweep = Sweep.of(found, key)
    with watch("losing each in turn"):
        losses = list(sweep.losses())
    document = sweep_document(sweep, losses)
    put(asked, lambda form: in_form(form, document, partial(sweep_view, document)))
    sys.exit(_status(document, asked))


def _status(document: SweepDocument, asked: Shown) -> ExitStatus:
    """Return the exit status; with ``--strict``, print the reason for a refusal first."""
    losses = document.losses
    found = [*document.short_already, *(item for each in losses for item in each.short)]
    short = {item.subject for item in found}
    if asked.strict and short:
        click.echo(
            f"refused by --strict: {count(len(short), 'policy')} would not be fulfilled", err=True
        )
        return ExitStatus.REFUSED
    if any(loss.refused for loss in losses):
        return ExitStatus.REFUSED
    return (
        ExitStatus.CHANGES
        if asked.detailed and any(loss.moved for loss in losses)
        else ExitStatus.FINE
    )
