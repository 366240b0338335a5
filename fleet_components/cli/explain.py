"""``fleet explain``: why each member is in a placement, or is not."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from fleet_components.cli import options
from fleet_components.cli.console import shown
from fleet_components.cli.explained import print_explanation
from fleet_components.cli.explanation import explanation
from fleet_components.cli.survey import survey
from fleet_components.cli.templates import chosen_templates, template_document
from fleet_components.cli.wire import to_json, to_yaml


@click.command
@click.argument("path", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("placement", required=False)
@click.argument("member", required=False)
@options.where
@options.output("tree", "json", "yaml")
def explain(
    path: Path,
    placement: str | None,
    member: str | None,
    state: Path | None,
    stack: str | None,
    as_of: datetime | None,
    output: str,
) -> None:
    """Show why each member of a fleet is in a placement, or is not.

    Without PLACEMENT every placement is shown, a line a member; with it every plug-in's verdict and score, and what
    would let a member pass. MEMBER shows that one alone.
    """
    planned = survey([path], stack, options.past_of(state), as_of).planned
    if templates := chosen_templates(planned.templates, placement):
        documents = list(map(template_document, templates))
        document = {"templates": documents} if placement else {**explanation(planned), "templates": documents}
    else:
        document = explanation(planned, placement, member)
    match output:
        case "json":
            text = to_json(document)
        case "yaml":
            text = to_yaml(document)
        case _:
            text = shown(lambda console: print_explanation(console, document, short=placement is None))
    sys.stdout.write(text)
