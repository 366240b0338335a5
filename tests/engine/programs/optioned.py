"""A program that gives its fleet one resource option after the other, and in which other things wait for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
from pulumi import Alias, ResourceOptions
from pulumi.runtime import register_resource_transform
from pulumi_kubernetes import Provider
from pulumi_kubernetes.core.v1 import ConfigMap

from fleet_components import Fleet
from fleet_components.testing import kubeconfig

own = pulumi.Config("own")
beside = Provider("beside", kubeconfig=kubeconfig("beside"), cluster_identifier="beside")


class App(pulumi.ComponentResource):
    """What a fleet may be part of."""

    def __init__(self, name: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("my:index:App", name, {}, opts)


def config_map(name: str, data: dict[str, pulumi.Input[str]], *after: pulumi.Resource) -> ConfigMap:
    opts = ResourceOptions(provider=beside, depends_on=list(after))
    return ConfigMap(name, metadata={"name": name, "namespace": "beside"}, data=data, opts=opts)


def text(value: pulumi.Output[Any]) -> pulumi.Output[str]:
    return value.apply(lambda known: json.dumps(known, sort_keys=True))


def labelled(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Every object gets a label, and a Deployment keeps the replicas and the image that it has."""
    if not args.type_.startswith("kubernetes:"):
        return None
    props: Any = args.props
    metadata = {**props["metadata"], "labels": {"team": "one"}}
    left_alone = (
        ["spec.replicas", "spec.template.spec.containers[0].image", 'metadata["x.y/z"]']
        if args.type_.endswith(":Deployment")
        else []
    )
    opts = ResourceOptions.merge(
        args.opts, ResourceOptions(ignore_changes=left_alone, protect=bool(left_alone))
    )
    return pulumi.ResourceTransformResult({**props, "metadata": metadata}, opts)


async def annotated(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """A second one, which is awaited, and sees what the first has made."""
    props: Any = args.props
    labels = (props.get("metadata") or {}).get("labels")
    if not labels:
        return None
    metadata = {**props["metadata"], "annotations": {"seen": "-".join(labels)}}
    return pulumi.ResourceTransformResult({**props, "metadata": metadata}, args.opts)


def legacy(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    props: Any = args.props
    if not args.type_.startswith("kubernetes:") or "metadata" not in props:
        return None
    metadata = {**props["metadata"], "labels": {"legacy": "yes"}}
    return pulumi.ResourceTransformationResult({**props, "metadata": metadata}, args.opts)


OPTIONS: dict[str, Callable[[], ResourceOptions | None]] = {
    "": lambda: None,
    "depends_on": lambda: ResourceOptions(depends_on=[config_map("first", {})]),
    "transforms": lambda: ResourceOptions(transforms=[labelled, annotated]),
    "transformations": lambda: ResourceOptions(transformations=[legacy]),
    "of the stack": lambda: register_resource_transform(labelled),
    "of a parent": lambda: ResourceOptions(
        parent=App(
            "app", ResourceOptions(transforms=[labelled], protect=True, retain_on_delete=True)
        )
    ),
    "protect": lambda: ResourceOptions(protect=True),
    "unprotected": lambda: ResourceOptions(protect=False),
    "providers": lambda: ResourceOptions(
        providers=[pulumi.ProviderResource("pulumi-python", "mine", {})]
    ),
    "parent": lambda: ResourceOptions(parent=App("app")),
    "aliases": lambda: ResourceOptions(aliases=[Alias(name="dev")]),
}

made = Fleet.from_config(own.get("name") or "dev", OPTIONS[own.get("option") or ""]())
shop = made.placements["shop"]
config_map("after-all", {"delivered": text(made.delivered)})
config_map("after-one", {"delivered": text(shop.delivered)})
config_map("ordered", {"image": own.get("image") or "web:1"}, made)
config_map("ordered-too", {"image": own.get("image") or "web:1"}, shop)
pulumi.export("delivered", made.delivered)
pulumi.export("shop", shop.delivered)
