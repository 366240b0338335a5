"""Roles of a cluster's identity on subnets of one's own, which no other client of Azure than its CLI assigns by itself.

Sources: "Use kubenet networking in AKS", "Managed identities in AKS", on role assignments of the control plane, and
"API Server VNet Integration" (Microsoft, 2026-08): the identity needs Network Contributor on the subnets. A
user-assigned one gets it before the cluster is created; a system-assigned one exists only afterwards. A role on a route
table of one's own is its owner's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_azure_native import authorization, managedidentity

from fleet_components.azure.components.roles import NETWORK_CONTRIBUTOR, role_definition_id
from fleet_components.azure.components.subscription import Subscriptions, reached_subscription
from fleet_components.azure.values.aks_member import AksMember


def subnet_roles(
    name: str, member: AksMember, principal: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> dict[str, authorization.RoleAssignment]:
    """Declare the role of an identity on each subnet of a member.

    Returns:
        The assignments by their words: role, grantee and scope.
    """
    subnets: Mapping[str, Any] = member.subnets
    return {
        f"{NETWORK_CONTRIBUTOR} for the identity of {member.name} on its {role}": network_contributor(
            f"{name}-{role}", scope, principal, opts
        )
        for role, scope in subnets.items()
    }


def identity_subscription(member: AksMember) -> str:
    """Return the subscription that the ID of a user-assigned identity names; empty for an output, which names it later.

    It may be another one than the cluster's.
    """
    return member.identity.split("/")[2] if isinstance(member.identity, str) else ""


def asked_principal(
    member: AksMember,
    owner: pulumi.Resource,
    subscriptions: Subscriptions,
    opts: pulumi.ResourceOptions | None,
) -> pulumi.Output[str]:
    """Return the principal ID of a member's user-assigned identity; Azure is asked for it where the identity is.

    Args:
        member: the member. An identity that is an output is taken to be in its subscription.
        owner: the component of the member, whose provider works where the member is.
        subscriptions: makes a provider if neither works where the identity is.
        opts: the options of the component before its subscription was considered.
    """
    where = identity_subscription(member)
    asking = _asking(where, member.subscription, owner, subscriptions, opts)
    here = asking.parent if asking.provider is None else None
    there = reached_subscription(here, where, f"the identity of {member.name}") if here else where
    identity = pulumi.Output.all(member.identity, there).apply(lambda found: found[0])
    steps = identity.apply(lambda text: text.split("/"))
    found: pulumi.Output[Any] = managedidentity.get_user_assigned_identity_output(
        resource_group_name=steps.apply(lambda steps: steps[4]),
        resource_name=steps.apply(lambda steps: steps[-1]),
        opts=asking,
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


def _asking(
    where: str,
    declared: str,
    owner: pulumi.Resource,
    subscriptions: Subscriptions,
    opts: pulumi.ResourceOptions | None,
) -> pulumi.InvokeOutputOptions:
    """Return the options of a question to the subscription ``where``; empty for that of the member."""
    if not where or where.lower() == declared.lower():
        return pulumi.InvokeOutputOptions(parent=owner)
    # A member that declares its subscription has a provider of it, so another one must come from outside.
    scope = (opts.parent if opts else None) if declared else owner
    provider = subscriptions.provider(where, pulumi.ResourceOptions(parent=scope) if declared else opts)
    return pulumi.InvokeOutputOptions(parent=owner if provider else scope, provider=provider)
