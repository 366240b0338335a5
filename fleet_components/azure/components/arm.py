"""Azure resources of a fleet and its children, at one generally available API version.

The SDK's own classes for them use 2024-05-02-preview, a preview version that may be retired and that lacks labels of
members, approvals and concurrency. The SDK's generic resource sends the same requests at any version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import resources

from fleet_components.azure.components.subscription import through

FLEET_API = "2026-06-01"
RESOURCE = "azure-native:resources:Resource"
"""The type of the SDK's generic resource."""

_SET_BY_AZURE = (
    *("provisioningState", "status", "autoUpgradeProfileStatus", "autoUpgradeProfileId"),
    *("hubProfile.fqdn", "hubProfile.kubernetesVersion", "hubProfile.portalFqdn"),
)


@attrs.frozen(eq=False)
class FleetAddress:
    """Address of a fleet in Azure, for the declaration of its children; plain names, so that a preview shows them.

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


def children_of(component: pulumi.Resource, opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """Return the options of a component's children: the component as parent, and the dependencies it was given."""
    return pulumi.ResourceOptions(parent=component, depends_on=opts.depends_on if opts else None)


def of_component(opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """Return the options of a component itself: only its children wait for dependencies, and its checks for none."""
    options = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(), opts)
    options.depends_on = None
    return options


def fleet_resource(
    name: str, group: str, azure_name: str, properties: Mapping[str, Any], opts: pulumi.ResourceOptions, **top: Any
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
        ignored: fields of ``properties`` that Azure changes by itself, in addition to its status fields.
    """
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
    quiet = pulumi.ResourceOptions(ignore_changes=[f"properties.{field}" for field in (*_SET_BY_AZURE, *ignored)])
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
