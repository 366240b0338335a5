"""A member of the fleet from one declaration: provisioned, registered, and described for the
schedulers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import Provider, authorization
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.components import cluster
from fleet_components.azure.components.arm import (
    asked_principal,
    children_of,
    fleet_child,
    of_component,
    subnet_roles,
)
from fleet_components.azure.components.hub import AzureHub, OwnHub
from fleet_components.azure.components.kubeconfig import (
    CreatedCluster,
    Login,
    decoded,
    file_problems,
    own_kubeconfig,
    principal_of,
    roles_reached,
    tell_cost,
    with_login,
)
from fleet_components.azure.components.moved import REQUESTS, ClusterRequests
from fleet_components.azure.components.registration import register
from fleet_components.azure.components.subscription import (
    Subscriptions,
    default_subscription,
    reached_subscription,
)
from fleet_components.azure.dynamic import CreateOnly
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.cost import member_cost
from fleet_components.azure.values.create_only import MEMBER
from fleet_components.azure.values.member import FleetMember, JoinedMember
from fleet_components.azure.values.record import cluster_record
from fleet_components.azure.values.upgrade import AutoUpgrade, Run, Strategy
from fleet_components.azure.values.upgrades import Upgrades
from fleet_components.azure.values.vm_size import SizeTable, built_in_sizes
from fleet_components.components.member import Member
from fleet_components.components.refusal import Arguments, expect, refuse
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import encode
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem


@attrs.frozen(kw_only=True)
class AzureMemberArgs(Arguments):
    """Arguments of a member.

    Attributes:
        member: the declaration of a cluster to create, or of an existing one.
        hub: the hub of the fleet that it joins; None for a cluster that joins none.
        ready: resources, besides its node pools, that must exist before work may come to a new
            member.
        providers: Azure providers of other subscriptions, by subscription ID: that of the member,
            or of its identity. For one that is missing here, a provider is made that signs in as
            the default provider does.
        login: how the kubeconfig signs in.
        sizes: the table of VM sizes and prices; None for the built-in one.
        tell_cost: whether an estimate of its cost is logged.
    """

    member: FleetMember
    hub: AzureHub | OwnHub | None = None
    ready: Sequence[pulumi.Resource] = ()
    providers: Mapping[str, Provider] = attrs.field(factory=dict)
    login: Login = attrs.field(factory=Login)
    sizes: SizeTable | None = None
    tell_cost: bool = True


class AzureMember(pulumi.ComponentResource):
    """A member cluster.

    It may be in another subscription than its hub: that of the Azure provider among its options,
    else the one that its declaration names, for which it makes a provider. Its entry in the fleet
    stays in the hub's.

    Attributes:
        record: what the schedulers know of it; plain, so that placements can be decided before it
            exists.
        cluster: the cluster that was created for it, with what Azure says of it: OIDC issuer,
            identities, addresses, node resource group; None for one that was there before.
        cluster_id: the resource ID of its cluster; None for one that Azure does not know.
        kubeconfig: its kubeconfig, a secret.
        held: refuses changes that only a new cluster could make, before anything of Azure is made
            or changed.
    """

    record: Cluster
    cluster: CreatedCluster | None
    cluster_id: pulumi.Output[str] | None
    kubeconfig: pulumi.Output[str]

    def __init__(
        self, name: str, args: AzureMemberArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        expect(type(self), name, args, AzureMemberArgs, opts)
        table = args.sizes or built_in_sizes()
        refuse(
            (*args.member.problems(table), *args.login.problems(("login",)), *_joining(args)),
            f"AzureMember {name}",
        )
        self._subscription = asked_subscription(args.member)
        # As given by the caller: the provider of the member's subscription, which is added next,
        # may not reach the subscription of its identity.
        self._subscriptions, self._given = Subscriptions(name, args.providers), opts
        opts = self._subscriptions.options(self._subscription, opts) if self._subscription else opts
        super().__init__("fleet:index:AzureMember", name, None, of_component(opts))
        fixed = self._fixed(args.member)
        self.held = CreateOnly(
            f"{name}-create-only", MEMBER, name, fixed, pulumi.ResourceOptions(parent=self)
        )
        after = pulumi.ResourceOptions(depends_on=[self.held])
        self._mine = pulumi.ResourceOptions.merge(children_of(self, opts), after)
        self.record = cluster_record(args.member, table, default_subscription(self._given))
        self._identifier = _identifier(args.member)
        self.cluster = None
        self._accepted: dict[str, pulumi.Output[dict[str, str]]] = {}
        ready: list[pulumi.Resource] = list(args.ready)
        warned: dict[str, Any] = {}
        if isinstance(args.member, AksMember):
            ready += self._provision(name, args.member, args.login)
            if args.tell_cost:
                warned |= tell_cost(self, (name,), name, member_cost(args.member, table), table)
        elif isinstance(args.member, JoinedMember):
            self._take(args.member, args.login)
        if args.hub is not None:
            register(name, args.member, self.cluster_id, args.hub, ready, self._mine)
        warned |= self.cluster.outputs if self.cluster else {}
        self.register_outputs(
            {
                **warned,
                "record": encode(self.record),
                "clusterId": self.cluster_id,
                "kubeconfig": self.kubeconfig,
                **self._accepted,
            }
        )

    @property
    def member(self) -> Member:
        """Member in the form that :class:`fleet_components.Fleet` takes."""
        return Member(self.record, self.kubeconfig, self._identifier)

    def _fixed(self, member: FleetMember) -> dict[str, Any]:
        """Return the values that only a new cluster can change."""
        if isinstance(member, AksMember):
            where = reached_subscription(self, self._subscription)
            return {**cluster.fixed_at_creation(member), "subscription": where}
        return {
            "name": member.name,
            "clusterId": member.cluster_id if isinstance(member, JoinedMember) else "",
        }

    def _provision(self, name: str, member: AksMember, login: Login) -> list[pulumi.Resource]:
        keeper = ClusterRequests(name, member, self)
        roles: dict[str, authorization.RoleAssignment] = {}
        reached: list[pulumi.Resource] = []
        needed = bool(member.subnets) and member.subnet_roles
        # A user-assigned identity needs its roles on the subnets before the cluster is created.
        if needed and member.identity is not None:
            principal = asked_principal(member, self, self._subscriptions, self._given)
            roles = subnet_roles(name, member, principal, self._mine)
            words, minutes = tuple(roles), member.role_wait
            reached = roles_reached(
                f"{name}-subnet-roles", words, list(roles.values()), minutes, self._mine
            )
        before = pulumi.ResourceOptions(depends_on=[*roles.values(), *reached])
        after = pulumi.ResourceOptions.merge(self._mine, before)
        made = cluster.managed_cluster(f"{name}-cluster", member, keeper, after)
        # A system-assigned identity exists only once the cluster does.
        if needed and member.identity is None:
            roles = subnet_roles(name, member, made.identity.apply(principal_of), self._mine)
        pools = [
            cluster.agent_pool(f"{name}-{pool.name}", pool, member, keeper, made, self._mine)
            for pool in member.pools
        ]
        for window in member.maintenance:
            cluster.maintenance(
                f"{name}-{window.upgrades}-window", window, member, made, self._mine
            )
        self._accepted = {REQUESTS: keeper.accepted((made, *pools))}
        self.cluster, self.cluster_id = CreatedCluster(made), made.id
        self.kubeconfig = self._ask_azure(member.resource_group, made.name, login)
        return [made, *pools, *roles.values()]

    def _take(self, member: JoinedMember, login: Login) -> None:
        self.cluster_id = pulumi.Output.from_input(member.cluster_id) if member.cluster_id else None
        own = own_kubeconfig(member.kubeconfig, member.kubeconfig_file)
        if own is not None:
            self.kubeconfig = own
        else:
            found = member.cluster
            assert found, "declarations are checked before they are used"
            where = pulumi.Output.from_input(reached_subscription(self, self._subscription))
            # The ID's parts are known, but Azure is asked only after the check that the provider
            # works in the declared subscription.
            self.kubeconfig = self._ask_azure(
                where.apply(lambda _: found.resource_group), found.name, login
            )

    def _ask_azure(
        self, resource_group: pulumi.Input[str], cluster_name: pulumi.Input[str], login: Login
    ) -> pulumi.Output[str]:
        credentials: pulumi.Output[Any] = aks.list_managed_cluster_user_credentials_output(
            resource_group_name=resource_group,
            resource_name=cluster_name,
            # The form with kubelogin, whose mode ``with_login`` sets: Azure does not take it as an
            # argument.
            format="exec",
            opts=pulumi.InvokeOptions(parent=self),
        )
        return pulumi.Output.secret(
            credentials.apply(lambda found: with_login(decoded(found), login))
        )


def _joining(args: AzureMemberArgs) -> list[Problem]:
    member = args.member
    problems = []
    if isinstance(args.hub, AzureHub) and member.cluster is None:
        problems.append(
            Problem(
                Message("azure-fleet-takes-aks", "an Azure fleet takes AKS and Arc clusters only"),
                ("clusterId",),
                "or join no hub",
            )
        )
    if isinstance(member, JoinedMember):
        problems += file_problems(member.kubeconfig_file)
    return problems


def asked_subscription(member: FleetMember) -> str:
    """Return the ID of the subscription that Azure is asked in; empty for the fleet's, or if Azure
    is not asked.
    """
    asked = isinstance(member, AksMember) or not _has_kubeconfig(member)
    return member.cluster.subscription if asked and member.cluster else ""


def _has_kubeconfig(member: FleetMember) -> bool:
    return isinstance(member, JoinedMember) and (
        bool(member.kubeconfig_file) or member.kubeconfig is not None
    )


def _identifier(member: FleetMember) -> str:
    """Return the identifier of the cluster, without the subscription, which a program may only
    learn later.
    """
    found = member.cluster
    return f"{found.type}/{found.resource_group}/{found.name}" if found else member.name


# Upgrades of a fleet's members: update strategies, update runs and auto-upgrade profiles.


@attrs.frozen(kw_only=True)
class AzureUpgradesArgs(Arguments):
    """Arguments of the upgrades of a fleet.

    Attributes:
        hub: the fleet, with or without a hub cluster.
        strategies: the orders of upgrading that runs and profiles refer to.
        runs: upgrades that people start.
        profiles: upgrades that Azure starts. Members that they touch are declared with ``upgrades:
            fleet``.
        groups: the update groups of the members, to report groups without members; None to skip
            that check.
    """

    hub: AzureHub
    strategies: tuple[Strategy, ...] = ()
    runs: tuple[Run, ...] = ()
    profiles: tuple[AutoUpgrade, ...] = ()
    groups: frozenset[str] | None = None

    def problems(self) -> Iterator[Problem]:
        """Return a problem for each value that Azure would reject."""
        together = Upgrades(strategies=self.strategies, runs=self.runs, profiles=self.profiles)
        return together.problems(self.groups)


class AzureUpgrades(pulumi.ComponentResource):
    """Update strategies, update runs and auto-upgrade profiles of a fleet.

    Attributes:
        strategies: the resource IDs of the strategies by name.
    """

    strategies: dict[str, pulumi.Output[str]]

    def __init__(
        self, name: str, args: AzureUpgradesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        expect(type(self), name, args, AzureUpgradesArgs, opts)
        refuse(args.problems(), f"AzureUpgrades {name}")
        super().__init__("fleet:index:AzureUpgrades", name, None, opts)
        mine = children_of(self, opts)

        def child(
            kind: str,
            word: str,
            of: Strategy | Run | AutoUpgrade,
            more: dict[str, Any],
            *ignored: str,
        ) -> Any:
            properties = {**of.body(), **more}
            return fleet_child(
                f"{name}-{word}-{of.name}",
                kind,
                of.name,
                args.hub.address,
                properties,
                mine,
                ignored,
            )

        self.strategies = {
            each.name: child("updateStrategies", "strategy", each, {}).id
            for each in args.strategies
        }
        for run in args.runs:
            # Azure copies the strategy into a run when the run is created, and later uses only the
            # copy.
            child("updateRuns", "run", run, self._following(run.strategy), "strategy")
        for profile in args.profiles:
            child("autoUpgradeProfiles", "profile", profile, self._following(profile.strategy))
        self.register_outputs({"strategies": self.strategies})

    def _following(self, strategy: str) -> dict[str, Any]:
        return {"updateStrategyId": self.strategies[strategy]} if strategy else {}
