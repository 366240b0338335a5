"""One placement or template on one member: its objects, phase by phase, then the binding that
records them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import pulumi

from fleet_components.components.handing_over import Arrivals, EarlierNames, between
from fleet_components.components.hub import KubernetesObject, provider_version, sealed
from fleet_components.components.process import in_process, output_of, unknown
from fleet_components.components.refusal import RefusedError
from fleet_components.components.registrations import UNLIMITED, registrations
from fleet_components.components.report import ready_timeouts, report, tell_drift, waiting
from fleet_components.components.taking_over import EVERYTHING, Compare
from fleet_components.content.order import phases
from fleet_components.content.stamp import annotated
from fleet_components.dynamic import Binding, Report
from fleet_components.live.connection import Leftover
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import few, visible
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.departures import old_objects
from fleet_components.plan.record import FORMAT, Objects, particulars
from fleet_components.plan.subject import Decided, Delivery
from fleet_components.rollout.rollout import Change

_MARK = "fleet-components/replaced"


def untried(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with an unknown annotation in a preview, so that the provider skips the
    trial.
    """
    if not pulumi.runtime.is_dry_run() or in_process():
        return dict(data)
    # A trial of the new object may fail on the old one, which still stands; with an unknown value
    # there is none (pulumi/pulumi-kubernetes v4.32.0, provider/pkg/provider/provider.go, Create).
    return annotated(data, {_MARK: unknown()})


def trial_ignored() -> list[str]:
    """Return the path of the unknown annotation in a preview, so that its change can be ignored."""
    return (
        [f'metadata.annotations["{_MARK}"]']
        if pulumi.runtime.is_dry_run() and not in_process()
        else []
    )


def property_path(path: FieldPath) -> str:
    """Return the path of a field as resource options write it."""
    steps = (f"[{item}]" if isinstance(item, int) else f'["{item}"]' for item in path[1:])
    return f"{path[0]}{''.join(steps)}"


After = Sequence[pulumi.Input[pulumi.Resource]]
"""Resources to depend on."""


@attrs.frozen(slots=False, kw_only=True)
class TargetArgs:
    """Arguments of a target.

    Attributes:
        fleet: the fleet's name.
        decided: the placement or template, with its decision.
        cluster: the member's name.
        objects: the objects in the form that is registered.
        provider: the Kubernetes provider of the member; None if nothing is written.
        earlier: former names and URNs of the resources.
        tries: tries the new form of an object that the member has to recreate.
        clear: deletes retained objects from the member that have to be recreated.
        marks: returns the transforms that mark an object that stood on the member before.
        unkept: returns the fields of an object that its API server does not keep as they are sent.
        aliases: returns the URN under which another resource of the stack has an object.
        outlives: returns whether an object stays when the subject does not bring it any more.
        compare: compares objects with those on the member.
        ready_timeout: the longest time in seconds that each object may take to become ready, or to
            be gone.
        left_alone: the objects that are not written again, whatever somebody has made of them.
        hooks: the hooks around updates of the objects; None for none.
        keeps: which objects stay when the subject leaves: ``all``, ``cluster-scoped``, or empty for
            none.
        since: the time of this update, for stages that wait; None if there is no time.
        arrivals: the objects of all subjects, by member.
        needs: the objects that each object depends on beside its phase.
        settled: the objects that others need and that are there unchanged: they wait for no wave.
        is_recorded: returns whether the decision is recorded, and not left out.
        unrecorded: returns the subjects of the fleet whose changed decisions are left out.
    """

    fleet: str
    decided: Decided
    cluster: str
    objects: Sequence[Mapping[str, Any]]
    provider: pulumi.ProviderResource | None
    earlier: EarlierNames
    tries: Callable[[Mapping[str, Any], ApplyMode, pulumi.Output[Any]], pulumi.Output[Any]]
    clear: Callable[[Sequence[Leftover], pulumi.Output[Any]], pulumi.Output[Any]]
    marks: Callable[[ObjectKey], list[pulumi.ResourceTransform]]
    unkept: Callable[[Mapping[str, Any]], Sequence[FieldPath]]
    aliases: Callable[[ObjectKey], list[pulumi.Input[str]]]
    outlives: Callable[[ObjectKey], bool]
    compare: Compare
    ready_timeout: int
    arrivals: Arrivals
    left_alone: Objects = ()
    hooks: pulumi.ResourceHookBinding | None = None
    keeps: str = ""
    since: str | None = None
    needs: Mapping[ObjectKey, Sequence[ObjectKey]] = attrs.field(factory=dict)
    settled: frozenset[ObjectKey] = frozenset()
    is_recorded: Callable[[], Awaitable[bool]]
    unrecorded: Callable[[], Awaitable[list[str]]]

    @property
    def delivery(self) -> Delivery:
        """Objects for this member, and how they are delivered."""
        return self.decided.deliveries[self.cluster]

    @property
    def who(self) -> str:
        """The subject on its member, as messages call it."""
        return f"{self.decided.subject.key} on {self.cluster}"

    @cached_property
    def untouched(self) -> frozenset[ObjectKey]:
        """Keys of the objects that are not written again."""
        return frozenset(Manifest(data).key for data in self.left_alone)


