"""An Azure fleet declared in YAML: the hub as an object of kind ``Hub``, members as objects of kind ``Members``.

::

    apiVersion: fleet-components/v1
    kind: Hub
    metadata: {name: shop}
    spec: {resourceGroup: rg-fleet, region: westeurope, kind: public}

The fields of a hub's ``spec`` are those of :class:`AzureHubArgs` in camelCase; the fleet is named like the object
unless ``fleetName`` is set. The form of members is described in :mod:`fleet_components.azure.declarations.members`.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fleet_components.azure.components.hub import AzureHubArgs
from fleet_components.azure.declarations.members import read_member_lists
from fleet_components.azure.declarations.together import disagreements, hubs_among, misspelt
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.model.reader import read


@attrs.frozen
class Declarations:
    """The declared parts of a fleet.

    Attributes:
        hub: the hub; None if none is declared.
        members: the members.
    """

    hub: AzureHubArgs | None
    members: tuple[FleetMember, ...]


def read_declarations(manifests: Iterable[Manifest], table: SizeTable, *, members: bool = False) -> Declarations:
    """Parse the hub and the members among some objects; objects of other systems are ignored.

    Args:
        manifests: the objects.
        table: the table of VM sizes and prices.
        members: whether a program names members of its own, so that a hub may stand alone.

    Raises:
        FleetError: there are two hubs, a hub without a word on its members, an object that was probably meant to be a
            declaration, or an invalid declaration; carries all problems, with file and line.
    """
    manifests = tuple(manifests)
    hubs = hubs_among(manifests)
    problems = [*misspelt(manifests), *disagreements(manifests, members=members)]
    hub: AzureHubArgs | None = None
    found: tuple[FleetMember, ...] = ()
    try:
        found = read_member_lists(manifests, table)
    except FleetError as error:
        problems += error.problems
    try:
        hub = _hub(hubs[0]) if hubs else None
    except FleetError as error:
        problems += error.problems
    if problems:
        raise FleetError(problems)
    return Declarations(hub, found)


def _hub(manifest: Manifest) -> AzureHubArgs:
    try:
        found: AzureHubArgs = read(AzureHubArgs, manifest.data.get("spec"))
    except MisfitError as misfit:
        raise FleetError(manifest.located(problem, "spec") for problem in misfit.problems) from None
    hub = attrs.evolve(found, fleet_name=found.fleet_name or manifest.name)
    if problems := list(hub.problems()):
        raise FleetError(manifest.located(problem, "spec") for problem in problems)
    return hub
