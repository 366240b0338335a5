"""The command ``fleet explain``: shows why each member is in a placement, or is not."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from fleet_components.cli import names, options
from fleet_components.cli.help import Command
from fleet_components.model.text import count
from fleet_components.review.documents.explanation import explanation
from fleet_components.review.documents.form import View, title_of
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.schema import PlanDocument
from fleet_components.review.planning.survey import survey
from fleet_components.review.showing.explained import explanation_view
from fleet_components.review.showing.forms import in_form
from fleet_components.review.showing.words import is_about


@click.command(
    cls=Command,
    examples={
        "a line for each member and placement": "fleet explain fleet/",
        "every plug-in's verdict on every member for one placement": "fleet explain fleet/ shop",
        "one member, with what is decided already": (
            "fleet explain fleet/ shop east --state state.json"
        ),
    },
)
@click.argument("path", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("placement", required=False, shell_complete=names.placements)
@click.argument("member", required=False, shell_complete=names.members)
@options.WITH
@options.where
@options.CONFIG
@options.output("tree", "json", "yaml")
@options.endings(detailed=False)
def explain(
    path: Path,
    placement: str | None,
    member: str | None,
    others: tuple[Path, ...],
    output: str,
    strict: bool,
    **where: Any,
) -> None:
    """Show why each member of a fleet is in a placement, or is not.

    Without PLACEMENT every placement is shown, a line a member; with it every plug-in's verdict and
    score, and what would change the outcome, each of it tried by deciding again. What Karmada's
    policies place is named NAMESPACE/KIND/NAME. MEMBER shows that one alone.
    """
    surveyed = survey([path, *others], options.command_line(**where))
    planned = plan_document(surveyed)
    options.say_refused(planned)
    document = explanation(surveyed.plans, placement, member)
    view = partial(explanation_view, document, short=placement is None)
    sys.stdout.write(in_form(output, document, view))
    if placement:
        _say_warnings_of(plan_document(surveyed, View(only=(placement,))))
    else:
        options.say_warnings(planned)
    options.say_old(planned)
    options.end(planned, strict=strict)


def _say_warnings_of(document: PlanDocument) -> None:
    """Print on standard error what is warned of about the subject that a document shows, and count
    the rest.

    The explanation says itself what is not fulfilled.
    """
    found = [
        (title_of(item), text)
        for item in document.subjects
        for text in dict.fromkeys(
            [*item.warnings, *(text for text in document.warnings if is_about(item, text))]
        )
    ]
    for name, text in found:
        options.say_warning(name, text)
    more = document.warned - len(found)
    if more:
        click.echo(
            f"{count(more, 'warning')} about the rest of the fleet: fleet plan shows them", err=True
        )
