"""How a component refuses its arguments: all problems at once, and no traceback under them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pulumi

from fleet_components.model.problem import FleetError, Problem


class RefusedError(FleetError, pulumi.RunError):
    """Input that cannot be worked with. Pulumi prints its text alone, without a traceback."""


def refuse(problems: Iterable[Problem], subject: str) -> None:
    """Stop the program if there are problems; ``subject`` names what they are in.

    Raises:
        RefusedError: there is at least one.
    """
    found = [Problem(p.what, p.path, p.hint, subject, p.file, p.line) for p in problems]
    if found:
        raise RefusedError(found)


@contextmanager
def refusing() -> Iterator[None]:
    """Turns what a reader refuses into a refusal of the component.

    Raises:
        RefusedError: the reader raised a ``FleetError``.
    """
    try:
        yield
    except FleetError as error:
        raise RefusedError(error.problems) from None
