"""Provisions the hub and the members that a fleet's YAML declares, so that one program serves every stack."""

from __future__ import annotations

import attrs
import pulumi

from fleet_components.azure.components.fleet import AzureFleet, AzureFleetArgs, everything_of, things_declared
from fleet_components.azure.components.removal import RemovalGuard
from fleet_components.azure.components.subscription import default_subscription
from fleet_components.azure.declarations.together import declarations_among
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.refusal import RefusedError, expect, of_the_program, refuse, refusing
from fleet_components.model.guests import Removals


def removals(name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> Removals:
    """Return what :func:`provision` would delete, without registering anything.

    Raises:
        RefusedError: a declaration is invalid, or the state is damaged.
    """
    with refusing():
        guard = RemovalGuard.of(name, args.confirm, opts)
    declared = declarations_among(args.source.catalogue.manifests)
    things = things_declared(name, everything_of(declared, AzureFleetArgs()), opts)
    refused = of_the_program(attrs.evolve(problem, subject=f"AzureFleet {name}") for problem in guard.problems(things))
    return Removals(tuple(refused), guard.allowed(things))


def provision(name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> FleetArgs:
    """Return the arguments of a fleet with its declared members provisioned; unchanged if it declares none.

    What a last update has provisioned and nothing declares any more is deleted, once that is confirmed.

    The :class:`Fleet` plans only when it is made, with its own name, options and further members, which are not known
    here. So a plan that it refuses, for a loss of placements for example, comes after Azure's resources were
    registered: a preview stops there, an update without one may have made clusters by then. ``Fleet.from_config`` plans
    first, and asks for all tokens at once.

    Args:
        name: the name of the :class:`AzureFleet` that is created.
        args: the arguments of the fleet; declarations are among the objects of its source.
        opts: resource options.

    Raises:
        RefusedError: the source has problems, of whatever kind, as nothing is provisioned for a fleet that is refused;
            or something would be deleted that no token allows.
    """
    expect(provision, name, args, FleetArgs, opts)
    source = args.source.in_subscription(default_subscription(opts))
    args = args if source is args.source else attrs.evolve(args, source=source)
    if args.source.problems:
        raise RefusedError(of_the_program(args.source.problems))
    declared = declarations_among(args.source.catalogue.manifests)
    if not declared:
        refuse(removals(name, args, opts).refused, f"AzureFleet {name}")
        return args
    made = AzureFleet.from_manifests(
        name, declared, AzureFleetArgs(confirm=tuple(args.confirm), as_of=args.as_of), opts
    )
    known = {cluster.name for cluster in args.source.clusters}
    return attrs.evolve(
        args,
        members=(*args.members, *(each.member for key, each in made.members.items() if key not in known)),
        kubeconfigs={**{key: text for key, text in made.kubeconfigs.items() if key in known}, **args.kubeconfigs},
    )
