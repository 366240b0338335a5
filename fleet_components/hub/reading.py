"""Reads a hub: which requests are still to be made, and the observation that their answers amount
to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from fleet_components.hub.listing import FORBIDDEN, GRANT, LATER, Listing, Query
from fleet_components.hub.observation import HubObservation
from fleet_components.model.codec import MisfitError
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, visible
from fleet_components.systems.framework import System

STEERING = (".kubernetes-fleet.io", ".karmada.io")
"""Ends of the groups whose kinds steer a hub, or hold what it remembers."""


def check_essential(listing: Listing) -> None:
    """Check that all was answered that steers a hub: without it, an observation would be wrong and
    not only partial.

    Raises:
        FleetError: something was not.
    """
    # The dot in front also lets a group match that has no part before the suffix.
    lacking = {
        query: why for query, why in listing.refused.items() if f".{query.group}".endswith(STEERING)
    }
    by_reason: dict[str, list[str]] = defaultdict(list)
    for query, why in sorted(lacking.items()):
        by_reason[why].append(f"{query.kind}.{query.group}")
    if by_reason:
        hints = {FORBIDDEN: GRANT}
        raise FleetError(
            Problem(
                Message(
                    "policies-unanswered",
                    "what steers it {why}: {kinds}",
                    why=why,
                    kinds=few(list(dict.fromkeys(kinds))),
                ),
                subject="the hub",
                hint=hints.get(why, LATER),
            )
            for why, kinds in by_reason.items()
        )


def missing(listing: Listing) -> tuple[Query, ...]:
    """Return the requests that are to be made next; empty once the answers are complete.

    Raises:
        FleetError: the answers are not as the system would give them.
    """
    with understood(listing.system):
        return listing.lacking(listing.system.queries(listing))


def read_hub(listing: Listing) -> HubObservation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: the answers are not as the system would give them, or something that steers it
            was not answered.
    """
    check_essential(listing)
    with understood(listing.system):
        return listing.system.observation(listing)


@contextmanager
def understood(system: System) -> Iterator[None]:
    """Convert the errors from reading objects that no API server of the system would have stored
    to an error for users.

    Raises:
        FleetError: the body has raised one of them.
    """
    try:
        yield
    except (AttributeError, KeyError, MisfitError, TypeError, ValueError) as error:
        # No part of a value is shown, since it may be secret.
        # The argument of a KeyError is the name of a field, not a value.
        field = f": {error.args[0]} is missing" if isinstance(error, KeyError) else ""
        what = Message(
            "hub-answers-oddly",
            "answers with an object that is not as {system} has it{field}",
            system=system,
            field=visible(field),
        )
        hint = "is it a version like KubeFleet v0.3.1 or Karmada 1.19, whose objects are read here?"
        raise FleetError([Problem(what, subject="the hub", hint=hint)]) from error
