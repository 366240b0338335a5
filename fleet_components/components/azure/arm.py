"""The children of a fleet, at the API version whose fields they need.

The SDK's own classes for them speak 2024-05-02-preview, which knows no labels of members, no approvals and no
concurrency. The generic resource of the SDK sends the same requests at any version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import resources

FLEET_API = "2026-06-01"

_SET_BY_AZURE = ("provisioningState", "status", "autoUpgradeProfileStatus", "autoUpgradeProfileId")


@attrs.frozen(eq=False)
class FleetAddress:
    """Where the children of a fleet are declared: plain names, so that a preview shows them.

    Attributes:
        resource_group: the fleet's resource group.
        name: its name.
        fleet: the fleet itself, which they wait for.
    """

    resource_group: str
    name: str
    fleet: pulumi.Resource


def children_of(component: pulumi.Resource, opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """The options of a component's children: they belong to it, and wait for what it was told to wait for."""
    return pulumi.ResourceOptions(parent=component, depends_on=opts.depends_on if opts else None)


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
        kind: its type under the fleet, as in ``members``.
        azure_name: its name in Azure.
        fleet: the fleet.
        properties: the ``properties`` of the request.
        opts: resource options.
        ignored: fields of ``properties`` that Azure changes by itself, besides its status.
    """
    quiet = pulumi.ResourceOptions(
        depends_on=[fleet.fleet],
        ignore_changes=[f"properties.{field}" for field in (*_SET_BY_AZURE, *ignored)],
    )
    return resources.Resource(
        name,
        api_version=FLEET_API,
        resource_group_name=fleet.resource_group,
        resource_provider_namespace="Microsoft.ContainerService",
        parent_resource_path=f"fleets/{fleet.name}",
        resource_type=kind,
        resource_name_=azure_name,
        properties=properties,
        opts=pulumi.ResourceOptions.merge(opts, quiet),
    )
