"""Delivery of one placement or template of a fleet to its members, wave by wave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import pulumi

from fleet_components import dynamic
from fleet_components.components.handing_over import Arrivals, EarlierNames, between
from fleet_components.components.providers import MemberProviders
from fleet_components.components.target import After, Target, TargetArgs
from fleet_components.live.connection import Leftover
from fleet_components.model.codec import encode
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.observed import ObservedMember
from fleet_components.model.text import visible
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.delivered import forecast_of
from fleet_components.plan.describe import describe_subject, heading
from fleet_components.plan.drift import left_alone
from fleet_components.plan.feed import Feed, feed_subject
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.precedence import waves
from fleet_components.plan.record import Objects
from fleet_components.plan.subject import Decided

_DECISIONS: Mapping[str, type[dynamic.Placement | dynamic.Template]] = {
    "Placement": dynamic.Placement,
    "Template": dynamic.Template,
}


@attrs.frozen
class DeliveryArgs:
    """Arguments that all deliveries of a fleet share.

    Attributes:
        fleet: the fleet's name.
        plan: the plan.
        inventory: the members, as they are handed to the dynamic providers.
        providers: the Kubernetes providers of the members.
        earlier: former names and URNs of the resources.
        after: resources to wait for: the checks that every member is still the same cluster.
        tries: tries the new form of an object on a member that has to recreate it.
        clear: deletes retained objects from a member that have to be recreated.
        marks: returns the transforms that mark an object that stood on a member before.
        aliases: returns the URN under which another resource of the stack has an object of a
            member.
        compare: compares objects with those on a member.
        hooks: returns the hooks around updates of the objects of a member; None for none.
        ready_timeout: the longest time in seconds that each object may take to become ready, or to
            be gone.
        arrivals: the objects of all subjects, by member.
        transform: applied to each object before it is registered.
        recorded: by ``Kind/key``, whether the decision of a subject is recorded; filled while
            subjects are registered.
    """

    fleet: str
    plan: FleetPlan
    inventory: Feed
    providers: MemberProviders
    earlier: EarlierNames
    after: Sequence[pulumi.Resource]
    tries: Callable[[str, Mapping[str, Any], ApplyMode, pulumi.Output[Any]], pulumi.Output[Any]]
    clear: Callable[[str, Sequence[Leftover], pulumi.Output[Any]], pulumi.Output[Any]]
    marks: Callable[[str, ObjectKey], list[pulumi.ResourceTransform]]
    aliases: Callable[[str, ObjectKey], list[pulumi.Input[str]]]
    compare: Callable[
        [str, Objects, ApplyMode, pulumi.Output[Any]], pulumi.Output[ObservedMember | None]
    ]
    hooks: Callable[[str], pulumi.ResourceHookBinding | None]
    ready_timeout: int
    arrivals: Arrivals
    transform: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    recorded: dict[str, Callable[[], Awaitable[bool]]] = attrs.field(factory=dict)

    async def unrecorded(self) -> list[str]:
        """Return the subjects whose decisions this update leaves out, although they change."""
        return sorted(
            [name for name, is_recorded in self.recorded.items() if not await is_recorded()]
        )


class SubjectDelivery(pulumi.ComponentResource):
    """Component of one placement or template: its decision, its objects and its bindings.

    Resources that depend on it (``depends_on=[placement]``) wait for the objects and bindings of
    all waves. They do not wait for what this update does not do: a held member keeps what it has,
    and objects that leave a member are deleted at the end of the update. See "What waits for a
    fleet" in ``docs/delivery.md``.

    Attributes:
        delivered: by member name, the revision that runs there. Known once every object of every
            wave stands; in a preview at once, as planned. A held member has the revision that it
            keeps; a member that is left has none, although its objects are deleted later. Through a
            hub it is the forecast.
        decisions: by member name: rank, wave and revision of a placement; revision and replicas of
            a template.
        decided: the decision and its reasons, known at once.
        targets: by member name, the component of the member, with the binding that is registered
            once all of its objects stand.
        last: the bindings of the last wave, which come after all others; the decision if there are
            none.
    """

    delivered: pulumi.Output[Mapping[str, int]]
    decisions: pulumi.Output[Mapping[str, Mapping[str, int]]]
    decided: Decided
    targets: Mapping[str, Target]
    last: Sequence[pulumi.Resource]

    def __init__(
        self,
        decided: Decided,
        args: DeliveryArgs,
        first: Sequence[SubjectDelivery],
        parent: pulumi.Resource,
    ) -> None:
        subject = decided.subject
        self._name = names.subject_name(args.fleet, subject.key)
        self._formerly = args.earlier.subject(subject.key)
        token = names.component_type(subject.COMPONENT)
        alias = args.earlier.alias(token, self._name, self._formerly)
        # The component waits as well: if a member is found to be another cluster, nothing of it is
        # in the state.
        opts = pulumi.ResourceOptions(parent=parent, depends_on=list(args.after))
        opts = pulumi.ResourceOptions.merge(opts, alias)
        super().__init__(token, self._name, {}, opts)
        self.decided, self._args = decided, args
        self._left_alone = left_alone(args.plan, decided)
        decision = self._decide()
        self.decisions = decision.decisions
        self._args.recorded[decided.name] = self._is_recorded
        self.targets, self.last = self._deliver(decision, first)
        self.delivered = self._delivered(decision)
        self._report()
        self.register_outputs({"decisions": self.decisions})

    def _decide(self) -> dynamic.Placement | dynamic.Template:
        subject, past = self.decided.subject, self._args.plan.past
        kind = _DECISIONS[subject.COMPONENT]
        token = names.decision_type(subject.COMPONENT)
        props = {
            "key": subject.name,
            "fleet": self._args.fleet,
            **subject.shown(),
            **({"protected": True} if subject.protected else {}),
            **(
                {"formerly": list(formerly)}
                if (formerly := past.formerly.get(subject.name))
                else {}
            ),
            **({"plugins": list(subject.plugins)} if subject.plugins else {}),
            **forecast_of(self.decided),
            dynamic.FEED: feed_subject(
                self.decided,
                self._args.inventory,
                self._args.plan.renames.members,
                observed=subject.name in past.observed,
            ),
        }
        alias = self._args.earlier.alias(token, self._name, self._formerly)
        return kind(
            self._name,
            props,
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(parent=self), alias),
        )

    async def _is_recorded(self) -> bool:
        """Return whether the decision is recorded as planned, and not left out; True while it is
        not known.
        """
        found = await self.decisions.future()
        planned = {
            cluster: encode(placed) for cluster, placed in self.decided.record.decisions.items()
        }
        return found is None or dict(found) == planned

    def _deliver(
        self, decision: pulumi.Resource, first: Sequence[SubjectDelivery]
    ) -> tuple[dict[str, Target], Sequence[pulumi.Resource]]:
        """Register the targets wave by wave; none is registered if the decision is refused.

        Returns:
            The targets by member, and the bindings of the last wave, or the decision if there are
            none.
        """
        if self.decided.hub:
            return {}, [decision]
        targets: dict[str, Target] = {}
        waits = {wave.number: wave.wait_seconds for wave in self.decided.outcome.rollout.waves}
        before: list[pulumi.Resource] = []
        seconds = 0
        # Not inside an ``apply`` of the decisions: while these are unknown, a preview would show
        # all targets as deleted (pulumi/pulumi#16140), and what depends on this component would not
        # wait for them.
        for number, clusters in waves(self.decided):
            if before:
                size = sum(len(self.decided.deliveries[cluster].written) for cluster in clusters)
                before = between(f"{self._name}/wave-{number}", before, size, self)
            after = self._waited(before, seconds)
            for cluster in clusters:
                needed = [
                    other.targets[cluster].binding for other in first if cluster in other.targets
                ]
                comes_after = [decision, *after, *needed]
                targets[cluster] = Target(self._target(cluster), decision, comes_after, self)
            before = [targets[cluster].binding for cluster in clusters]
            seconds = waits.get(number, 0)
        return targets, before or [decision]

    def _delivered(self, decision: pulumi.Resource) -> pulumi.Output[Mapping[str, int]]:
        members = list(self.targets)

        def by_member(found: list[Any]) -> Mapping[str, int]:
            # The engine hands numbers back as floats.
            return {
                member: int(revision) for member, revision in zip(members, found[1:], strict=True)
            }

        if self.decided.hub:
            forecast = {
                member: placed.revision for member, placed in self.decided.record.decisions.items()
            }
            return decision.urn.apply(lambda _: forecast)
        # With no member to deliver to, it counts as delivered once that is decided.
        revisions = [self.targets[member].binding.revision for member in members]
        return pulumi.Output.all(decision.urn, *revisions).apply(by_member)

    def _target(self, cluster: str) -> TargetArgs:
        args, as_of = self._args, self._args.plan.options.as_of
        order = args.plan.precedence
        mode = self.decided.deliveries[cluster].mode
        objects = [args.transform(data) for data in args.plan.emitted(self.decided, cluster)]
        return TargetArgs(
            fleet=args.fleet,
            decided=self.decided,
            cluster=cluster,
            objects=objects,
            # A policy that only reports differences writes nothing.
            provider=None if mode.reports else args.providers.of(cluster, mode),
            earlier=args.earlier,
            tries=partial(args.tries, cluster),
            clear=partial(args.clear, cluster),
            marks=partial(args.marks, cluster),
            unkept=partial(args.plan.unkept, self.decided, cluster),
            aliases=partial(args.aliases, cluster),
            outlives=partial(args.plan.outlives, self.decided, cluster),
            compare=partial(args.compare, cluster),
            hooks=args.hooks(cluster),
            ready_timeout=args.ready_timeout,
            arrivals=args.arrivals,
            needs=order.needs(self.decided, cluster),
            settled=order.settled(self.decided, cluster),
            left_alone=self._left_alone.get(cluster, ()),
            keeps=args.plan.keeps(self.decided, cluster),
            since=as_of.isoformat() if as_of and self.decided.subject.timed else None,
            is_recorded=self._is_recorded,
            unrecorded=args.unrecorded,
        )

    def _waited(self, before: Sequence[pulumi.Resource], seconds: int) -> After:
        """Return the resources as outputs that resolve when a wait is over.

        The wait is not a resource of its own, so it leaves nothing in the state.
        """
        if not seconds or pulumi.runtime.is_dry_run():
            return before

        # Awaited here, because no provider may sleep: the host of dynamic resources has 4 threads
        # for all of them (Pulumi SDK 3.272.0, pulumi/dynamic/__main__.py).
        async def wait(_: Any) -> bool:
            pulumi.log.info(f"waiting {seconds} s before the next wave", self)
            await asyncio.sleep(seconds)
            return True

        waited: pulumi.Output[bool] = pulumi.Output.all(
            *(resource.urn for resource in before)
        ).apply(wait)

        def once_over(resource: pulumi.Resource) -> pulumi.Output[pulumi.Resource]:
            return waited.apply(lambda _: resource)

        return [once_over(resource) for resource in before]

    def _report(self) -> None:
        lines, warnings = describe_subject(self._args.plan, self.decided)
        if lines:
            pulumi.log.info("\n".join(map(visible, (heading(self.decided), *lines))), self)
        for warning in warnings:
            pulumi.log.warn(visible(warning), self)
