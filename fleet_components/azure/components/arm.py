"""Azure resources of a fleet and its children, at one generally available API version.

The SDK's own classes for them use 2024-05-02-preview, a preview version that may be retired and
that lacks labels of members, approvals and concurrency. The SDK's generic resource sends the same
requests at any version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import authorization, managedidentity, resources

from fleet_components.azure.components.subscription import (
    Subscriptions,
    reached_subscription,
    through,
)
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

FLEET_API = "2026-06-01"
RESOURCE = "azure-native:resources:Resource"
"""The type of the SDK's generic resource."""

# Read-only fields of Azure's answers. The generic resource has no schema that separates them from
# inputs, so a refresh would make each of them a change.
_SET_BY_AZURE = (
    *("provisioningState", "status", "autoUpgradeProfileStatus", "autoUpgradeProfileId"),
    *("hubProfile.fqdn", "hubProfile.kubernetesVersion", "hubProfile.portalFqdn"),
)


@attrs.frozen(eq=False)
class FleetAddress:
    """Address of a fleet in Azure, for the declaration of its children; plain names, so that a
    preview shows them.

    Attributes:
        resource_group: the fleet's resource group.
        name: the fleet's name in Azure.
        fleet: the fleet's resource, which the children depend on.
        owner: the component that the fleet belongs to; the children go through its Azure provider.
    """

    resource_group: str
    name: str
    fleet: pulumi.Resource
    owner: pulumi.Resource


def children_of(
    component: pulumi.Resource, opts: pulumi.ResourceOptions | None
) -> pulumi.ResourceOptions:
    """Return the options of a component's children: the component as parent, and the dependencies
    it was given.
    """
    return pulumi.ResourceOptions(parent=component, depends_on=opts.depends_on if opts else None)


def of_component(opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """Return the options of a component itself: only its children wait for dependencies, and its
    checks for none.
    """
    # A copy: the caller may use its options for other resources.
    options = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(), opts)
    options.depends_on = None
    return options


def fleet_resource(
    name: str,
    group: str,
    azure_name: str,
    properties: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    **top: Any,
) -> resources.Resource:
    """Declare a fleet.

    Args:
        name: the Pulumi name.
        group: the fleet's resource group.
        azure_name: the fleet's name in Azure.
        properties: the ``properties`` of the request.
        opts: resource options.
        top: location, identity and tags of the request.
    """
    return _resource(name, group, ("", "fleets", azure_name), properties, opts, (), **top)


def fleet_child(
    name: str,
    kind: str,
    azure_name: str,
    fleet: FleetAddress,
    properties: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    ignored: tuple[str, ...] = (),
) -> resources.Resource:
    """Declare a child of a fleet.

    Args:
        name: the Pulumi name.
        kind: the child's type under the fleet, as in ``members``.
        azure_name: the child's name in Azure.
        fleet: the address of the fleet.
        properties: the ``properties`` of the request.
        opts: resource options.
        ignored: fields of ``properties`` that Azure changes by itself, in addition to its status
            fields.
    """
    # A member may have an Azure provider of another subscription; its entry belongs to the fleet's.
    of_fleet = through(fleet.owner, opts)
    after = pulumi.ResourceOptions.merge(of_fleet, pulumi.ResourceOptions(depends_on=[fleet.fleet]))
    path = (f"fleets/{fleet.name}", kind, azure_name)
    return _resource(name, fleet.resource_group, path, properties, after, ignored)


def _resource(
    name: str,
    group: str,
    path: tuple[str, str, str],
    properties: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    ignored: tuple[str, ...],
    **top: Any,
) -> resources.Resource:
    parent, kind, azure_name = path
    quiet = pulumi.ResourceOptions(
        ignore_changes=[f"properties.{field}" for field in (*_SET_BY_AZURE, *ignored)]
    )
    return resources.Resource(
        name,
        api_version=FLEET_API,
        resource_group_name=group,
        resource_provider_namespace="Microsoft.ContainerService",
        parent_resource_path=parent,
        resource_type=kind,
        resource_name_=azure_name,
        properties=properties,
        opts=pulumi.ResourceOptions.merge(opts, quiet),
        **top,
    )


# Built-in Azure roles that a fleet needs, by name.
#
# Source: "Azure built-in roles" (Microsoft); the day on which it was read is in
# ``values/dated.py``.


NETWORK_CONTRIBUTOR = "Network Contributor"

