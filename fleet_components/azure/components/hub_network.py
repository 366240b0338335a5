"""The network of a private hub: two subnets, an identity, and role assignments for it and for Fleet
Manager.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import authorization, managedidentity, resources

from fleet_components.azure.components.arm import (
    NETWORK_CONTRIBUTOR,
    children_of,
    network_contributor,
    role_definition_id,
    role_problems,
)
from fleet_components.azure.values import checks, names
from fleet_components.azure.values.arm_id import SUBNET, resource_problems
from fleet_components.components.refusal import Arguments, expect, refuse
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later

_HUB_RANGE = IPv4Network("10.0.0.0/16")
_API_SERVER_DELEGATION = "Microsoft.ContainerService/managedClusters"
# A prefix length in bits: a range with a longer prefix is too small.
_SMALLEST_API_SERVER = 28
_FIND_FLEET_RP = (
    'az ad sp list --display-name "Azure Kubernetes Service - Fleet RP" --query "[0].id"'
)


@attrs.frozen(kw_only=True)
class HubNetwork(Arguments):
    """The network of a private hub: ranges for a new virtual network, or two existing subnets.

    Attributes:
        fleet_rp: the object ID, in this tenant, of the service principal "Azure Kubernetes Service
            - Fleet RP".
        address_space: the range of a new virtual network; it must stay clear of 10.0.0.0/16.
        agents: the range of its subnet for the hub's node.
        api_server: the range of its subnet for the API server, /28 or larger.
        agent_subnet: the ID of an existing subnet for the node, instead of the ranges. A Pulumi
            output is accepted.
        api_server_subnet: the ID of an existing subnet for the API server, delegated to
            ``Microsoft.ContainerService/managedClusters``.
    """

    fleet_rp: str
    address_space: str = "192.168.0.0/16"
    agents: str = "192.168.0.0/23"
    api_server: str = "192.168.2.0/23"
    agent_subnet: str | Later | None = None
    api_server_subnet: str | Later | None = None

    @property
    def fixed(self) -> dict[str, Any]:
        """Values that only a new hub can change: the ranges, or the IDs of subnets."""
        if self.agent_subnet is None:
            return {
                "addressSpace": self.address_space,
                "agents": self.agents,
                "apiServer": self.api_server,
            }
        return {"agentSubnet": self.agent_subnet, "apiServerSubnet": self.api_server_subnet}

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield a problem for each value that Azure would reject."""
        for problem in names.OBJECT_ID.problems(self.fleet_rp, (*path, "fleetRp")):
            yield attrs.evolve(problem, hint=_FIND_FLEET_RP)
        if (self.agent_subnet is None) != (self.api_server_subnet is None):
            yield Problem(
                Message("one-two-subnets-missing", "one of the two subnets is missing"),
                (*path, "agentSubnet"),
                "give both, or neither",
            )
        for field, subnet in (
            ("agentSubnet", self.agent_subnet),
            ("apiServerSubnet", self.api_server_subnet),
        ):
            if subnet is not None:
                yield from resource_problems(subnet, SUBNET, (*path, field))
        if self.agent_subnet is None:
            yield from self._range_problems(path)

    def _range_problems(self, path: FieldPath) -> Iterator[Problem]:
        yield from checks.networks_apart(
            {"agents": self.agents, "apiServer": self.api_server}, path
        )
        space = checks.network(self.address_space)
        if space is None:
            hint = "for example 192.168.0.0/16"
            yield Problem(
                Message(
                    "address-space-not-ipv4",
                    '"{address_space}" is not an IPv4 range',
                    address_space=self.address_space,
                ),
                (*path, "addressSpace"),
                hint,
            )
            return
        if space.overlaps(_HUB_RANGE):
            yield Problem(
                Message(
                    "overlaps-hub-uses",
                    "{space} overlaps {hub_range}, which the hub uses",
                    space=space,
                    hub_range=_HUB_RANGE,
                ),
                (*path, "addressSpace"),
                "another range",
            )
        # Ranges that cannot be parsed are reported by networks_apart above.
        for field, text in (("agents", self.agents), ("apiServer", self.api_server)):
            found = checks.network(text)
            if found and not found.subnet_of(space):
                yield Problem(
                    Message("not-part", "{found} is not part of {space}", found=found, space=space),
                    (*path, field),
                    "a range within addressSpace",
                )
            if found and field == "apiServer" and found.prefixlen > _SMALLEST_API_SERVER:
                yield Problem(
                    Message("too-small", "{found} is too small", found=found),
                    (*path, field),
                    f"/{_SMALLEST_API_SERVER} or larger",
                )


@attrs.frozen(eq=False)
class HubPlace:
    """Subnets, identity and role assignments of a private hub.

    Attributes:
        agents: the ID of the node's subnet.
        api_server: the ID of the API server's subnet.
        identity: the fleet's identity.
        grants: the role assignments that the hub depends on.
        roles: the same in words.
    """

    agents: pulumi.Input[str]
    api_server: pulumi.Input[str]
    identity: resources.IdentityArgs
    grants: list[authorization.RoleAssignment]
    roles: tuple[str, ...]


