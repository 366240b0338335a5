"""The command ``fleet fields``: shows which fields are not carried out, and why."""

from __future__ import annotations

import sys

import click

from fleet_components.cli import options
from fleet_components.cli.help import Command
from fleet_components.content.wire import to_json
from fleet_components.review.documents.fields import fields_document
from fleet_components.review.showing.console import shown
from fleet_components.review.showing.fields import fields_markdown, print_fields


@click.command(
    cls=Command,
    examples={
        "every kind": "fleet fields",
        "one kind": "fleet fields ClusterResourcePlacement",
        "for a program": "fleet fields -o json",
    },
)
@click.argument("kind", required=False)
@options.output("table", "markdown", "json")
def fields(kind: str | None, output: str) -> None:
    """Show which fields of policies and members are not carried out, and why; of KIND alone where one is given.

    What is refused stops a plan, with file and line; what has no effect is a warning; what is not needed passes in
    silence. All other fields are carried out.
    """
    document = fields_document(kind)
    match output:
        case "json":
            text = to_json(document)
        case "markdown":
            text = fields_markdown(document)
        case _:
            text = shown(lambda console: print_fields(console, document))
    sys.stdout.write(text)
