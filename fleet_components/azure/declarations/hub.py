"""An Azure fleet declared in YAML: the hub as an object of kind ``Hub``, members as objects of kind
``Members``.

::

    apiVersion: fleet-components/v1
    kind: Hub
    metadata: {name: shop}
    spec: {resourceGroup: rg-fleet, region: westeurope, kind: public}

The fields of a hub's ``spec`` are those of :class:`AzureHubArgs` in camelCase; the fleet is named
like the object unless ``fleetName`` is set. The form of members is described in
:mod:`fleet_components.azure.declarations.members`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from fleet_components.azure.components.hub import AzureHubArgs
from fleet_components.azure.components.kubeconfig import Login
from fleet_components.azure.declarations.members import existing_groups, read_member_lists
from fleet_components.azure.declarations.together import (
    disagreements,
    hubs_among,
    lists_among,
    misspelt,
    read_upgrades,
)
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.together import group_problems
from fleet_components.azure.values.upgrades import Upgrades
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError
from fleet_components.model.reader import read


@attrs.frozen
class Declarations:
    """The declared parts of a fleet.

    Attributes:
        hub: the hub; None if none is declared.
        members: the members.
        existing_resource_groups: resource groups that are not created.
        login: how the kubeconfigs of the members sign in; None if nothing is said.
        upgrades: strategies, runs and profiles.
    """

    hub: AzureHubArgs | None
    members: tuple[FleetMember, ...]
    existing_resource_groups: frozenset[str] = frozenset()
    login: Login | None = None
    upgrades: Upgrades = attrs.field(factory=Upgrades)


@attrs.frozen
class Beside:
    """The part of a fleet that a program brings beside the declarations.

    Attributes:
        members: its members; with any, a hub may stand alone.
        hub: whether it has a hub.
        strategies: the names of its update strategies.
    """

    members: tuple[FleetMember, ...] = ()
    hub: bool = False
    strategies: tuple[str, ...] = ()


def read_declarations(
    manifests: Iterable[Manifest], table: SizeTable, beside: Beside | None = None
) -> Declarations:
    """Parse the declarations of a fleet among some objects; objects of other systems are ignored.

    Args:
        manifests: the objects.
        table: the table of VM sizes and prices.
        beside: what a program brings; None for nothing.

    Raises:
        FleetError: there are two hubs, a hub without a word on its members, upgrades without a hub,
            an object that was probably meant to be a declaration, or an invalid declaration;
            carries all problems, with file and line.
    """
    # May be an iterator, and is read once for each part.
    manifests, beside = tuple(manifests), beside or Beside()
    hubs = hubs_among(manifests)
    problems = [
        *misspelt(manifests),
        *disagreements(manifests, members=bool(beside.members), hub=beside.hub),
    ]
    hub: AzureHubArgs | None = None
    found: tuple[FleetMember, ...] = ()
    login: Login | None = None
    upgrades = Upgrades()
    # Each part is read on its own, so that one error names the problems of all parts.
    try:
        found = read_member_lists(manifests, table)
    except FleetError as error:
        problems += error.problems
    try:
        # Further hubs are reported by disagreements.
        hub = _hub(hubs[0], table, found) if hubs else None
    except FleetError as error:
        problems += error.problems
    try:
        login = _login(lists_among(manifests))
    except FleetError as error:
        problems += error.problems
    # Without all members, an update group may only seem to have none.
    if not problems:
        groups = {member.group for member in (*found, *beside.members) if member.group}
        upgrades = read_upgrades(manifests, groups, beside.strategies)
    if problems:
        raise FleetError(problems)
    return Declarations(hub, found, existing_groups(manifests), login, upgrades)


def _login(lists: list[Manifest]) -> Login | None:
    """Return how the kubeconfigs of the members of all lists sign in; None if no list says it."""
    logins: list[Login] = []
    for manifest in lists:
        spec = manifest.data.get("spec")
        if not isinstance(spec, Mapping) or "login" not in spec:
            continue
        try:
            login: Login = read(Login, spec["login"])
        except MisfitError as misfit:
            raise FleetError(
                manifest.located(problem, "spec", "login") for problem in misfit.problems
            ) from None
        problems = [manifest.located(problem, "spec") for problem in login.problems(("login",))]
        if logins and login != logins[0]:
            hint = "the members of a fleet sign in alike: write it once"
            problems.append(
                manifest.problem(
                    Message(
                        "another-list-members-says", "another list of members says something else"
                    ),
                    ("spec", "login"),
                    hint,
                )
            )
        if problems:
            raise FleetError(problems)
        logins.append(login)
    return logins[0] if logins else None


def _hub(manifest: Manifest, table: SizeTable, members: Sequence[FleetMember]) -> AzureHubArgs:
    try:
        found: AzureHubArgs = read(AzureHubArgs, manifest.data.get("spec"))
    except MisfitError as misfit:
        raise FleetError(manifest.located(problem, "spec") for problem in misfit.problems) from None
    hub = attrs.evolve(found, fleet_name=found.fleet_name or manifest.name, sizes=table)
    problems = [*hub.problems(), *group_problems([hub.resource_group], members, ("resourceGroup",))]
    if problems:
        raise FleetError(manifest.located(problem, "spec") for problem in problems)
    return hub
