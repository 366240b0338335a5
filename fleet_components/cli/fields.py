"""The command ``fleet fields``: shows which fields are not carried out, and why."""

from __future__ import annotations

import sys

import click

from fleet_components.cli import options
from fleet_components.cli.help import Command
from fleet_components.content.wire import to_json
from fleet_components.review.documents.deliveries import deliveries_document
from fleet_components.review.documents.fields import fields_document
from fleet_components.review.documents.wire import as_data
from fleet_components.review.showing.fields import (
    deliveries_markdown,
    deliveries_view,
    fields_markdown,
    fields_view,
)
from fleet_components.review.showing.terminal import printed


@click.command(
    cls=Command,
    examples={
        "every kind": "fleet fields",
        "one kind": "fleet fields ClusterResourcePlacement",
        "what every delivery does with a field": "fleet fields PropagationPolicy --deliveries",
        "for a program": "fleet fields -o json",
    },
)
@click.argument("kind", required=False)
@click.option(
    "--deliveries",
    is_flag=True,
    help=(
        "Show what each delivery does with the fields of policies: direct, through a hub, and by"
        " Argo CD and Flux."
    ),
)
@options.output("table", "markdown", "json")
def fields(kind: str | None, deliveries: bool, output: str) -> None:
    """Show which fields of policies and members are not carried out, and why; of KIND alone where
    one is given.

    What is refused stops a plan, with file and line; what has no effect is a warning; what is not
    needed passes in silence. All other fields are carried out.
    """
    if deliveries:
        of_deliveries = deliveries_document(kind)
        data, view = as_data(of_deliveries), deliveries_view(of_deliveries)
        page = deliveries_markdown(of_deliveries, whole=kind is None)
    else:
        document = fields_document(kind)
        data, view, page = as_data(document), fields_view(document), fields_markdown(document)
    match output:
        case "json":
            text = to_json(data)
        case "markdown":
            text = page
        case _:
            text = printed(view)
    sys.stdout.write(text)
