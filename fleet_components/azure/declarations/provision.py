"""Provisions the hub and the members that a fleet's YAML declares, so that one program serves every stack."""

from __future__ import annotations

import attrs
import pulumi

from fleet_components.azure.components.fleet import AzureFleet, AzureFleetArgs
from fleet_components.azure.components.removal import RemovalGuard
from fleet_components.azure.declarations.together import hubs_among, lists_among, upgrades_among
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.refusal import RefusedError, expect, of_the_program, refuse, refusing


def provision(name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> FleetArgs:
    """Return the arguments of a fleet with its declared members provisioned; unchanged if it declares none.

    What a last update has provisioned and nothing declares any more is deleted, once that is confirmed.

    Args:
        name: the name of the :class:`AzureFleet` that is created.
        args: the arguments of the fleet; declarations are among the objects of its source.
        opts: resource options.

    Raises:
        RefusedError: the source has problems, of whatever kind, as nothing is provisioned for a fleet that is refused;
            or something would be deleted that no token allows.
    """
    expect(provision, name, args, FleetArgs, opts)
    if args.source.problems:
        raise RefusedError(of_the_program(args.source.problems))
    manifests = args.source.catalogue.manifests
    declared = [*hubs_among(manifests), *lists_among(manifests), *upgrades_among(manifests)]
    given = AzureFleetArgs(confirm=tuple(args.confirm), as_of=args.as_of)
    if not declared:
        with refusing():
            guard = RemovalGuard.of(name, given.confirm, opts)
        refuse(guard.problems(()), f"AzureFleet {name}")
        return args
    made = AzureFleet.from_manifests(name, declared, given, opts)
    known = {cluster.name for cluster in args.source.clusters}
    return attrs.evolve(
        args,
        members=(*args.members, *(each.member for key, each in made.members.items() if key not in known)),
        kubeconfigs={**{key: text for key, text in made.kubeconfigs.items() if key in known}, **args.kubeconfigs},
    )
