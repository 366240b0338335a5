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

from collections.abc import Iterable, Sequence

import attrs

from fleet_components.azure.components.hub import AzureHubArgs
from fleet_components.azure.declarations import HUB
from fleet_components.azure.declarations.members import is_member_list, read_member_lists
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.together import group_problems
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.model.reader import API_VERSION, read


@attrs.frozen
class Declarations:
    """The declared parts of a fleet.

    Attributes:
        hub: the hub; None if none is declared.
        members: the members.
    """

    hub: AzureHubArgs | None
    members: tuple[FleetMember, ...]


def is_declaration(manifest: Manifest) -> bool:
    """Return whether an object declares a hub or members."""
    return is_member_list(manifest) or (manifest.api_version, manifest.kind) == (API_VERSION, HUB)


def read_declarations(manifests: Iterable[Manifest], table: SizeTable) -> Declarations:
    """Parse the hub and the members among some objects; all other objects are ignored.

    Raises:
        FleetError: there are two hubs, or a declaration is invalid; carries all problems, with file and line.
    """
    manifests = [manifest for manifest in manifests if is_declaration(manifest)]
    hubs = [manifest for manifest in manifests if manifest.kind == HUB]
    problems = [second.problem("there are two hubs", ("kind",), "declare one") for second in hubs[1:]]
    hub: AzureHubArgs | None = None
    members: tuple[FleetMember, ...] = ()
    try:
        members = read_member_lists(manifests, table)
    except FleetError as error:
        problems += error.problems
    try:
        hub = _hub(hubs[0], table, members) if hubs else None
    except FleetError as error:
        problems += error.problems
    if problems:
        raise FleetError(problems)
    return Declarations(hub, members)


def _hub(manifest: Manifest, table: SizeTable, members: Sequence[FleetMember]) -> AzureHubArgs:
    try:
        found: AzureHubArgs = read(AzureHubArgs, manifest.data.get("spec"))
    except MisfitError as misfit:
        raise FleetError(manifest.located(problem, "spec") for problem in misfit.problems) from None
    hub = attrs.evolve(found, fleet_name=found.fleet_name or manifest.name, sizes=table)
    if problems := [*hub.problems(), *group_problems([hub.resource_group], members, ("resourceGroup",))]:
        raise FleetError(manifest.located(problem, "spec") for problem in problems)
    return hub
