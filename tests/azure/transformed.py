"""A program whose resources are changed by transforms of every place, and that tells what these have seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
from pulumi import ResourceOptions, ResourceTransformArgs, ResourceTransformResult
from pulumi.runtime import register_invoke_transform, register_resource_transform
from pulumi_azure_native import resources

from fleet_components.azure import AksMember, AzureFleet, AzureFleetArgs, AzureHubArgs, NodePool

CLUSTER = "azure-native:containerservice:ManagedCluster"
GROUP = "azure-native:resources:ResourceGroup"
POOL = "azure-native:containerservice:AgentPool"
TAGS = {"legacy": "yes", "fleet": "yes", "above": "yes", "stack": "yes"}
"""Tags of the cluster that only transforms add."""


class Above(pulumi.ComponentResource):
    """A component around the fleet, with transforms of its own."""

    def __init__(self, name: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("my:index:Above", name, {}, opts)


def declare(tell: Callable[[str], Any]) -> None:
    """Declare a fleet of one member and two more resource groups.

    Args:
        tell: is called with what a transform has seen, in one line.
    """

    def tagging(tag: str) -> Any:
        async def transform(args: ResourceTransformArgs) -> ResourceTransformResult | None:
            if args.type_ != CLUSTER:
                return None
            tell(f"cluster {tag}")
            tags: Any = args.props.get("tags") or {}
            return ResourceTransformResult({**args.props, "tags": {**tags, tag: "yes"}}, args.opts)

        return transform

    def legacy(
        args: pulumi.ResourceTransformationArgs,
    ) -> pulumi.ResourceTransformationResult | None:
        if args.type_ != CLUSTER:
            return None
        return pulumi.ResourceTransformationResult(
            {**args.props, "tags": {"legacy": "yes"}}, args.opts
        )

    def keeping(args: ResourceTransformArgs) -> ResourceTransformResult | None:
        if args.type_ != POOL:
            return None
        opts = ResourceOptions.merge(
            args.opts, ResourceOptions(retain_on_delete=True, ignore_changes=["count"])
        )
        return ResourceTransformResult(args.props, opts)

    def looking(args: Any) -> Any:
        if args.type_ == GROUP and args.name.startswith("see-"):
            for key in sorted(args.props):
                tell(
                    f"{args.name} {key} {'output' if isinstance(args.props[key], pulumi.Output) else 'plain'}"
                )

    def calling(args: pulumi.InvokeTransformArgs) -> pulumi.InvokeTransformResult | None:
        tell(f"call {args.token}")
        return None

    register_resource_transform(tagging("stack"))
    register_invoke_transform(calling)
    above = Above("above", ResourceOptions(transforms=[tagging("above"), keeping, looking]))
    options = ResourceOptions(parent=above, transforms=[tagging("fleet")], transformations=[legacy])
    AzureFleet(
        "shop",
        AzureFleetArgs(
            hub=AzureHubArgs(resource_group="rg", region="westeurope"), members=(MEMBER,)
        ),
        options,
    )
    first = resources.ResourceGroup("first", resource_group_name="first", location="westeurope")
    places: dict[str, list[Any]] = {"see-own": [looking], "see-inherited": []}
    for name, own in places.items():
        resources.ResourceGroup(
            name,
            resource_group_name=name,
            location=pulumi.Output.secret("westeurope"),
            managed_by=first.id,
            tags={"plain": "yes"},
            opts=ResourceOptions(parent=above, transforms=own),
        )


MEMBER = AksMember(
    name="weu-1",
    region="westeurope",
    resource_group="rg",
    system_pool=NodePool("system", "Standard_D4s_v5", count=3),
    pools=(NodePool("apps", "Standard_D4s_v5", count=1),),
)
