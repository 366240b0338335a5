"""One object template that Karmada's policies steer: decided, then delivered to its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pulumi

from fleet_components import dynamic
from fleet_components.components.placement import DeliveryArgs
from fleet_components.components.target import Target, TargetArgs
from fleet_components.content.stamp import stamped
from fleet_components.plan.feed import Feed
from fleet_components.plan.karmada.content import emitted, retained
from fleet_components.plan.karmada.feed import feed_template
from fleet_components.plan.karmada.needs import Needs, needs_of
from fleet_components.plan.karmada.place import TemplateOutcome, TemplateRequest, place_template
from fleet_components.plan.karmada.record import Share, TemplateRecord
from fleet_components.plan.karmada.templates import is_protected
from fleet_components.rollout.describe import describe
from fleet_components.rollout.plan import Change

_IDENTITY = ("apiVersion", "kind")

Memory = pulumi.Output[Mapping[str, Any]]


@attrs.frozen
class TemplateArgs:
    """What a template is made of.

    Attributes:
        request: all that its decision depends on, but for what requires it.
        policies: the policies, as they are handed to the provider.
        needed_by: the memory of each template that takes it along; True where it does so in any case.
        delivery: what it has in common with all that a fleet delivers.
    """

    request: TemplateRequest
    policies: Feed
    needed_by: Mapping[str, tuple[Memory, bool]]
    delivery: DeliveryArgs


@attrs.frozen
class Delivered:
    """A template that was delivered.

    Attributes:
        outcome: what was decided.
        bindings: by cluster, what stands once the object stands.
    """

    outcome: TemplateOutcome
    bindings: Mapping[str, pulumi.Resource]


class Template(pulumi.ComponentResource):
    """An object template.

    Attributes:
        decisions: by cluster name: revision and replicas.
        memory: what is remembered of it.
        outcome: the whole outcome, once :meth:`deliver` was called.
    """

    decisions: pulumi.Output[Mapping[str, Mapping[str, int]]]
    memory: Memory
    outcome: pulumi.Output[TemplateOutcome]

    def __init__(self, name: str, args: TemplateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("fleet:index:Template", name, {}, opts)
        self._name, self._args, delivery = name, args, args.delivery
        parents = {parent: memory for parent, (memory, _) in args.needed_by.items()}
        always = {parent for parent, (_, in_any_case) in args.needed_by.items() if in_any_case}
        memories: pulumi.Output[Any] = pulumi.Output.from_input(parents)
        self._needs: pulumi.Output[Needs] = memories.apply(lambda found: needs_of(found, always))
        feed = feed_template(
            args.request, delivery.inventory, args.policies, limit=delivery.limit, confirm=delivery.confirm
        )
        self._decided = dynamic.Placement(
            name,
            {
                "key": f"{dynamic.TEMPLATE}{args.request.key}",
                "fleet": delivery.fleet,
                "policy": None,
                **({dynamic.PROTECTED: True} if is_protected(args.request.manifest) else {}),
                dynamic.FEED: feed,
                dynamic.REQUIRED_BY: self._needs.apply(lambda needs: needs.required_by),
            },
            pulumi.ResourceOptions(parent=self),
        )
        self.decisions, self.memory = self._decided.decisions, self._decided.memory

    def deliver(self, first: Sequence[pulumi.Output[Delivered]]) -> pulumi.Output[Delivered]:
        """Register the targets.

        Args:
            first: the templates that this one needs; on each cluster they go before it.
        """
        parts = pulumi.Output.all(self._decided.record(TemplateRecord), self._needs, *first)
        delivered: pulumi.Output[Delivered] = parts.apply(lambda found: self._deliver(found[0], found[1], found[2:]))
        self.outcome = delivered.apply(lambda done: done.outcome)
        self.register_outputs({"decisions": self.decisions})
        return delivered

    def _deliver(self, record: TemplateRecord, needs: Needs, first: Sequence[Delivered]) -> Delivered:
        request = attrs.evolve(self._args.request, required_by=needs.required_by)
        # What was decided is a fixpoint: deciding it again gives the texts and the reasons.
        outcome = place_template(request, record)
        self._report(outcome)
        bindings = {}
        for cluster, share in record.decisions.items():
            before = [done.bindings[cluster] for done in first if cluster in done.bindings]
            held = outcome.rollout.entries[cluster].change is Change.HELD
            bindings[cluster] = self._target(record, needs, cluster, share, before, held=held).binding
        return Delivered(outcome, bindings)

    def _target(
        self,
        record: TemplateRecord,
        needs: Needs,
        cluster: str,
        share: Share,
        after: Sequence[pulumi.Resource],
        *,
        held: bool,
    ) -> Target:
        delivery, request = self._args.delivery, self._args.request
        position = request.inventory.position(cluster) or 0
        overwrite = needs.overwrites(record.memory, request.manifest)
        member = request.inventory.clusters[position]
        content = record.contents[share.revision]
        data = emitted(content, share, member, overwrite=overwrite)
        delivery.owners.take(cluster, [data], request.key)
        stamp = {"stack": delivery.stack, "placement": request.key}
        target = TargetArgs(
            fleet=delivery.fleet,
            placement=request.key,
            cluster=cluster,
            revision=share.revision,
            objects=[delivery.transform(stamped(data, **stamp))],
            provider=delivery.provider_of(cluster, adopts=overwrite or not request.manifest.namespace),
            keep_cluster_resources=delivery.keep_cluster_resources,
            keep=needs.preserves(record.memory),
            replicas=share.replicas,
            completions=share.completions,
            # Overrides may select the member by a label that it got since: what is held stays as it is all the same.
            left_alone=[part for part in data if part not in _IDENTITY] if held else retained(content),
        )
        return Target(f"{self._name}@{cluster}", target, after, pulumi.ResourceOptions(parent=self))

    def _report(self, outcome: TemplateOutcome) -> None:
        moves = any(entry.change is not Change.KEEP for entry in outcome.rollout.entries.values())
        lines = [*describe(outcome.rollout), *_division(outcome, self._args.request)] if moves else []
        lines += [f"{cluster}: {words}" for cluster, words in outcome.due.items()]
        lines += [outcome.left] if outcome.left else []
        if lines:
            pulumi.log.info("\n".join((f"{self._name}:", *lines)), self)
        if outcome.failure:
            pulumi.log.warn(outcome.failure, self)


def _division(outcome: TemplateOutcome, request: TemplateRequest) -> Sequence[str]:
    """The replicas of each member, with those that it has now where they differ."""
    if retained(outcome.record.contents[outcome.record.revision]):
        return ["replicas: each member keeps those that it has, as a label of the object asks"]
    shares = {c: share.replicas for c, share in outcome.record.decisions.items() if share.replicas is not None}
    before = {cluster: done.replicas for cluster, done in request.done.items()}
    words = [f"{c} {n}" + (f" (has {before[c]})" if before.get(c, n) != n else "") for c, n in shares.items()]
    return [f"replicas: {', '.join(words)}"] if words else []
