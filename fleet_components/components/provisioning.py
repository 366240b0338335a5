"""Clusters that guests provision beside a fleet, as its configuration declares them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pulumi

from fleet_components.components.config import FromConfig
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.fleet_options import FleetOptions
from fleet_components.components.process import unknown
from fleet_components.components.refusal import RefusedPlanError
from fleet_components.components.run import Planned, Run
from fleet_components.model.guests import Guest, guests, present
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.neighbours import refuses_losses_alone


def to_be_provisioned(args: FleetArgs) -> FleetArgs:
    """Return the arguments of a fleet as if the clusters that its configuration declares stood
    already.

    A plan needs no more of their kubeconfigs than that there will be some.
    """
    if not isinstance(args, FromConfig) or args.source.problems:
        return args
    manifests = args.source.catalogue.manifests
    coming = [cluster.name for guest in present(manifests) for cluster in guest.clusters(manifests)]
    return attrs.evolve(args, kubeconfigs={**{member: unknown() for member in coming}, **args.kubeconfigs})


def in_subscription(args: FleetArgs, options: FleetOptions) -> FleetArgs:
    """Return the arguments of a fleet with the subscription in which its configuration provisions
    members that name none.
    """
    for guest in present(args.source.catalogue.manifests) if isinstance(args, FromConfig) else ():
        source = args.source.in_subscription(guest.subscription(options.beside))
        args = attrs.evolve(args, source=source)
    return args


def refuse_together(name: str, args: FleetArgs, plan: FleetPlan, options: FleetOptions) -> Planned:
    """Return the plan as one of this run; refuse what it and what guests would delete, in one
    error.

    So all tokens are asked for at once. Without guests a refusal waits until all fleets of the
    program are known; what guests provision does not wait for that.

    Raises:
        RefusedPlanError: the plan is refused, or a guest would delete something that no token
            allows.
    """
    beside, asked = _beside(args, options), _asked(args, plan)
    removals = [guest.removals(name, args, beside) for guest in asked]
    beside_it = [problem for removal in removals for problem in removal.refused]
    refused = (*plan.refused, *beside_it)
    if not beside_it and not (asked and refused):
        defers = not asked and refuses_losses_alone(plan)
        return Run.current().add(plan, defers=defers)
    # A token is not given in vain if only another one is missing.
    for allowed in filter(None, (removal.allowed for removal in removals)):
        pulumi.log.warn(allowed)
    # Raised, because a preview that only logs an error ends with exit status 0.
    declared = [fleet.plan for fleet in Run.current().fleets]
    raise RefusedPlanError([*declared, attrs.evolve(plan, refused=refused)])


def provisioned(name: str, args: FleetArgs, plan: FleetPlan, options: FleetOptions) -> FleetArgs:
    """Return the arguments of a fleet with the clusters provisioned that its configuration declares."""
    beside = _beside(args, options)
    for guest in _asked(args, plan):
        args = guest.provision(name, args, beside)
    return args


def _asked(args: FleetArgs, plan: FleetPlan) -> Sequence[Guest]:
    """Return the guests to ask; all of them if something stands that one has provisioned, declared or not."""
    if not isinstance(args, FromConfig):
        return ()
    stands = any(kind == names.PROVISIONED for kind, _ in plan.past.urns)
    return guests() if stands else present(args.source.catalogue.manifests)


def _beside(args: FleetArgs, options: FleetOptions) -> pulumi.ResourceOptions:
    earlier = [pulumi.Alias(name=text) for text in filter(None, (args.renamed.fleet, *options.earlier))]
    return pulumi.ResourceOptions.merge(options.beside, pulumi.ResourceOptions(aliases=earlier))
