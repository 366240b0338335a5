"""Provisions the hub and the members that a fleet's YAML declares, so that one program serves every stack."""

from __future__ import annotations

import attrs
import pulumi

from fleet_components.azure.components.fleet import AzureFleet, AzureFleetArgs
from fleet_components.azure.declarations.hub import is_declaration
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.refusal import expect


def provision(name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> FleetArgs:
    """Return the arguments of a fleet with its declared members provisioned; unchanged if it declares none.

    Args:
        name: the name of the :class:`AzureFleet` that is created.
        args: the arguments of the fleet; declarations are among the objects of its source.
        opts: resource options.
    """
    expect(provision, name, args, FleetArgs, opts)
    declared = [manifest for manifest in args.source.catalogue.manifests if is_declaration(manifest)]
    if not declared:
        return args
    made = AzureFleet.from_manifests(name, declared, AzureFleetArgs(), opts)
    known = {cluster.name for cluster in args.source.clusters}
    return attrs.evolve(
        args,
        members=(*args.members, *(each.member for key, each in made.members.items() if key not in known)),
        kubeconfigs={**{key: text for key, text in made.kubeconfigs.items() if key in known}, **args.kubeconfigs},
    )
