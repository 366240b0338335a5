"""Installed guests: packages whose declarations bring members to a fleet, such as clusters that
they provision.

A guest is a module, registered as an entry point of the group ``fleet_components.guests``. Nothing
here imports one by its name, so that a fleet without any loads none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, Protocol

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.reader import API_VERSION, DECLARATIONS

ENTRY_POINTS = "fleet_components.guests"


class Removals(NamedTuple):
    """Losses of a fleet beside its placements: of what a guest has provisioned for it before.

    Attributes:
        refused: what no token allows.
        allowed: what a token allows, with the token, in words; empty for nothing.
    """

    refused: tuple[Problem, ...] = ()
    allowed: str = ""


class Guest(Protocol):
    """The contract of a guest, for modules and objects alike.

    Attributes:
        KINDS: the kinds of its declarations, of the apiVersion ``fleet-components/v1``.
    """

    KINDS: tuple[str, ...]

    def clusters(
        self, manifests: Iterable[Manifest], subscription: str = ""
    ) -> tuple[Cluster, ...]:
        """Return the members that its declarations among the manifests bring, as the schedulers see
        them.

        Args:
            manifests: the manifests.
            subscription: the subscription of members whose declaration names none; empty if it is
                unknown.

        Raises:
            FleetError: a declaration is wrong; carries all problems, with file and line.
        """

    def problems(self, policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
        """Yield what a policy asks of these members and cannot be told before they exist."""

    def subscription(self, opts: Any) -> str:
        """Return the subscription of what has these options and names none, as the stack is
        configured.

        It is empty if it is unknown before something is provisioned.
        """

    def removals(self, name: str, args: Any, opts: Any) -> Removals:
        """Return what providing for a fleet would delete, before anything is registered; arguments
        as below.

        The declarations are valid: a source with problems is refused before.
        """

    def warnings(self, manifests: Iterable[Manifest], as_of: datetime | None) -> Iterator[Problem]:
        """Yield what has aged by the time of a plan, of its declarations and of what it knows.

        Args:
            manifests: the objects of the fleet, in which no declaration is wrong.
            as_of: the time of the plan; None for now.
        """

    def provision(self, name: str, args: Any, opts: Any) -> Any:
        """Provision the members that are declared, within a Pulumi program.

        Args:
            name: the name of the fleet.
            args: the ``FleetArgs``, whose source holds the declarations.
            opts: ``pulumi.ResourceOptions`` for what is made.

        Returns:
            The ``FleetArgs``, with its members reachable.
        """


@cache
def guests() -> tuple[Guest, ...]:
    """Return the installed guests, in the order of their names."""
    # Imported here, because it takes long and most fleets have no guest.
    from importlib.metadata import (
        entry_points,
    )

    return tuple(
        point.load()
        for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    )


def present(manifests: Iterable[Manifest]) -> tuple[Guest, ...]:
    """Return the guests that have a declaration among the manifests. Without any declaration none
    is looked for.
    """
    kinds = {manifest.kind for manifest in manifests if manifest.api_version == API_VERSION} - {
        *DECLARATIONS
    }
    return tuple(guest for guest in guests() if kinds.intersection(guest.KINDS)) if kinds else ()
