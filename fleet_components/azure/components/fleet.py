"""A whole fleet on Azure: its resource groups, hub, members and upgrades."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import resources

from fleet_components.azure.components.arm import children_of
from fleet_components.azure.components.hub import AzureHub, AzureHubArgs, OwnHub
from fleet_components.azure.components.kubeconfig import Login
from fleet_components.azure.components.member import AzureMember, AzureMemberArgs
from fleet_components.azure.components.upgrades import AzureUpgrades, AzureUpgradesArgs
from fleet_components.azure.declarations.hub import is_declaration, read_declarations
from fleet_components.azure.values import checks, together
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.cost import member_cost, sum_of
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.strategy import Strategy
from fleet_components.azure.values.upgrade import AutoUpgrade, Run
from fleet_components.azure.values.vm_size import SizeTable, built_in_sizes
from fleet_components.components.refusal import Arguments, expect, refuse, refusing
from fleet_components.components.stack_members import member_exports
from fleet_components.content.load import load
from fleet_components.dynamic import Barrier
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count
from fleet_components.model.typed import fitted

_MOST_MEMBERS = 1000


@attrs.frozen(kw_only=True)
class AzureFleetArgs(Arguments):
    """Arguments of a fleet on Azure.

    Attributes:
        members: its members; at most 1,000.
        hub: the fleet manager to create, or an existing hub; None for clusters without a fleet.
        existing_resource_groups: resource groups that are not created. All others that hub and members name are
            created here, and deleted with the last member in them.
        strategies: update strategies.
        runs: update runs.
        profiles: auto-upgrade profiles.
        login: how kubeconfigs sign in.
        sizes: the table of VM sizes and prices; None for the built-in one.
    """

    members: tuple[FleetMember, ...] = ()
    hub: AzureHubArgs | AzureHub | OwnHub | None = None
    existing_resource_groups: frozenset[str] = frozenset()
    strategies: tuple[Strategy, ...] = ()
    runs: tuple[Run, ...] = ()
    profiles: tuple[AutoUpgrade, ...] = ()
    login: Login = attrs.field(factory=Login)
    sizes: SizeTable | None = None

    def problems(self, table: SizeTable) -> Iterator[Problem]:
        """Yield a problem for each value that Azure would reject."""
        yield from checks.unique((member.name for member in self.members), "member", ("members",))
        if len(self.members) > _MOST_MEMBERS:
            yield Problem(f"{len(self.members)} members", ("members",), f"{_MOST_MEMBERS} at most in one fleet")
        for member in self.members:
            yield from member.problems(table, ("members", member.name))
        yield from self._joint_problems()
        if (self.strategies or self.runs or self.profiles) and not isinstance(self.hub, AzureHub | AzureHubArgs):
            yield Problem("upgrades are made by an Azure fleet", ("strategies",), "give it a hub, hubless or not")

    def _joint_problems(self) -> Iterator[Problem]:
        for position, problem in together.clashes(self.members):
            yield attrs.evolve(problem, path=("members", self.members[position].name, *problem.path))
        if isinstance(self.hub, AzureHubArgs):
            yield from together.group_problems([self.hub.resource_group], self.members, ("hub", "resourceGroup"))
        existing = sorted(self.existing_resource_groups)
        yield from together.group_problems(existing, self.members, ("existingResourceGroups",))
        steps = {one.name: {group.name for stage in one.stages for group in stage.groups} for one in self.strategies}
        for position, profile in enumerate(self.profiles):
            groups = steps.get(profile.strategy)
            yield from together.profile_problems(profile, groups, self.members, ("profiles", position))


class AzureFleet(pulumi.ComponentResource):
    """A fleet on Azure with all its members.

    Attributes:
        hub: the hub; None for clusters without a fleet.
        members: the members by name.
        records: what the schedulers know of each member, as plain values.
        kubeconfigs: the kubeconfigs by member name, as secrets.
    """

    hub: AzureHub | OwnHub | None
    members: dict[str, AzureMember]
    records: tuple[Cluster, ...]
    kubeconfigs: Mapping[str, pulumi.Output[str]]

    def __init__(self, name: str, args: AzureFleetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        expect(type(self), name, args, AzureFleetArgs, opts)
        table = args.sizes or built_in_sizes()
        refuse(args.problems(table), f"AzureFleet {name}")
        super().__init__("fleet:index:AzureFleet", name, None, opts)
        self.hub, self.members = args.hub if isinstance(args.hub, AzureHub | OwnHub) else None, {}
        with self._all_held(name) as held:
            self._mine = pulumi.ResourceOptions.merge(children_of(self, opts), pulumi.ResourceOptions(depends_on=held))
            groups = self._resource_groups(args)
            if isinstance(args.hub, AzureHubArgs):
                self.hub = self._make_hub(name, args.hub, groups)
            for member in args.members:
                self.members[member.name] = self._member(member, args, groups)
        self.records = tuple(member.record for member in self.members.values())
        self.kubeconfigs = {member: made.kubeconfig for member, made in self.members.items()}
        self._upgrades(name, args)
        self._tell_cost(name, args, table)
        self.register_outputs(self.exports)

    @classmethod
    def from_file(
        cls, name: str, path: str | Path, args: AzureFleetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> AzureFleet:
        """Return the fleet that a YAML file or directory declares: its members, and its hub unless ``args`` has one.

        Raises:
            RefusedError: it cannot be read, declares nothing, or is invalid; with file and line.
        """
        expect(cls, name, args, AzureFleetArgs, opts)
        with refusing():
            manifests = load(fitted(str | Path, path, (cls.__name__, "path")))
            if not any(map(is_declaration, manifests)):
                hint = "objects of apiVersion fleet-components/v1 and kind Hub or Members"
                raise FleetError([Problem("no fleet is declared there", hint=hint, file=str(path))])
        return cls.from_manifests(name, manifests, args, opts)

    @classmethod
    def from_manifests(
        cls,
        name: str,
        manifests: Iterable[Manifest],
        args: AzureFleetArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> AzureFleet:
        """Return the fleet that objects declare; like :meth:`from_file`, for objects that were read before.

        Raises:
            RefusedError: a declaration is invalid; with file and line.
        """
        expect(cls, name, args, AzureFleetArgs, opts)
        with refusing():
            given = tuple(manifests) if isinstance(manifests, Iterable) else manifests
            manifests = fitted(tuple[Manifest, ...], given, (cls.__name__, "manifests"))
            declared = read_declarations(manifests, args.sizes or built_in_sizes())
        members = (*args.members, *declared.members)
        return cls(name, attrs.evolve(args, members=members, hub=args.hub or declared.hub), opts)

    @property
    def exports(self) -> dict[str, Any]:
        """Stack outputs that a stack of workloads reads: plain records and secret kubeconfigs."""
        return member_exports(member.member for member in self.members.values())

    @contextmanager
    def _all_held(self, name: str) -> Iterator[list[pulumi.Resource]]:
        """Yield what everything of Azure has to wait for: the checks of the hub and of all members made inside.

        Without a preview, one part of the fleet would else be changed before the change of another one is refused.
        """
        held: asyncio.Future[list[pulumi.Resource]] = asyncio.get_running_loop().create_future()
        waiting = pulumi.ResourceOptions(parent=self, depends_on=held)
        try:
            yield [Barrier(f"{name}-checked", {"key": name}, waiting)]
        finally:
            made: list[AzureHub | AzureMember] = [
                *([self.hub] if isinstance(self.hub, AzureHub) else []),
                *self.members.values(),
            ]
            held.set_result([each.held for each in made])

    def _resource_groups(self, args: AzureFleetArgs) -> dict[str, resources.ResourceGroup]:
        regions: dict[str, str] = {}
        if isinstance(args.hub, AzureHubArgs):
            regions[args.hub.resource_group] = args.hub.region
        for member in args.members:
            if isinstance(member, AksMember):
                regions.setdefault(member.resource_group, member.region)
        # The region of a group only says where Azure keeps its metadata. It is that of the hub or of the first member
        # in the group, so a new order of members must not move the group.
        stay = pulumi.ResourceOptions.merge(self._mine, pulumi.ResourceOptions(ignore_changes=["location"]))
        return {
            group: resources.ResourceGroup(group, resource_group_name=group, location=region, opts=stay)
            for group, region in regions.items()
            if group not in args.existing_resource_groups
        }

    def _make_hub(self, name: str, hub: AzureHubArgs, groups: Mapping[str, pulumi.Resource]) -> AzureHub:
        return AzureHub(name, hub, self._in_group(hub.resource_group, groups))

    def _member(self, member: FleetMember, args: AzureFleetArgs, groups: Mapping[str, pulumi.Resource]) -> AzureMember:
        group = member.resource_group if isinstance(member, AksMember) else ""
        # A cluster outside of Azure takes part in placement only, not in Azure's fleet.
        hub = None if isinstance(self.hub, AzureHub) and member.cluster is None else self.hub
        member_args = AzureMemberArgs(member=member, hub=hub, login=args.login, sizes=args.sizes, tell_cost=False)
        return AzureMember(member.name, member_args, self._in_group(group, groups))

    def _in_group(self, group: str, groups: Mapping[str, pulumi.Resource]) -> pulumi.ResourceOptions:
        after = pulumi.ResourceOptions(depends_on=[groups[group]] if group in groups else [])
        return pulumi.ResourceOptions.merge(self._mine, after)

    def _upgrades(self, name: str, args: AzureFleetArgs) -> None:
        if not isinstance(self.hub, AzureHub) or not (args.strategies or args.runs or args.profiles):
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
            pulumi.ResourceOptions.merge(self._mine, pulumi.ResourceOptions(depends_on=[*self.members.values()])),
        )

    def _tell_cost(self, name: str, args: AzureFleetArgs, table: SizeTable) -> None:
        made = [member for member in args.members if isinstance(member, AksMember)]
        if made:
            cost = sum_of(member_cost(member, table) for member in made)
            nodes = sum(pool.nodes for member in made for pool in member.node_pools)
            text = f"fleet {name}: {count(len(made), 'cluster')} with {count(nodes, 'node')}: {cost.text(table)}"
            pulumi.log.info(text, resource=self)
