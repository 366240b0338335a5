"""Approvals in a terminal: what they let happen."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import visible
from fleet_components.review.planning.approve import Approval
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import single_line

_ON_HUB = "{0}: the hub asks for it by a request of its own: fleet approve --hub KUBECONFIG {0} --write gives it there"


def print_approval(console: Console, approval: Approval) -> None:
    """Print the approvals that were given before, and what moves."""
    for asked in approval.given:
        if asked.given:
            print_indented(console, Text(visible(f"{asked.name} {asked.words}")), 0)
    for line in approval.moves:
        print_indented(console, Text(single_line(visible(line))), 0)
    if approval.survey.observed:
        for asked in approval.given:
            print_indented(console, Text(visible(_ON_HUB.format(asked.name))), 0)
    console.print()
