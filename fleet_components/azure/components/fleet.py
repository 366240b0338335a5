"""A whole fleet on Azure: its resource groups, hub, members and upgrades."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import pulumi
from pulumi.runtime.sync_await import _ensure_event_loop
from pulumi_azure_native import Provider, resources

from fleet_components.azure.components.arm import children_of, identity_subscription
from fleet_components.azure.components.hub import AzureHub, AzureHubArgs, OwnHub
from fleet_components.azure.components.kubeconfig import CreatedCluster, Login, tell_cost
from fleet_components.azure.components.member import (
    AzureMember,
    AzureMemberArgs,
    AzureUpgrades,
    AzureUpgradesArgs,
    asked_subscription,
)
from fleet_components.azure.components.removal import (
    CLUSTER,
    ENTRY,
    GROUP,
    HUB,
    RemovalGuard,
    Thing,
    things_of,
)
from fleet_components.azure.components.subscription import Subscriptions
from fleet_components.azure.declarations.hub import Beside, read_declarations
from fleet_components.azure.declarations.together import declarations_among, misspelt
from fleet_components.azure.values import checks, names, together
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.cost import member_cost, sum_of
from fleet_components.azure.values.dated import age_warnings, day_of_plan
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.upgrade import AutoUpgrade, Run, Strategy
from fleet_components.azure.values.vm_size import SizeTable, built_in_sizes
from fleet_components.components.config import time_of_plan
from fleet_components.components.refusal import Arguments, expect, refuse, refusing
from fleet_components.components.stack_members import member_exports
from fleet_components.content.load import load
from fleet_components.dynamic import Barrier
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, nearest
from fleet_components.model.typed import fitted

# Azure's limit for one fleet, with or without a hub cluster.
_MOST_MEMBERS = 1000
_Place = tuple[str, str]
"""A subscription, empty for that of the fleet, and a resource group in it."""
_Groups = Mapping[_Place, pulumi.Resource]


@attrs.frozen(kw_only=True)
class AzureFleetArgs(Arguments):
    """Arguments of a fleet on Azure.

    Attributes:
        members: its members; at most 1,000.
        hub: the fleet manager to create, or an existing hub; None for clusters without a fleet.
        existing_resource_groups: resource groups that are not created. All others that hub and
            members name are created here, each in the subscription of its hub or member, and
            deleted with the last member in them, once that is confirmed.
        strategies: update strategies.
        runs: update runs.
        profiles: auto-upgrade profiles.
        confirm: tokens of refused removals that are meant; those of the configuration,
            ``fleet:confirm``, count too.
        providers: Azure providers of other subscriptions than the hub's, by subscription ID. For
            one that is missing here and that members name, a provider is made that signs in as the
            default provider does.
        login: how the kubeconfigs of members sign in; that of the hub has a ``login`` of its own.
        sizes: the table of VM sizes and prices; None for the built-in one.
        as_of: the time at which tables and Kubernetes versions are old or not; ``fleet:asOf`` of
            the configuration replaces it, None is now.
    """

    members: tuple[FleetMember, ...] = ()
    hub: AzureHubArgs | AzureHub | OwnHub | None = None
    existing_resource_groups: frozenset[str] = frozenset()
    strategies: tuple[Strategy, ...] = ()
    runs: tuple[Run, ...] = ()
    profiles: tuple[AutoUpgrade, ...] = ()
    confirm: tuple[str, ...] = ()
    providers: Mapping[str, Provider] = attrs.field(factory=dict)
    login: Login = attrs.field(factory=Login)
    sizes: SizeTable | None = None
    as_of: datetime | None = None

    def problems(self, table: SizeTable) -> Iterator[Problem]:
        """Yield a problem for each value that Azure would reject."""
        yield from checks.unique((member.name for member in self.members), "member", ("members",))
        if len(self.members) > _MOST_MEMBERS:
            yield Problem(
                Message("too-many-azure-members", "{members} members", members=len(self.members)),
                ("members",),
                f"{_MOST_MEMBERS} at most in one fleet",
            )
        for member in self.members:
            yield from member.problems(table, ("members", member.name))
        for subscription in self.providers:
            yield from names.SUBSCRIPTION.problems(subscription, ("providers", subscription))
        yield from self._joint_problems()
        if (self.strategies or self.runs or self.profiles) and not isinstance(
            self.hub, AzureHub | AzureHubArgs
        ):
            yield Problem(
                Message("upgrades-made-azure-fleet", "upgrades are made by an Azure fleet"),
                ("strategies",),
                "give it a hub, hubless or not",
            )
        yield from self._group_problems()

    def _group_problems(self) -> Iterator[Problem]:
        named = [member.resource_group for member in self.members if isinstance(member, AksMember)]
        named += [self.hub.resource_group] if isinstance(self.hub, AzureHubArgs) else []
        for group in sorted(self.existing_resource_groups.difference(named)):
            # One that is not used does no harm; for one that is misspelt, the one that was meant
            # would be created.
            meant = nearest(
                group, [name for name in named if name not in self.existing_resource_groups]
            )
            if meant:
                what = Message(
                    "neither-hub-nor-member",
                    'neither the hub nor a member is in the resource group "{group}"',
                    group=group,
                )
                yield Problem(what, ("existingResourceGroups",), f"{meant}?")

    def _joint_problems(self) -> Iterator[Problem]:
        for position, problem in together.clashes(self.members):
            yield attrs.evolve(
                problem, path=("members", self.members[position].name, *problem.path)
            )
        if isinstance(self.hub, AzureHubArgs):
            yield from together.group_problems(
                [self.hub.resource_group], self.members, ("hub", "resourceGroup")
            )
        existing = sorted(self.existing_resource_groups)
        yield from together.group_problems(existing, self.members, ("existingResourceGroups",))
        steps = {
            strategy.name: {group.name for stage in strategy.stages for group in stage.groups}
            for strategy in self.strategies
        }
        for position, profile in enumerate(self.profiles):
            groups = steps.get(profile.strategy)
            yield from together.profile_problems(
                profile, groups, self.members, ("profiles", position)
            )


class AzureFleet(pulumi.ComponentResource):
    """A fleet on Azure with all its members.

    Attributes:
        hub: the hub; None for clusters without a fleet.
        members: the members by name.
        records: what the schedulers know of each member, as plain values.
        kubeconfigs: the kubeconfigs by member name, as secrets.
        clusters: the clusters that were created, by member name, with what Azure says of each.
    """

    hub: AzureHub | OwnHub | None
    members: dict[str, AzureMember]
    records: tuple[Cluster, ...]
    kubeconfigs: Mapping[str, pulumi.Output[str]]
    clusters: Mapping[str, CreatedCluster]

    def __init__(
        self, name: str, args: AzureFleetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        expect(type(self), name, args, AzureFleetArgs, opts)
        table = args.sizes or built_in_sizes()
        with refusing():
            self._guard = RemovalGuard.of(name, args.confirm, opts)
            today = day_of_plan(time_of_plan(args.as_of))
        # All checks come before the first registration, so that a refusal leaves nothing behind.
        things = things_declared(name, args, opts)
        refuse((*args.problems(table), *self._guard.problems(things)), f"AzureFleet {name}")
        super().__init__("fleet:index:AzureFleet", name, None, opts)
        # A hub that is to be created follows below, once the barrier exists.
        self.hub, self.members = args.hub if isinstance(args.hub, AzureHub | OwnHub) else None, {}
        self._subscriptions = Subscriptions(name, args.providers)
        with self._all_held(name) as held:
            self._mine = pulumi.ResourceOptions.merge(
                children_of(self, opts), pulumi.ResourceOptions(depends_on=held)
            )
            # Records come first: everything that they record depends on them, and is deleted before
            # them.
            self._recorded = {thing: self._guard.record(thing, self._mine) for thing in things}
            for aged in age_warnings(args.members, table, today):
                pulumi.log.warn(str(aged), resource=self)
            allowed = self._guard.allowed(things)
            if allowed:
                pulumi.log.warn(allowed, resource=self)
            groups = self._resource_groups(args)
            if isinstance(args.hub, AzureHubArgs):
                self.hub = self._make_hub(name, args.hub, groups)
            for member in args.members:
                self.members[member.name] = self._member(member, args, groups)
        self.records = tuple(member.record for member in self.members.values())
        self.kubeconfigs = {member: made.kubeconfig for member, made in self.members.items()}
        self.clusters = {
            member: made.cluster for member, made in self.members.items() if made.cluster
        }
        self._upgrades(name, args)
        self.register_outputs(self.exports | self._tell_cost(args, table))

    @classmethod
    def from_file(
        cls,
        name: str,
        path: str | Path,
        args: AzureFleetArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> AzureFleet:
        """Return the fleet that a YAML file or directory declares: its members, and its hub unless
        ``args`` has one.

        Raises:
            RefusedError: it cannot be read, declares nothing, or is invalid; with file and line.
        """
        expect(cls, name, args, AzureFleetArgs, opts)
        with refusing():
            manifests = load(fitted(str | Path, path, (cls.__name__, "path")))
            if not declarations_among(manifests) and not any(misspelt(manifests)):
                hint = "objects of apiVersion fleet-components/v1 and kind Hub, Members or Upgrades"
                raise FleetError(
                    [
                        Problem(
                            Message("no-fleet-declared", "no fleet is declared there"),
                            hint=hint,
                            file=str(path),
                        )
                    ]
                )
        return cls.from_manifests(name, manifests, args, opts)

    @classmethod
    def from_manifests(
        cls,
        name: str,
        manifests: Iterable[Manifest],
        args: AzureFleetArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> AzureFleet:
        """Return the fleet that objects declare; like :meth:`from_file`, for objects that were read
        before.

        Members, resource groups and upgrades of both count; a hub and a login of ``args`` win over
        declared ones.
        A hub needs a word on its members: an object of kind ``Members``, whose list may be empty,
        or those of ``args``.

        Raises:
            RefusedError: a declaration is invalid, misspelt or missing; with file and line.
        """
        expect(cls, name, args, AzureFleetArgs, opts)
        with refusing():
            # An iterator can be read only once; a value of another type is left for ``fitted`` to
            # refuse.
            given = tuple(manifests) if isinstance(manifests, Iterable) else manifests
            manifests = fitted(tuple[Manifest, ...], given, (cls.__name__, "manifests"))
        return cls(name, everything_of(manifests, args), opts)

    @property
    def exports(self) -> dict[str, Any]:
        """Stack outputs: plain records and secret kubeconfigs, which a stack of workloads reads,
        and what Azure says.

        ``clusters`` has the outputs of each :class:`CreatedCluster` by member name, ``hub`` those
        of an :class:`AzureHub`; both in camelCase, neither secret.
        """
        exports = member_exports(member.member for member in self.members.values())
        exports["clusters"] = {name: cluster.outputs for name, cluster in self.clusters.items()}
        return exports | ({"hub": self.hub.outputs} if isinstance(self.hub, AzureHub) else {})

    @contextmanager
    def _all_held(self, name: str) -> Iterator[list[pulumi.Resource]]:
        """Yield what everything of Azure has to wait for: the checks of the hub and of all members
        made inside.

        Without a preview, one part of the fleet would else be changed before the change of another
        one is refused.
        """
        # A unit test may make components before any loop runs; resources are then registered in
        # this one too.
        # The checks belong to components that are made inside the block, so the dependencies of the
        # barrier are a future until its end.
        held: asyncio.Future[list[pulumi.Resource]] = _ensure_event_loop().create_future()
        waiting = pulumi.ResourceOptions(parent=self, depends_on=held)
        try:
            yield [Barrier(f"{name}-checked", {"key": name}, waiting)]
        finally:
            # Also after an error: the registration of the barrier would wait for the future for
            # ever.
            made: list[AzureHub | AzureMember] = [
                *([self.hub] if isinstance(self.hub, AzureHub) else []),
                *self.members.values(),
            ]
            held.set_result([each.held for each in made])

    def _resource_groups(self, args: AzureFleetArgs) -> dict[_Place, resources.ResourceGroup]:
        regions: dict[_Place, str] = {}
        if isinstance(args.hub, AzureHubArgs):
            regions["", args.hub.resource_group] = args.hub.region
        for member in args.members:
            if isinstance(member, AksMember):
                regions.setdefault(self._place(member), member.region)
        return {
            place: self._resource_group(*place, region)
            for place, region in regions.items()
            if place[1] not in args.existing_resource_groups
        }

    def _resource_group(
        self, subscription: str, group: str, region: str
    ) -> resources.ResourceGroup:
        # The region of a group only says where Azure keeps its metadata. It is that of the hub or
        # of the first member in the group, so a new order of members must not move the group.
        stays = pulumi.ResourceOptions(ignore_changes=["location"])
        mine = pulumi.ResourceOptions.merge(self._after(Thing(GROUP, group, subscription)), stays)
        there = self._subscriptions.options(subscription, mine) if subscription else mine
        # Two subscriptions may each have a group of this name.
        name = f"{group}-{subscription}" if subscription else group
        return resources.ResourceGroup(name, resource_group_name=group, location=region, opts=there)

    def _make_hub(self, name: str, hub: AzureHubArgs, groups: _Groups) -> AzureHub:
        recorded = self._after(Thing(HUB, hub.fleet_name or name))
        return AzureHub(name, hub, self._in_group(("", hub.resource_group), groups, recorded))

    def _member(self, member: FleetMember, args: AzureFleetArgs, groups: _Groups) -> AzureMember:
        place = self._place(member)
        # A cluster outside of Azure takes part in placement only, not in Azure's fleet.
        hub = None if isinstance(self.hub, AzureHub) and member.cluster is None else self.hub
        member_args = AzureMemberArgs(
            member=member,
            hub=hub,
            providers=self._of_identity(member),
            login=args.login,
            sizes=args.sizes,
            # The fleet logs one estimate for all its members.
            tell_cost=False,
        )
        recorded = self._after(
            Thing(CLUSTER if isinstance(member, AksMember) else ENTRY, member.name)
        )
        mine = self._in_group(place, groups, recorded)
        there = self._subscriptions.options(place[0], mine) if place[0] else mine
        return AzureMember(member.name, member_args, there)

    def _of_identity(self, member: FleetMember) -> dict[str, Provider]:
        """Return the provider of the subscription of a member's identity, by its ID, if that needs
        one.
        """
        # Only roles on subnets need the principal of the identity.
        where = (
            identity_subscription(member)
            if isinstance(member, AksMember) and member.subnets
            else ""
        )
        provider = self._subscriptions.provider(where, self._mine) if where else None
        return {where: provider} if provider else {}

    def _place(self, member: FleetMember) -> _Place:
        group = member.resource_group if isinstance(member, AksMember) else ""
        return _where(member, self._subscriptions, self._mine), group

    def _after(self, thing: Thing) -> pulumi.ResourceOptions:
        """Return the options of a child that depends on its record, if it has one."""
        record = self._recorded.get(thing)
        return pulumi.ResourceOptions.merge(
            self._mine, pulumi.ResourceOptions(depends_on=[record] if record else [])
        )

    def _in_group(
        self, place: _Place, groups: _Groups, opts: pulumi.ResourceOptions
    ) -> pulumi.ResourceOptions:
        after = pulumi.ResourceOptions(depends_on=[groups[place]] if place in groups else [])
        return pulumi.ResourceOptions.merge(opts, after)

    def _upgrades(self, name: str, args: AzureFleetArgs) -> None:
        if not isinstance(self.hub, AzureHub) or not (
            args.strategies or args.runs or args.profiles
        ):
            return
        AzureUpgrades(
            name,
            AzureUpgradesArgs(
                hub=self.hub,
                strategies=args.strategies,
                runs=args.runs,
                profiles=args.profiles,
                groups=frozenset(member.group for member in args.members if member.group),
            ),
            pulumi.ResourceOptions.merge(
                self._mine, pulumi.ResourceOptions(depends_on=[*self.members.values()])
            ),
        )

    def _tell_cost(self, args: AzureFleetArgs, table: SizeTable) -> dict[str, Any]:
        """Log the estimate of the clusters that the fleet creates, and return it as an output;
        empty for none.
        """
        made = [member for member in args.members if isinstance(member, AksMember)]
        if not made:
            return {}
        cost = sum_of(member_cost(member, table) for member in made)
        what = f"fleet {self._guard.fleet}: {_clusters(made)}"
        return tell_cost(
            self, self._guard.known_as, what, cost, table, list(_by_region(made, table))
        )


def _by_region(members: Sequence[AksMember], table: SizeTable) -> Iterator[str]:
    """Yield a line for each region: its clusters, and what they cost a month."""
    for region in sorted({member.region for member in members}):
        there = [member for member in members if member.region == region]
        cost = sum_of(member_cost(member, table) for member in there).monthly(table)
        yield f"{region}: {_clusters(there)}, {cost.amount} USD"


def _clusters(members: Sequence[AksMember]) -> str:
    """Return how many clusters there are, and between which numbers of nodes their autoscalers may
    choose.
    """
    pools = [pool for member in members for pool in member.node_pools]
    least, most = sum(pool.nodes for pool in pools), sum(pool.most_nodes for pool in pools)
    nodes = count(least, "node") if least == most else f"{least} to {most} nodes"
    return f"{count(len(members), 'cluster')} with {nodes}"


def everything_of(manifests: Iterable[Manifest], args: AzureFleetArgs) -> AzureFleetArgs:
    """Return arguments with all that objects declare; a hub and a login of the arguments win over
    declared ones.

    Raises:
        RefusedError: a declaration is invalid, misspelt or missing; with file and line.
    """
    with refusing():
        table = args.sizes or built_in_sizes()
        names = tuple(strategy.name for strategy in args.strategies)
        declared = read_declarations(
            manifests, table, Beside(args.members, args.hub is not None, names)
        )
    return attrs.evolve(
        args,
        members=(*args.members, *declared.members),
        hub=args.hub or declared.hub,
        existing_resource_groups=args.existing_resource_groups | declared.existing_resource_groups,
        strategies=(*args.strategies, *declared.upgrades.strategies),
        runs=(*args.runs, *declared.upgrades.runs),
        profiles=(*args.profiles, *declared.upgrades.profiles),
        # A login of the arguments that equals the default counts as not given.
        login=declared.login if declared.login and args.login == Login() else args.login,
    )


def things_declared(
    name: str, args: AzureFleetArgs, opts: pulumi.ResourceOptions | None
) -> tuple[Thing, ...]:
    """Return what a fleet with these arguments and resource options provisions; nothing is
    registered.
    """
    subscriptions = Subscriptions(name, args.providers)
    existing = args.existing_resource_groups
    return things_of(
        name, args.hub, args.members, existing, lambda member: _where(member, subscriptions, opts)
    )


def _where(
    member: FleetMember, subscriptions: Subscriptions, opts: pulumi.ResourceOptions | None
) -> str:
    """Return the subscription of a member of a fleet with these options; empty for the fleet's
    own.
    """
    subscription = asked_subscription(member)
    return subscriptions.key(subscription, opts) if subscription else ""
