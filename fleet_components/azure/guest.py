"""Azure as a guest of the planner: which kinds it declares, and what becomes of them. Loads no
SDK.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from fleet_components.azure.declarations import HUB, MEMBERS, UPGRADES
from fleet_components.azure.declarations.members import read_member_lists
from fleet_components.azure.declarations.together import disagreements, lists_among, read_upgrades
from fleet_components.azure.declarations.unobserved import unobserved
from fleet_components.azure.values.dated import age_warnings, day_of_plan
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.record import cluster_record
from fleet_components.azure.values.vm_size import built_in_sizes
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import Removals

if TYPE_CHECKING:
    import pulumi

    from fleet_components.components.fleet_args import FleetArgs

KINDS = (HUB, MEMBERS, UPGRADES)


def clusters(manifests: Iterable[Manifest], subscription: str = "") -> tuple[Cluster, ...]:
    """Return the clusters of all lists of members among the manifests.

    Args:
        manifests: the manifests.
        subscription: the subscription of members whose declaration names none; empty if it is
            unknown.

    Raises:
        FleetError: something in a list or in upgrades is wrong, there are two hubs, a hub with no
            word on its members, or upgrades without a hub; carries all problems, with file and
            line.
    """
    manifests, table = tuple(manifests), built_in_sizes()
    problems = [*disagreements(manifests)]
    members: tuple[FleetMember, ...] = ()
    try:
        members = read_member_lists(manifests, table)
        read_upgrades(manifests, {member.group for member in members if member.group})
    except FleetError as error:
        problems += error.problems
    if problems:
        raise FleetError(problems)
    return tuple(cluster_record(member, table, subscription) for member in members)


def problems(policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
    """Yield the properties that a policy asks for and that only an existing cluster could
    report.
    """
    return unobserved(policy, clusters)


def subscription(opts: pulumi.ResourceOptions) -> str:
    """Return the subscription that the stack is configured with; empty where a provider among the
    options counts.
    """
    # Loads the Azure SDK.
    from fleet_components.azure.components.subscription import (
        default_subscription,
    )

    return default_subscription(opts)


def removals(name: str, args: FleetArgs, opts: pulumi.ResourceOptions) -> Removals:
    """Return what would be deleted of a fleet's hub, clusters and resource groups."""
    # Loads the Azure SDK.
    from fleet_components.azure.declarations.unobserved import (
        removals as removals_of,
    )

    return removals_of(name, args, opts)


def warnings(manifests: Iterable[Manifest], as_of: datetime | None) -> Iterator[Problem]:
    """Yield what has aged by the time of a plan: tables of the package, and declared Kubernetes
    versions.
    """
    manifests, table = tuple(manifests), built_in_sizes()
    members = read_member_lists(manifests, table)
    for problem in age_warnings(members, table, day_of_plan(as_of)):
        yield lists_among(manifests)[0].located(problem)


def provision(name: str, args: FleetArgs, opts: pulumi.ResourceOptions) -> FleetArgs:
    """Provision the declared hub and members; see :func:`fleet_components.azure.provision`."""
    # Loads the Azure SDK.
    from fleet_components.azure.declarations.unobserved import (
        provision as provision_declared,
    )

    return provision_declared(name, args, opts)
