"""One placement on one cluster: its objects, phase by phase, and the binding that says that they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pulumi

from fleet_components.content.order import phases
from fleet_components.delivery.barrier import between
from fleet_components.delivery.objects import KubernetesObject, object_name, sealed
from fleet_components.dynamic import Binding
from fleet_components.model.manifest import Manifest

After = Sequence[pulumi.Input[pulumi.Resource]]
"""Resources that come first."""


@attrs.frozen
class TargetArgs:
    """What goes to the cluster.

    Attributes:
        fleet: the fleet's name.
        placement: the placement's key.
        cluster: the member's name.
        revision: the revision that the objects are of.
        objects: the objects, as they are to be emitted.
        provider: the provider of the member.
        keep_cluster_resources: whether namespaces and other cluster-scoped objects outlive the placement.
        since: the time of this update, for stages that wait; None where there is no time.
        keep: whether all objects outlive the placement.
        replicas: the replicas that the cluster was given, to be recorded; None where they are not set for each.
        completions: the same of a Job's completions.
        left_alone: fields that stay as they are on the cluster once the objects are there, as ``spec.replicas``.
    """

    fleet: str
    placement: str
    cluster: str
    revision: int
    objects: Sequence[Mapping[str, Any]]
    provider: pulumi.ProviderResource
    keep_cluster_resources: bool = True
    since: str | None = None
    keep: bool = False
    replicas: int | None = None
    completions: int | None = None
    left_alone: Sequence[str] = ()


class Target(pulumi.ComponentResource):
    """A placement on a cluster.

    Attributes:
        binding: registered once every object stands; later waves depend on it.
    """

    binding: Binding

    def __init__(self, name: str, args: TargetArgs, after: After, opts: pulumi.ResourceOptions) -> None:
        super().__init__("fleet:index:Target", name, {}, opts)
        placed: list[pulumi.Resource] = []
        before = after
        for number, group in phases([Manifest(data) for data in args.objects]):
            if placed:
                before = between(f"{name}/phase-{number}", placed, len(group), self)
            placed = [self._object(name, args, manifest, before) for manifest in group]
        self.binding = self._bind(name, args, placed or before)
        self.register_outputs({})

    def _object(self, name: str, args: TargetArgs, manifest: Manifest, before: After) -> KubernetesObject:
        options = pulumi.ResourceOptions(
            parent=self,
            provider=args.provider,
            depends_on=list(before),
            ignore_changes=list(args.left_alone),
            retain_on_delete=args.keep or (args.keep_cluster_resources and not manifest.namespace),
        )
        return KubernetesObject(f"{name}/{object_name(manifest.data)}", sealed(manifest.data), options)

    def _bind(self, name: str, args: TargetArgs, placed: After) -> Binding:
        props = {
            "key": name,
            "fleet": args.fleet,
            "placement": args.placement,
            "cluster": args.cluster,
            "revision": args.revision,
            **({"since": args.since} if args.since else {}),
            **({} if args.replicas is None else {"replicas": args.replicas}),
            **({} if args.completions is None else {"completions": args.completions}),
        }
        return Binding(name, props, pulumi.ResourceOptions(parent=self, depends_on=list(placed)))
