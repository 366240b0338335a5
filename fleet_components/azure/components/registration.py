"""Registration of a member in its fleet: labels and update group in Azure, taints on the hub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource, CustomResourcePatch

from fleet_components.azure.components.arm import fleet_child
from fleet_components.azure.components.hub import AzureHub, OwnHub
from fleet_components.azure.values.member import FleetMember
from fleet_components.model.cluster import Taint

NOT_READY = Taint("fleet-components/not-ready")
"""Taint that keeps work off a new member until everything that its registration waits for
exists.
"""

_API_VERSION, _KIND = "cluster.kubernetes-fleet.io/v1", "MemberCluster"
# patchForce takes fields over that another field manager has set.
_OUR_FIELDS = {"pulumi.com/patchFieldManager": "fleet-components", "pulumi.com/patchForce": "true"}


def register(
    name: str,
    member: FleetMember,
    cluster_id: pulumi.Input[str] | None,
    hub: AzureHub | OwnHub,
    ready: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions,
) -> None:
    """Join a member to a fleet and set its labels, update group and taints.

    On a hub, the member first has the taint :data:`NOT_READY` besides its own. Once the ``ready``
    resources exist, in the same update, only its own remain. Both steps write nothing but
    ``spec.taints``, under one field manager.

    Args:
        name: prefix of all Pulumi names.
        member: the declared member.
        cluster_id: the resource ID of its cluster; not used by a hub of one's own.
        hub: the hub of the fleet to join.
        ready: resources that must exist before work may come.
        opts: resource options; the parent is the member's component.
    """
    if isinstance(hub, AzureHub):
        entry = _azure_entry(f"{name}-member", member, cluster_id, hub, opts)
    else:
        entry = _own_entry(f"{name}-member", member, hub, opts)
    # A hubless fleet has no MemberCluster objects, so nothing to taint.
    if hub.provider is None:
        return
    # With later changes ignored, the first step acts only once; afterwards the second one owns the
    # taints.
    once = pulumi.ResourceOptions(ignore_changes=["spec.taints"])
    first = _taints(
        f"{name}-not-ready", member, (NOT_READY, *member.taints), hub, [entry], opts, once
    )
    _taints(f"{name}-taints", member, member.taints, hub, [first, *ready], opts)


def _azure_entry(
    name: str,
    member: FleetMember,
    cluster_id: pulumi.Input[str] | None,
    hub: AzureHub,
    opts: pulumi.ResourceOptions,
) -> pulumi.Resource:
    properties: dict[str, Any] = {"clusterResourceId": cluster_id, "labels": dict(member.labels)}
    if member.group:
        properties["group"] = member.group
    entry: pulumi.Resource = fleet_child(
        name, "members", member.name, hub.address, properties, opts
    )
    return entry


def _own_entry(
    name: str, member: FleetMember, hub: OwnHub, opts: pulumi.ResourceOptions
) -> pulumi.Resource:
    return CustomResource(
        name,
        api_version=_API_VERSION,
        kind=_KIND,
        metadata={"name": member.name, "labels": dict(member.labels)},
        spec={"identity": hub.member_identity(member.name)},
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=hub.provider)),
    )


def _taints(
    name: str,
    member: FleetMember,
    taints: Sequence[Taint],
    hub: AzureHub | OwnHub,
    after: list[pulumi.Resource],
    *opts: pulumi.ResourceOptions,
) -> pulumi.Resource:
    merged = pulumi.ResourceOptions(provider=hub.provider, depends_on=after)
    for each in opts:
        merged = pulumi.ResourceOptions.merge(merged, each)
    return CustomResourcePatch(
        name,
        api_version=_API_VERSION,
        kind=_KIND,
        metadata={"name": member.name, "annotations": _OUR_FIELDS},
        spec={"taints": [_wire(taint) for taint in taints]},
        opts=merged,
    )


def _wire(taint: Taint) -> dict[str, str]:
    fields = {"key": taint.key, "value": taint.value, "effect": taint.effect}
    return {field: value for field, value in fields.items() if value}