def hub_network(
    name: str, network: HubNetwork, resource_group: str, region: str, opts: pulumi.ResourceOptions
) -> HubPlace:
    """Declare what a private hub needs: subnets unless they exist, an identity, and role
    assignments.
    """
    agents: Any = network.agent_subnet
    api_server: Any = network.api_server_subnet
    # Both are given or neither, see HubNetwork.problems.
    if agents is None or api_server is None:
        agents, api_server = _subnets(name, network, resource_group, region, opts)
    own = managedidentity.UserAssignedIdentity(
        f"{name}-identity",
        resource_group_name=resource_group,
        resource_name_=name,
        location=region,
        opts=opts,
    )
    wanted: tuple[tuple[str, pulumi.Input[str], pulumi.Input[str]], ...] = (
        ("agents", agents, own.principal_id),
        ("api-server", api_server, own.principal_id),
        ("fleet-rp", agents, network.fleet_rp),
    )
    grants = [
        network_contributor(f"{name}-{role}", scope, principal, opts)
        for role, scope, principal in wanted
    ]
    identity = resources.IdentityArgs(type="UserAssigned", user_assigned_identities=[own.id])
    roles = (
        f"{NETWORK_CONTRIBUTOR} for the identity {name} on both subnets of the hub",
        f"{NETWORK_CONTRIBUTOR} for Fleet Manager ({network.fleet_rp}) on the subnet of its node",
    )
    return HubPlace(agents, api_server, identity, grants, roles)


def _subnets(
    name: str, network: HubNetwork, resource_group: str, region: str, opts: pulumi.ResourceOptions
) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
    # The network part of the SDK takes half a second to load, so only a program that needs it loads
    # it.
    from pulumi_azure_native import network as azure_network

    vnet = azure_network.VirtualNetwork(
        f"{name}-vnet",
        resource_group_name=resource_group,
        virtual_network_name=name,
        location=region,
        address_space=azure_network.AddressSpaceArgs(address_prefixes=[network.address_space]),
        # The subnets are separate resources; Azure lists them here as well.
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=["subnets"])),
    )
    agents = azure_network.Subnet(
        f"{name}-agents",
        resource_group_name=resource_group,
        virtual_network_name=vnet.name,
        subnet_name="agents",
        address_prefix=network.agents,
        opts=opts,
    )
    delegation = azure_network.DelegationArgs(name="aks", service_name=_API_SERVER_DELEGATION)
    # Azure changes only one subnet of a network at a time.
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[agents]))
    api_server = azure_network.Subnet(
        f"{name}-api-server",
        resource_group_name=resource_group,
        virtual_network_name=vnet.name,
        subnet_name="api-server",
        address_prefix=network.api_server,
        delegations=[delegation],
        opts=after,
    )
    return agents.id, api_server.id


# Role assignments in a fleet by name of role, for the whole fleet or for one managed namespace.


_KINDS = ("User", "Group", "ServicePrincipal")


@attrs.frozen(kw_only=True)
class Grant(Arguments):
    """A role for one person, group or pipeline.

    Attributes:
        to: a short name of the grantee, for the resource's name.
        principal: the grantee's object ID in Entra ID. A Pulumi output is accepted.
        role: the name of a built-in role, as in ``Azure Kubernetes Fleet Manager RBAC Reader``.
        kind: ``User``, ``Group`` or ``ServicePrincipal`` (pipelines and identities).
        namespace: a managed namespace of the fleet; empty for the whole fleet.
    """

    to: str
    principal: str | Later
    role: str
    kind: str = "Group"
    namespace: str = ""

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield a problem for each value that Azure would reject."""
        yield from names.MEMBER.problems(self.to, (*path, "to"))
        if isinstance(self.principal, str):
            yield from names.OBJECT_ID.problems(self.principal, (*path, "principal"))
        yield from role_problems(self.role, (*path, "role"))
        yield from checks.choice_of(self.kind, _KINDS, (*path, "kind"))
        if self.namespace:
            yield from names.NAMESPACE.problems(self.namespace, (*path, "namespace"))

    @property
    def key(self) -> str:
        """Key that is unique among the grants of one scope; another role or person is another
        assignment.
        """
        role = self.role.removeprefix("Azure Kubernetes ").lower().replace(" ", "-")
        return "-".join(filter(None, (self.to, role, self.namespace)))


@attrs.frozen(kw_only=True)
class AzureAccessArgs(Arguments):
    """Arguments of the role assignments of one scope.

    Attributes:
        scope: the ID of a fleet, a cluster or a resource group.
        grants: the roles to assign, and to whom.
    """

    scope: pulumi.Input[str]
    grants: tuple[Grant, ...]


class AzureAccess(pulumi.ComponentResource):
    """Role assignments of one scope. New ones can take some minutes to be effective, on a private
    hub an hour.

    Used alone, it does not wait for them: only the hub waits for its ``grants``, see ``role_wait``
    there.

    Attributes:
        assignments: the role assignments by key of their grant.
    """

    def __init__(
        self, name: str, args: AzureAccessArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        expect(type(self), name, args, AzureAccessArgs, opts)
        refuse(grant_problems(args.grants), f"AzureAccess {name}")
        super().__init__("fleet:index:AzureAccess", name, None, opts)
        mine = children_of(self, opts)
        self.assignments = {
            grant.key: _assignment(name, grant, args.scope, mine) for grant in args.grants
        }
        self.register_outputs({"assignments": sorted(self.assignments)})


def grant_problems(grants: tuple[Grant, ...]) -> Iterator[Problem]:
    """Yield a problem for each value in the grants of one scope that Azure would reject."""
    for position, grant in enumerate(grants):
        yield from grant.problems(("grants", position))
    yield from checks.unique((grant.key for grant in grants), "grant", ("grants",), "to")


def _assignment(
    name: str, grant: Grant, scope: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> authorization.RoleAssignment:
    at = (
        pulumi.Output.concat(scope, f"/managedNamespaces/{grant.namespace}")
        if grant.namespace
        else scope
    )
    return authorization.RoleAssignment(
        f"{name}-{grant.key}",
        scope=at,
        principal_id=grant.principal,
        principal_type=grant.kind,
        role_definition_id=role_definition_id(grant.role, scope),
        opts=opts,
    )
