"""One placement or template on one member: its objects, phase by phase, and the binding that says that they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import pulumi

from fleet_components.components.barrier import between
from fleet_components.components.former import Former
from fleet_components.components.live import Leftover
from fleet_components.components.objects import KubernetesObject, provider_version, sealed
from fleet_components.components.replacing import trial_ignored, untried
from fleet_components.content.order import phases
from fleet_components.dynamic import Binding
from fleet_components.model.manifest import Manifest
from fleet_components.plan import names
from fleet_components.plan.past import ALL, CLUSTER_SCOPED
from fleet_components.plan.record import FORMAT
from fleet_components.plan.subject import Decided, Delivery

After = Sequence[pulumi.Input[pulumi.Resource]]
"""Resources that come first."""


@attrs.frozen
class TargetArgs:
    """What goes to the member.

    Attributes:
        fleet: the fleet's name.
        decided: the placement or template.
        cluster: the member's name.
        objects: the objects, as they are registered.
        provider: the provider of the member.
        former: where the resources were registered before.
        clear: deletes objects of the member that are kept otherwise.
        keeps: which objects outlive it: ``all``, ``cluster-scoped``, or none where it is empty.
        since: the time of this update, for stages that wait; None where there is no time.
    """

    fleet: str
    decided: Decided
    cluster: str
    objects: Sequence[Mapping[str, Any]]
    provider: pulumi.ProviderResource
    former: Former
    clear: Callable[[Sequence[Leftover]], pulumi.Output[Any]]
    keeps: str = ""
    since: str | None = None

    @property
    def delivery(self) -> Delivery:
        """What the member gets, and how."""
        return self.decided.deliveries[self.cluster]


class Target(pulumi.ComponentResource):
    """A placement or template on a member.

    Attributes:
        binding: registered once every object stands; later waves depend on it.
    """

    binding: Binding

    def __init__(self, args: TargetArgs, after: After, parent: pulumi.Resource) -> None:
        key = args.decided.subject.key
        self._name = names.target_name(args.fleet, key, args.cluster)
        self._formerly = args.former.target(key, args.cluster)
        alias = args.former.alias(names.TARGET, self._name, self._formerly)
        # It waits as well: nothing of an update that is refused while it runs is to be left in the state.
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(parent=parent, depends_on=list(after)), alias)
        super().__init__(names.TARGET, self._name, {}, opts)
        placed: list[pulumi.Resource] = []
        before = after
        for number, group in phases([Manifest(data) for data in args.objects]):
            if placed:
                before = between(f"{self._name}/phase-{number}", placed, len(group), self)
            placed = []
            for manifest in group:
                placed.append(KubernetesObject(*self._object(args, manifest, before)))
        self.binding = self._bind(args, placed or before)
        self.register_outputs({})

    def _object(
        self, args: TargetArgs, manifest: Manifest, before: After
    ) -> tuple[str, Mapping[str, Any], pulumi.ResourceOptions]:
        """Name, data and options of an object."""
        data = manifest.data
        name = f"{self._name}/{names.short_name(manifest.key)}"
        retained = args.keeps == ALL or (args.keeps == CLUSTER_SCOPED and not manifest.namespace)
        replaced = args.former.plan.replaced.get((args.cluster, manifest.key))
        if replaced and retained:
            before = self._cleared(args, manifest, before)
        # The provider knows some fields itself that force a replacement; for others it has to be asked.
        asked = bool(replaced and replaced.asked)
        component = names.component_type(args.decided.subject.COMPONENT)
        options = pulumi.ResourceOptions(
            parent=self,
            provider=args.provider,
            version=provider_version(),
            aliases=[*args.former.object_aliases(component, args.cluster, name, data)],
            depends_on=list(before),
            ignore_changes=[*args.delivery.left_alone, *(trial_ignored() if replaced else ())],
            retain_on_delete=retained,
            replace_on_changes=list(replaced.fields) if replaced and asked else None,
            delete_before_replace=asked or None,
        )
        return name, sealed(untried(data) if replaced else data), options

    def _cleared(self, args: TargetArgs, manifest: Manifest, before: After) -> After:
        """The same resources, once the object that is kept otherwise is gone, so that it can be made anew."""
        key = manifest.key
        gone = args.clear([Leftover(manifest.api_version, key.kind, key.namespace, key.name)])

        def once_gone(resource: pulumi.Input[pulumi.Resource]) -> pulumi.Output[pulumi.Resource]:
            return pulumi.Output.all(gone, resource).apply(lambda found: found[1])

        return [once_gone(resource) for resource in before]

    def _bind(self, args: TargetArgs, placed: After) -> Binding:
        placed_as = args.decided.record.decisions[args.cluster]
        replicas, completions = getattr(placed_as, "replicas", None), getattr(placed_as, "completions", None)
        props = {
            "key": self._name,
            "format": FORMAT,
            "fleet": args.fleet,
            "subject": args.decided.name,
            "cluster": args.cluster,
            "revision": placed_as.revision,
            **({"keeps": args.keeps} if args.keeps else {}),
            **({"since": args.since} if args.since else {}),
            **({} if replicas is None else {"replicas": replicas}),
            **({} if completions is None else {"completions": completions}),
        }
        alias = args.former.alias(names.BINDING, self._name, self._formerly)
        options = pulumi.ResourceOptions(parent=self, depends_on=list(placed))
        return Binding(self._name, props, pulumi.ResourceOptions.merge(options, alias))
