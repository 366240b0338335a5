"""Azure as a guest of the planner: which kinds it declares, and what becomes of them. Loads no SDK."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fleet_components.azure.declarations import HUB, MEMBERS
from fleet_components.azure.declarations.members import declared_clusters
from fleet_components.azure.declarations.together import disagreements
from fleet_components.azure.declarations.unobserved import unobserved
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem

if TYPE_CHECKING:
    import pulumi

    from fleet_components.components.fleet_args import FleetArgs

KINDS = (HUB, MEMBERS)


def clusters(manifests: Iterable[Manifest]) -> tuple[Cluster, ...]:
    """Return the clusters of all lists of members among the manifests.

    Raises:
        FleetError: something in a list is wrong, there are two hubs, or a hub with no word on its members; carries all
            problems, with file and line.
    """
    manifests = tuple(manifests)
    problems = [*disagreements(manifests)]
    try:
        found = declared_clusters(manifests)
    except FleetError as error:
        problems += error.problems
    if problems:
        raise FleetError(problems)
    return found


def problems(policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
    """Yield the properties that a policy asks for and that only an existing cluster could report."""
    return unobserved(policy, clusters)


def provision(name: str, args: FleetArgs, opts: pulumi.ResourceOptions) -> FleetArgs:
    """Provision the declared hub and members; see :func:`fleet_components.azure.provision`."""
    from fleet_components.azure.declarations.provision import provision as provision_declared  # loads the Azure SDK

    return provision_declared(name, args, opts)