_FLEET = "Azure Kubernetes Fleet Manager"
HUB_ADMIN = f"{_FLEET} RBAC Cluster Admin"
_AKS = "Azure Kubernetes Service"
ROLES = {
    f"{_FLEET} Contributor Role": "63bb64ad-9799-4770-b5c3-24ed299a07bf",
    f"{_FLEET} Hub Cluster User Role": "850c5848-fc51-4a9a-8823-f220370626e3",
    f"{_FLEET} Hub Agent Role": "de2b316d-7a2c-4143-b4cd-c148f6a355a1",
    HUB_ADMIN: "18ab4d3d-a1bf-4477-8ad9-8359bc988f69",
    f"{_FLEET} RBAC Admin": "434fb43a-c01c-447e-9f67-c3ad923cfaba",
    f"{_FLEET} RBAC Writer": "5af6afb3-c06c-4fa4-8848-71a8aee05683",
    f"{_FLEET} RBAC Reader": "30b27cfc-9c84-438e-b0ce-70e35255df80",
    f"{_FLEET} RBAC Cluster Admin for Member Clusters": "79a36d98-eb96-4a76-ae1d-481dc98d2c23",
    f"{_FLEET} RBAC Admin for Member Clusters": "d1f699ed-700a-4c77-a22f-29890ac7b115",
    f"{_FLEET} RBAC Writer for Member Clusters": "50346970-0998-40f2-b47d-f3b8809840f8",
    f"{_FLEET} RBAC Reader for Member Clusters": "463ad26c-fcce-4469-9c7f-5653d8acbab5",
    f"{_AKS} Cluster User Role": "4abbcc35-e782-43d8-92c5-2d3f1bd2253f",
    f"{_AKS} Cluster Admin Role": "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8",
    f"{_AKS} Contributor Role": "ed7f3fbd-7b88-4dd4-9017-9adb7ce333f8",
    f"{_AKS} RBAC Cluster Admin": "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    f"{_AKS} RBAC Admin": "3498e952-d568-435e-9b2c-8d77e338d7f7",
    f"{_AKS} RBAC Writer": "a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb",
    f"{_AKS} RBAC Reader": "7f6c6a51-bcf8-42ba-9220-52d62157d7db",
    NETWORK_CONTRIBUTOR: "4d97b98b-1d4f-4787-a291-c67834d212e7",
}
"""GUIDs of the role definitions by name; they are the same in every tenant."""


def role_problems(role: str, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a role is not one of the known roles."""
    if role not in ROLES:
        near = get_close_matches(role, ROLES, n=3) or list(ROLES)
        yield Problem(
            Message("no-role", 'there is no role "{role}"', role=role),
            path,
            f"one of: {'; '.join(near)}",
        )


def role_definition_id(role: str, scope: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the ID of a role's definition in the subscription of a scope."""
    # An ID begins with "/subscriptions/<id>", and step 0 is the empty text before the first slash.
    subscription = pulumi.Output.from_input(scope).apply(lambda scope: scope.split("/")[2])
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{ROLES[role]}"
    return pulumi.Output.concat("/subscriptions/", subscription, definition)


# Roles of a cluster's identity on subnets of one's own, which no other client of Azure than its
# CLI assigns by itself.
#
# Sources: "Use kubenet networking in AKS", "Managed identities in AKS", on role assignments of
# the control plane, and "API Server VNet Integration" (Microsoft, 2026-08): the identity needs
# Network Contributor on the subnets. A user-assigned one gets it before the cluster is created; a
# system-assigned one exists only afterwards. A role on a route table of one's own is its owner's.


def subnet_roles(
    name: str, member: AksMember, principal: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> dict[str, authorization.RoleAssignment]:
    """Declare the role of an identity on each subnet of a member.

    Returns:
        The assignments by their words: role, grantee and scope.
    """
    subnets: Mapping[str, Any] = member.subnets
    return {
        f"{NETWORK_CONTRIBUTOR} for the identity of {member.name} on its {role}": (
            network_contributor(f"{name}-{role}", scope, principal, opts)
        )
        for role, scope in subnets.items()
    }


def identity_subscription(member: AksMember) -> str:
    """Return the subscription that the ID of a user-assigned identity names; empty for an output,
    which names it later.

    It may be another one than the cluster's.
    """
    return member.identity.split("/")[2] if isinstance(member.identity, str) else ""


def asked_principal(
    member: AksMember,
    owner: pulumi.Resource,
    subscriptions: Subscriptions,
    opts: pulumi.ResourceOptions | None,
) -> pulumi.Output[str]:
    """Return the principal ID of a member's user-assigned identity; Azure is asked for it where the
    identity is.

    Args:
        member: the member. An identity that is an output is taken to be in its subscription.
        owner: the component of the member, whose provider works where the member is.
        subscriptions: makes a provider if neither works where the identity is.
        opts: the options of the component before its subscription was considered.
    """
    where = identity_subscription(member)
    asking = _asking(where, member.subscription, owner, subscriptions, opts)
    # Without an explicit provider, the default one answers: check that it works where the identity
    # is.
    here = asking.parent if asking.provider is None else None
    there = reached_subscription(here, where, f"the identity of {member.name}") if here else where
    # Only the check of ``there`` is needed, not its value: it fails in the wrong subscription.
    identity = pulumi.Output.all(member.identity, there).apply(lambda found: found[0])
    steps = identity.apply(lambda text: text.split("/"))
    found: pulumi.Output[Any] = managedidentity.get_user_assigned_identity_output(
        # Steps of "/subscriptions/<id>/resourceGroups/<group>/.../<name>".
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
    """Return the options of a question to the subscription ``where``; empty for that of the
    member.
    """
    if not where or where.lower() == declared.lower():
        return pulumi.InvokeOutputOptions(parent=owner)
    # A member that declares its subscription has a provider of it, so another one must come from
    # outside.
    scope = (opts.parent if opts else None) if declared else owner
    provider = subscriptions.provider(
        where, pulumi.ResourceOptions(parent=scope) if declared else opts
    )
    return pulumi.InvokeOutputOptions(parent=owner if provider else scope, provider=provider)
