"""Finds what policies ask for and declarations do not say.

It is free capacity, VM sizes that could be created, and the subscription of a member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pulumi

from fleet_components.azure.components.fleet import (
    AzureFleet,
    AzureFleetArgs,
    everything_of,
    things_declared,
)
from fleet_components.azure.components.removal import RemovalGuard
from fleet_components.azure.components.subscription import default_subscription
from fleet_components.azure.declarations.together import declarations_among
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.refusal import (
    RefusedError,
    expect,
    of_the_program,
    refuse,
    refusing,
)
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.reader import Removals

_AVAILABLE = "resources.kubernetes-fleet.io/available-"
_CAPACITY = re.compile("kubernetes\\.azure\\.com/vm-sizes/[^/]+/capacity")
_SUBSCRIPTION, _OF_AZURE = "fleet.azure.com/subscription-id", "fleet.azure.com/cluster-name"
_MOST_NAMED = 3


def unobserved(policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
    """Yield a problem for each property of a policy that some declared members lack because it was
    not observed, and for each place that asks for the subscription of members whose declaration
    does not name it.

    Observed members report all properties. Declared members have ``available-*`` and
    ``vm-sizes/*/capacity`` only if these are declared as observed. A policy treats a member without
    the property, or the label, as one that does not match.
    """
    declared = [cluster for cluster in clusters if not cluster.observed]
    unknown = [
        item.name
        for item in declared
        if _OF_AZURE in item.labels and _SUBSCRIPTION not in item.labels
    ]
    for path in _asking_for_subscriptions(policy) if unknown else ():
        hint = "declare its subscription, or leave the label out of the policy"
        yield policy.problem(
            Message(
                "no-declaration-says",
                'no declaration says "{subscription}" of {few}',
                subscription=_SUBSCRIPTION,
                few=_few(unknown),
            ),
            path,
            hint,
        )
    for path, name in _property_names(policy):
        lacking = [cluster.name for cluster in declared if not _has(cluster, name)]
        if lacking:
            hint = "declare it under observed, or leave it out of the policy"
            yield policy.problem(
                Message(
                    "nobody-observed",
                    'nobody has observed "{name}" of {few}',
                    name=name,
                    few=_few(lacking),
                ),
                path,
                hint,
            )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (" and others" if len(names) > _MOST_NAMED else "")


def _asking_for_subscriptions(policy: Manifest) -> Iterator[FieldPath]:
    """Yield the fields of a policy that name the label of the subscription, as variables in
    overrides may.
    """
    for path, value in _values(policy.data.get("spec"), ("spec",)):
        # No path is empty: all of them begin with spec.
        if path[-1] == _SUBSCRIPTION or (isinstance(value, str) and _SUBSCRIPTION in value):
            yield path


def _property_names(policy: Manifest) -> Iterator[tuple[FieldPath, str]]:
    """Yield the properties that a policy selects or sorts by and that must be observed, with the
    path of each name.
    """
    for path, value in _values(policy.data, ()):
        name = value.get("name") if isinstance(value, Mapping) else None
        if isinstance(name, str) and (name.startswith(_AVAILABLE) or _CAPACITY.fullmatch(name)):
            yield (*path, "name"), name


def _values(data: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    """Yield a value and all below it, each with its path."""
    yield path, data
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _values(value, (*path, key))
    elif isinstance(data, list):
        for position, item in enumerate(data):
            yield from _values(item, (*path, position))


def _has(cluster: Cluster, name: str) -> bool:
    if name.startswith(_AVAILABLE):
        return name.removeprefix(_AVAILABLE) in cluster.usage.available
    return name in cluster.properties


# Provisions the hub and the members that a fleet's YAML declares, so that one program serves
# every stack.


def removals(name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> Removals:
    """Return what :func:`provision` would delete, without registering anything.

    Raises:
        RefusedError: a declaration is invalid, or the state is damaged.
    """
    with refusing():
        guard = RemovalGuard.of(name, args.confirm, opts)
    declared = declarations_among(args.source.catalogue.manifests)
    things = things_declared(name, everything_of(declared, AzureFleetArgs()), opts)
    refused = of_the_program(
        attrs.evolve(problem, subject=f"AzureFleet {name}") for problem in guard.problems(things)
    )
    return Removals(tuple(refused), guard.allowed(things))


def provision(name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> FleetArgs:
    """Return the arguments of a fleet with its declared members provisioned; unchanged if it
    declares none.

    What a last update has provisioned and nothing declares any more is deleted, once that is
    confirmed.

    The :class:`Fleet` plans only when it is made, with its own name, options and further members,
    which are not known here. So a plan that it refuses, for a loss of placements for example, comes
    after Azure's resources were
    registered: a preview stops there, an update without one may have made clusters by then.
    ``Fleet.from_config`` plans first, and asks for all tokens at once.

    Args:
        name: the name of the :class:`AzureFleet` that is created.
        args: the arguments of the fleet; declarations are among the objects of its source.
        opts: resource options.

    Raises:
        RefusedError: the source has problems, of whatever kind, as nothing is provisioned for a
            fleet that is refused; or something would be deleted that no token allows.
    """
    expect(provision, name, args, FleetArgs, opts)
    # The same subscription as for the provisioning, so that labels and records agree.
    source = args.source.in_subscription(default_subscription(opts))
    args = args if source is args.source else attrs.evolve(args, source=source)
    if args.source.problems:
        raise RefusedError(of_the_program(args.source.problems))
    declared = declarations_among(args.source.catalogue.manifests)
    if not declared:
        # Nothing is declared any more, but the last update may have provisioned something.
        refuse(removals(name, args, opts).refused, f"AzureFleet {name}")
        return args
    made = AzureFleet.from_manifests(
        name, declared, AzureFleetArgs(confirm=tuple(args.confirm), as_of=args.as_of), opts
    )
    # The source has planned these members by their declarations already; only their kubeconfigs are
    # new.
    known = {cluster.name for cluster in args.source.clusters}
    return attrs.evolve(
        args,
        members=(
            *args.members,
            *(each.member for key, each in made.members.items() if key not in known),
        ),
        kubeconfigs={
            **{key: text for key, text in made.kubeconfigs.items() if key in known},
            **args.kubeconfigs,
        },
    )
