"""Exit status of all commands: one table for the help, for the documentation, and for the commands
themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import IntEnum

from fleet_components.model.text import count
from fleet_components.review.documents.schema import PlanDocument
from fleet_components.review.showing.words import warned


class ExitStatus(IntEnum):
    """Exit status of a command. Errors take precedence over everything else, and refusals over
    changes.
    """

    FINE = 0
    ERROR = 1
    CHANGES = 2
    REFUSED = 3


MEANINGS = {
    ExitStatus.FINE: "fine",
    ExitStatus.ERROR: "an error, wrong use included",
    ExitStatus.CHANGES: "there are changes, only with --detailed-exitcode",
    ExitStatus.REFUSED: "refused, and with --strict unfulfilled or warned",
}
_ONLY_WITH = {ExitStatus.CHANGES: "--detailed-exitcode", ExitStatus.REFUSED: "--strict"}
"""Options without which a command does not have a status."""


def status_of(
    document: PlanDocument, *, detailed: bool = False, strict: bool = False
) -> ExitStatus:
    """Return the exit status of a command that made this plan."""
    if document.refused or (strict and strictly(document)):
        return ExitStatus.REFUSED
    return ExitStatus.CHANGES if detailed and document.changes else ExitStatus.FINE


def strictly(document: PlanDocument) -> str:
    """Return why ``--strict`` refuses a plan; empty if it does not."""
    unfulfilled = len({item.subject for item in document.unfulfilled})
    warnings = warned(document)
    parts = [f"{count(unfulfilled, 'policy')} not fulfilled"] if unfulfilled else []
    parts += [count(warnings, "warning")] if warnings else []
    return f"refused by --strict: {' and '.join(parts)}" if parts else ""


def meanings(options: Collection[str]) -> Mapping[ExitStatus, str]:
    """Return what the exit statuses of a command mean that has these options."""
    return {
        status: meaning
        for status, meaning in MEANINGS.items()
        if _ONLY_WITH.get(status) in (None, *options)
    }
