"""One placement of a fleet: decided, then delivered to its clusters wave by wave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

import attrs
import pulumi

from fleet_components import dynamic
from fleet_components.components.refusal import refusing
from fleet_components.components.target import After, Target, TargetArgs
from fleet_components.content.stamp import stamped
from fleet_components.delivery.barrier import between
from fleet_components.delivery.owners import Owners
from fleet_components.model.codec import encode
from fleet_components.plan.feed import Feed, feed_request
from fleet_components.plan.place import Outcome, Request, place
from fleet_components.plan.record import Record
from fleet_components.rollout.describe import describe
from fleet_components.rollout.plan import Change, Placed


class ProviderOf(Protocol):
    """Gives the Kubernetes provider of a member."""

    def __call__(self, cluster: str, *, adopts: bool = True) -> pulumi.ProviderResource:
        """The provider that takes up what is there already, or the one that refuses it."""


@attrs.frozen
class DeliveryArgs:
    """What all placements of a fleet have in common.

    Attributes:
        fleet: the fleet's name.
        stack: the stack, as ``organization/project/stack``.
        inventory: the members, as they are handed to the providers.
        provider_of: gives the Kubernetes provider of a member.
        limit: the share of its clusters that a placement may lose at once.
        confirm: tokens of refused losses that are meant.
        keep_cluster_resources: whether cluster-scoped objects outlive their placement.
        transform: last change to an object before it is emitted.
        owners: who brings which object where, so that no two placements of the fleet bring the same.
    """

    fleet: str
    stack: str
    inventory: Feed
    provider_of: ProviderOf
    limit: float = 0.5
    confirm: tuple[str, ...] = ()
    keep_cluster_resources: bool = True
    transform: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    owners: Owners = attrs.field(factory=Owners)


@attrs.frozen
class PlacementArgs:
    """What a placement is made of.

    Attributes:
        request: all that its decision depends on.
        kind: ClusterResourcePlacement or ResourcePlacement.
        delivery: what it has in common with the others.
    """

    request: Request
    kind: str
    delivery: DeliveryArgs


class Placement(pulumi.ComponentResource):
    """A placement.

    Attributes:
        decisions: by cluster name: rank, wave and revision.
        outcome: the whole outcome, for programs that want to know why.
    """

    decisions: pulumi.Output[Mapping[str, Mapping[str, int]]]
    outcome: pulumi.Output[Outcome]

    def __init__(self, name: str, args: PlacementArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("fleet:index:Placement", name, {}, opts)
        request, delivery = args.request, args.delivery
        feed = feed_request(request, delivery.inventory, limit=delivery.limit, confirm=delivery.confirm)
        decided = dynamic.Placement(
            name,
            {
                "key": f"{args.kind}/{request.key}",
                "policy": encode(request.policy) if request.policy else {},
                "strategy": encode(request.strategy),
                dynamic.FEED: feed,
            },
            pulumi.ResourceOptions(parent=self),
        )
        self.decisions = decided.decisions
        self.outcome = decided.record(Record).apply(_Delivery(name, args, self).deliver)
        self.register_outputs({"decisions": self.decisions})


@attrs.frozen
class _Delivery:
    """The second half of a placement: what is registered once it is decided."""

    name: str
    args: PlacementArgs
    parent: Placement

    @refusing()
    def deliver(self, record: Record) -> Outcome:
        """Register the targets, wave by wave."""
        # What was decided is a fixpoint: deciding it again gives the texts, the waits and the reasons.
        outcome = place(self.args.request, record)
        self._own(record)
        self._report(outcome)
        waits = {wave.number: wave.wait_seconds for wave in outcome.rollout.waves}
        before: list[pulumi.Resource] = []
        seconds = 0
        for number, clusters in _waves(record.decisions):
            if before:
                size = sum(len(record.contents[placed.revision]) for _, placed in clusters)
                before = between(f"{self.name}/wave-{number}", before, size, self.parent)
            after = self._waited(before, seconds)
            before = [self._target(record, cluster, placed, after).binding for cluster, placed in clusters]
            seconds = waits.get(number, 0)
        return outcome

    def _own(self, record: Record) -> None:
        owner = f"{self.args.kind}/{self.args.request.key}"
        for cluster, placed in record.decisions.items():
            self.args.delivery.owners.take(cluster, record.contents[placed.revision], owner)

    def _target(self, record: Record, cluster: str, placed: Placed, after: After) -> Target:
        args, request = self.args.delivery, self.args.request
        stamp = {"stack": args.stack, "placement": f"{self.args.kind}/{request.key}"}
        as_of = request.gates.as_of
        target = TargetArgs(
            fleet=args.fleet,
            placement=request.key,
            cluster=cluster,
            revision=placed.revision,
            objects=[args.transform(stamped(data, **stamp)) for data in record.contents[placed.revision]],
            provider=args.provider_of(cluster),
            keep_cluster_resources=args.keep_cluster_resources,
            since=as_of.isoformat() if as_of else None,
        )
        return Target(f"{self.name}@{cluster}", target, after, pulumi.ResourceOptions(parent=self.parent))

    def _waited(self, before: Sequence[pulumi.Resource], seconds: int) -> After:
        """The same resources, once the time after them is over; no resource stands for it, so none is left over."""
        if not seconds or pulumi.runtime.is_dry_run():
            return before

        async def wait(_: Any) -> bool:
            pulumi.log.info(f"waiting {seconds} s before the next wave", self.parent)
            await asyncio.sleep(seconds)
            return True

        waited: pulumi.Output[bool] = pulumi.Output.all(*(resource.urn for resource in before)).apply(wait)

        def once_over(resource: pulumi.Resource) -> pulumi.Output[pulumi.Resource]:
            return waited.apply(lambda _: resource)

        return [once_over(resource) for resource in before]

    def _report(self, outcome: Outcome) -> None:
        if any(entry.change is not Change.KEEP for entry in outcome.rollout.entries.values()):
            pulumi.log.info("\n".join((f"{self.args.request.key}:", *describe(outcome.rollout))), self.parent)


def _waves(decisions: Mapping[str, Placed]) -> list[tuple[int, list[tuple[str, Placed]]]]:
    ordered = sorted(decisions.items(), key=lambda item: (item[1].wave, item[0]))
    return [(number, list(group)) for number, group in groupby(ordered, key=lambda item: item[1].wave)]