class Target(pulumi.ComponentResource):
    """Component of one placement or template on one member.

    Attributes:
        binding: registered once every object stands; later waves depend on it.
        objects: the objects, by phase and key.
    """

    binding: Binding
    objects: Mapping[tuple[int, ObjectKey], pulumi.Resource]

    def __init__(
        self,
        args: TargetArgs,
        decision: pulumi.Resource,
        after: After,
        parent: pulumi.Resource,
    ) -> None:
        key = args.decided.subject.key
        self._name = names.target_name(args.fleet, key, args.cluster)
        self._formerly = args.earlier.target(key, args.cluster)
        alias = args.earlier.alias(names.TARGET, self._name, self._formerly)
        self._decision = decision
        # The component waits as well, so that an update that is refused while it runs leaves
        # nothing in the state. Objects wait for their component: it is in the state where others
        # need some that are there unchanged.
        comes_after = [decision] if args.settled else list(after)
        own = pulumi.ResourceOptions(parent=parent, depends_on=comes_after)
        opts = pulumi.ResourceOptions.merge(own, alias)
        super().__init__(names.TARGET, self._name, {}, opts)
        self._registrations = None if pulumi.runtime.is_dry_run() else registrations()
        self._tell_wait(args)
        self.objects = {}
        placed: list[pulumi.Resource] = []
        before, passed = after, list[pulumi.Input[pulumi.Resource]]()
        for number, group in phases([Manifest(data) for data in args.objects]):
            if placed:
                name = f"{self._name}/phase-{number}"
                before = [*between(name, placed, len(group), self), *passed]
            placed = []
            # What waits for no phase leaves the next one to wait for this.
            passed = list(before) if any(manifest.key in args.settled for manifest in group) else []
            for manifest in group:
                turn = self._comes_after(args, manifest.key, before)
                placed.append(KubernetesObject(*self._object(args, manifest, turn)))
                self.objects[number, manifest.key] = placed[-1]
                args.arrivals.register(args.cluster, manifest.key, placed[-1])
        if args.delivery.mode.reports:
            placed = [self._report(args, before)]
        self._tell_drift(args, after)
        # Without any object, the binding waits for its turn alone.
        self.binding = self._bind(args, [*placed, *passed] or before)
        self.register_outputs({})

    def _tell_wait(self, args: TargetArgs) -> None:
        """Say how long the update waits here, once it is the member's turn."""
        if self._moves(args) and args.objects and not pulumi.runtime.is_dry_run():
            # Shown while the update runs, and not once more at its end.
            pulumi.log.info(
                visible(waiting(args.objects, args.ready_timeout)), self, ephemeral=True
            )

    def _comes_after(self, args: TargetArgs, key: ObjectKey, before: After) -> After:
        """Return what an object waits for: its wave and phase, and what it needs of others."""
        turn = [self._decision] if key in args.settled else before
        needs = args.needs.get(key, ())
        return [*turn, *(args.arrivals.resource(args.cluster, need) for need in needs)]

    def _moves(self, args: TargetArgs) -> bool:
        return args.decided.entries[args.cluster].change in (Change.ADD, Change.UPDATE)

    def _object(
        self, args: TargetArgs, manifest: Manifest, before: After
    ) -> tuple[str, Mapping[str, Any], pulumi.ResourceOptions]:
        """Return the name, the data and the options of an object's resource."""
        data = manifest.data
        name = f"{self._name}/{names.short_name(manifest.key)}"
        retained = args.outlives(manifest.key)
        replaced = args.earlier.plan.replaced.get((args.cluster, manifest.key))
        if replaced and not pulumi.runtime.is_dry_run():
            before = _once_known(args.tries(data, args.delivery.mode, _once(before)), before)
        # The engine deletes nothing that is retained, not even to replace it (pulumi/pulumi
        # v3.259.0, pkg/resource/deploy/step.go, DeleteStep.Apply), so the object is deleted
        # beforehand.
        if replaced and retained:
            before = self._cleared(args, manifest, before)
        component = names.component_type(args.decided.subject.COMPONENT)
        aliases = [
            *args.earlier.object_aliases(component, args.cluster, name, data),
            *args.aliases(manifest.key),
        ]
        if aliases:
            before = _once_known(self._unlimited(args, manifest), before)
        if self._registrations and self._moves(args):
            self._registrations.watch(name, data)
        # For some fields the provider itself forces a replacement; for the others an option has to
        # request it.
        forcing = list(replaced.fields) if replaced and replaced.asked else None
        standing = args.earlier.plan.standing.get((args.cluster, manifest.key))
        if standing and standing.gone:
            # The provider updates nothing that is gone (pulumi/pulumi-kubernetes v4.34.2,
            # provider/pkg/await/await.go, Update). Its deletion finds nothing.
            forcing = [EVERYTHING]
        options = pulumi.ResourceOptions(
            parent=self,
            provider=args.provider,
            version=provider_version(),
            aliases=aliases,
            depends_on=list(before),
            ignore_changes=[
                *args.delivery.left_alone,
                *map(property_path, args.unkept(data)),
                *(trial_ignored() if replaced else ()),
                # After a refresh the state has what somebody has changed, and that stays.
                *([EVERYTHING] if manifest.key in args.untouched else ()),
            ],
            # Set from the first update on: once the object has left the program, the state is all
            # that is asked.
            retain_on_delete=retained,
            transforms=args.marks(manifest.key) or None,
            hooks=args.hooks,
            custom_timeouts=ready_timeouts(data, args.ready_timeout),
            replace_on_changes=forcing,
        )
        return name, sealed(untried(data) if replaced else data), options

    def _cleared(self, args: TargetArgs, manifest: Manifest, before: After) -> After:
        """Return the resources as outputs that wait until the retained object is deleted, before it
        is created again.
        """
        left = [Leftover.of(manifest.api_version, manifest.key)]
        return _once_known(args.clear(left, _once(before)), before)

    def _unlimited(self, args: TargetArgs, manifest: Manifest) -> pulumi.Output[Any]:
        """Return an output that fails for an object that moves while the update leaves out what it
        moves from.

        The engine keeps what is left out as it was, with its dependencies on the old URN of the
        object, which it then has in the state beside the new one, or not at all.
        """

        async def check() -> None:
            left_out = await args.unrecorded()
            if left_out:
                what = Message(
                    "moves-update-target-exclude",
                    "moves in this update, and --target or --exclude leaves out {left_out}",
                    left_out=few(left_out),
                )
                raise RefusedError(
                    [Problem(what, subject=f"{manifest.key} on {args.cluster}", hint=UNLIMITED)]
                )

        return output_of(check())

    async def _unsent(self, args: TargetArgs, placed: After) -> list[str]:
        """Return what --target or --exclude has left out of what the member was to be sent."""
        if not self._registrations or not self._moves(args):
            return []
        await _once(placed).future()
        plan, decided, cluster = args.earlier.plan, args.decided, args.cluster
        last, found = decided.before.decisions.get(cluster), []
        # A member that is sent something is in the inventory; "or 0" is only for the type checker.
        member = decided.subject.inventory.clusters[
            decided.subject.inventory.position(cluster) or 0
        ]
        for data in args.delivery.written:
            key = Manifest(data).key
            if key in args.untouched:
                continue
            standing = plan.standing.get((cluster, key))
            owner = standing.subject if standing else decided.name
            stood = old_objects(plan.past, decided, owner, cluster)
            was_sent = decided.before.objects(last, member) if last else ()
            earlier = [item for item in (*stood, *was_sent) if Manifest(item).key == key]
            name = f"{self._name}/{names.short_name(key)}"
            if not self._registrations.is_sent(name, earlier, data):
                found.append(str(key))
        return found if await args.is_recorded() else [*found, args.decided.name]

    def _report(self, args: TargetArgs, after: After) -> Report:
        options = pulumi.ResourceOptions(parent=self, depends_on=list(after))
        alias = args.earlier.alias(names.REPORT, self._name, self._formerly)
        found = args.compare(args.delivery.objects, args.delivery.mode, _once(after))
        return report(
            args.who,
            found,
            self._name,
            self._known(args),
            pulumi.ResourceOptions.merge(options, alias),
        )

    def _known(self, args: TargetArgs) -> dict[str, Any]:
        """Return what each record of the subject on the member begins with."""
        subject, cluster = args.decided.name, args.cluster
        return {
            "key": self._name,
            "format": FORMAT,
            "fleet": args.fleet,
            "subject": subject,
            "cluster": cluster,
        }

    def _tell_drift(self, args: TargetArgs, after: After) -> None:
        if args.left_alone:
            found = args.compare(args.left_alone, args.delivery.mode, _once(after))
            tell_drift(args.who, found, self)

    def _bind(self, args: TargetArgs, placed: After) -> Binding:
        placed_as = args.decided.record.decisions[args.cluster]
        props = {
            **self._known(args),
            "revision": placed_as.revision,
            **({"keeps": args.keeps} if args.keeps else {}),
            **({"since": args.since} if args.since else {}),
            **particulars(placed_as),
            # Known in previews too: an update that is limited to a plan must not register anything
            # else.
            "unsent": output_of(self._unsent(args, placed)),
        }
        alias = args.earlier.alias(names.BINDING, self._name, self._formerly)
        # The objects of the last phase, which come after all others.
        options = pulumi.ResourceOptions(parent=self, depends_on=list(placed))
        return Binding(self._name, props, pulumi.ResourceOptions.merge(options, alias))


def _once_known(known: pulumi.Output[Any], resources: After) -> After:
    """Return the resources as outputs that wait until something else is known as well."""

    def both(resource: pulumi.Input[pulumi.Resource]) -> pulumi.Output[pulumi.Resource]:
        return pulumi.Output.all(known, resource).apply(lambda found: found[1])

    return [both(resource) for resource in resources]


def _once(stand: After) -> pulumi.Output[Any]:
    """Return an output that resolves once resources stand: a turn in the rollout, at a member that
    is the right one.
    """
    turns: list[pulumi.Output[str]] = [
        pulumi.Output.from_input(item).apply(lambda it: it.urn) for item in stand
    ]
    return pulumi.Output.all(*turns)
