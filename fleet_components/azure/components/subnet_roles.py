"""Roles of a cluster's identity on subnets of one's own, which no other client of Azure than its CLI assigns by itself.

Source: "Use kubenet networking in AKS" and "Managed identities in AKS", on role assignments of the control plane
(Microsoft, 2026-08): the identity needs Network Contributor on the subnets. A user-assigned one gets it before the
cluster is created; a system-assigned one exists only afterwards. A role on a route table of one's own is its owner's.
"""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import authorization, managedidentity

from fleet_components.azure.components.roles import NETWORK_CONTRIBUTOR, role_definition_id
from fleet_components.azure.values.aks_member import AksMember

_SUBNET = "subnet"


def subnet_roles(
    name: str, member: AksMember, principal: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """Declare the role of an identity on each subnet of a member's nodes, unless ``subnet_roles`` is off."""
    subnets = _subnets(member) if member.subnet_roles else {}
    return [network_contributor(f"{name}-{role}", scope, principal, opts) for role, scope in subnets.items()]


def principal_of(identity: pulumi.Input[str], opts: pulumi.InvokeOutputOptions) -> pulumi.Output[str]:
    """Return the principal ID of a user-assigned identity, which Azure is asked for."""
    steps = pulumi.Output.from_input(identity).apply(lambda text: text.split("/"))
    found: pulumi.Output[Any] = managedidentity.get_user_assigned_identity_output(
        resource_group_name=steps.apply(lambda steps: steps[4]),
        resource_name=steps.apply(lambda steps: steps[-1]),
        opts=opts,
    )
    return found.apply(lambda identity: identity.principal_id)


def network_contributor(
    name: str, scope: pulumi.Input[str], principal: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> authorization.RoleAssignment:
    """Declare the role Network Contributor of a service principal on a subnet."""
    return authorization.RoleAssignment(
        f"{name}-network-contributor",
        scope=scope,
        principal_id=principal,
        principal_type="ServicePrincipal",
        role_definition_id=role_definition_id(NETWORK_CONTRIBUTOR, scope),
        opts=opts,
    )


def _subnets(member: AksMember) -> dict[str, Any]:
    """Return the subnets of the nodes by the name of their role; each once, since Azure takes no role twice."""
    named = {_SUBNET: member.subnet, **{f"{pool.name}-{_SUBNET}": pool.subnet for pool in member.node_pools}}
    once: dict[Any, str] = {}
    for name, subnet in named.items():
        if subnet is not None:
            once.setdefault(subnet.lower() if isinstance(subnet, str) else id(subnet), name)
    return {name: named[name] for name in once.values()}
