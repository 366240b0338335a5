"""The hub of a fleet: Azure's fleet manager, with or without a hub cluster, or a hub cluster of
one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs
import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice, resources

from fleet_components.azure.components.arm import (
    HUB_ADMIN,
    RESOURCE,
    FleetAddress,
    children_of,
    fleet_resource,
    of_component,
)
from fleet_components.azure.components.hub_network import (
    AzureAccess,
    AzureAccessArgs,
    Grant,
    HubNetwork,
    HubPlace,
    grant_problems,
    hub_network,
)
from fleet_components.azure.components.kubeconfig import (
    Login,
    decoded,
    file_problems,
    own_kubeconfig,
    principal_of,
    roles_reached,
    sooner_or_later,
    tell_cost,
    with_login,
)
from fleet_components.azure.dynamic import CreateOnly
from fleet_components.azure.values import availability, checks, names
from fleet_components.azure.values.cost import hub_cost
from fleet_components.azure.values.create_only import HUB
from fleet_components.azure.values.vm_size import SizeTable, built_in_sizes
from fleet_components.components.past import read_stored
from fleet_components.components.process import unknown
from fleet_components.components.refusal import Arguments, expect, refuse
from fleet_components.model.cluster import NO_LABELS
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.typed import Later

PUBLIC, PRIVATE, HUBLESS = "public", "private", "hubless"


@attrs.frozen(kw_only=True)
class AzureHubArgs(Arguments):
    """Arguments of a fleet manager.

    A hubless fleet can get a hub later. Everything else is fixed at creation: name, region and
    resource group; of a hub also whether it is private, its VM size, DNS prefix and subnets.
    Changing one is refused in the preview.

    Attributes:
        resource_group: the resource group that holds it; it must exist.
        region: the short name of its region. Members may be anywhere.
        fleet_name: its name in Azure; empty for the component's name.
        kind: ``public`` (a hub cluster that is reached over the internet), ``private`` (in a
            virtual network only) or ``hubless`` (update runs only, free of charge).
        network: where a private hub lives; needed for ``private``, not taken otherwise.
        vm_size: the size of the hub's one node; None lets Azure choose.
        dns_prefix: the DNS prefix of a public hub's address; empty for the fleet's name.
        login: how the kubeconfig signs in.
        kubeconfig_file: the path of the hub's kubeconfig, which is taken as it is: for a tunnel to
            a private hub, or in place of the answer of Azure, which the SDK asks for at API version
            2024-05-02-preview; empty to ask Azure.
        kubeconfig: the text of that kubeconfig instead, which may be a Pulumi output; not available
            in YAML.
        grants: roles in the fleet; taints wait for them, so a pipeline can grant itself what they
            need.
        role_wait: minutes, 60 at most, that new roles have to reach; 15 by default, 0 not to wait.
            A hub is asked until it lets its user taint members, if a grant makes somebody its
            cluster admin. For the network of a private hub the time is waited out, counted from the
            creation of the assignments, because nobody can be asked.
        tags: Azure tags.
        sizes: the table for the cost estimate; None for the built-in one.
    """

    resource_group: str
    region: str
    fleet_name: str = ""
    kind: str = PUBLIC
    network: HubNetwork | None = None
    vm_size: str | None = None
    dns_prefix: str = ""
    login: Login = attrs.field(factory=Login)
    kubeconfig_file: str = ""
    kubeconfig: str | Later | None = attrs.field(default=None, repr=False)
    grants: tuple[Grant, ...] = ()
    role_wait: int = 15
    tags: Mapping[str, str] = NO_LABELS
    sizes: SizeTable | None = None

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each value that Azure would reject."""
        yield from names.FLEET.problems(self.fleet_name, ("fleetName",))
        yield from names.RESOURCE_GROUP.problems(self.resource_group, ("resourceGroup",))
        table = self.sizes or built_in_sizes()
        yield from availability.region_problems(self.region, table, ("region",))
        yield from checks.tags(self.tags, ("tags",))
        yield from checks.choice_of(self.kind, (PUBLIC, PRIVATE, HUBLESS), ("kind",))
        yield from self.login.problems(("login",))
        yield from grant_problems(self.grants)
        yield from checks.role_wait(self.role_wait, ("roleWait",))
        if self.vm_size is not None:
            yield from availability.hub_size_problems(self.vm_size, self.region, table, ("vmSize",))
        if self.kind == PUBLIC:
            yield from names.DNS_PREFIX.problems(self.dns_prefix or self.fleet_name, ("dnsPrefix",))
        elif self.dns_prefix:
            yield Problem(
                Message("fleet-no-dns-prefix", "a {kind} fleet has no DNS prefix", kind=self.kind),
                ("dnsPrefix",),
                "leave it out",
            )
        yield from file_problems(self.kubeconfig_file)
        if self.kind == HUBLESS and (self.kubeconfig_file or self.kubeconfig is not None):
            yield Problem(
                Message("hubless-fleet-no-hub", "a hubless fleet has no hub cluster"),
                ("kubeconfigFile",),
                "leave it out",
            )
        if self.kind == HUBLESS and self.vm_size is not None:
            yield Problem(
                Message("hubless-fleet-no-node", "a hubless fleet has no node"),
                ("vmSize",),
                "leave it out",
            )
        if (self.network is not None) != (self.kind == PRIVATE):
            yield Problem(
                Message("private-hub-no-other", "a private hub, and no other, needs a network"),
                ("network",),
                "kind: private with a network",
            )
        elif self.network is not None:
            yield from self.network.problems(("network",))


class AzureHub(pulumi.ComponentResource):
    """An Azure Kubernetes Fleet Manager.

    Attributes:
        fleet_id: the fleet's resource ID.
        fleet_name: the fleet's name in Azure.
        kubeconfig: the kubeconfig of the hub cluster, a secret; None without a hub cluster.
        kind: ``public``, ``private`` or ``hubless``, as declared.
        fqdn: the address of the hub's API server; None without a hub cluster.
        principal_id: the object ID of the fleet's identity, be it system-assigned or, of a private
            hub, user-assigned.
        resource: the fleet's resource, for all other outputs of Azure.
        held: refuses changes that only a new hub could make, before anything of Azure is made or
            changed.
    """

    fleet_id: pulumi.Output[str]
    fleet_name: str
    kubeconfig: pulumi.Output[str] | None
    fqdn: pulumi.Output[str | None]
    principal_id: pulumi.Output[str | None]
    resource: resources.Resource

    def __init__(
        self, name: str, args: AzureHubArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        expect(type(self), name, args, AzureHubArgs, opts)
        # Before the checks, which look at the name that Azure gets, as does the DNS prefix of a
        # public hub.
        args = attrs.evolve(args, fleet_name=args.fleet_name or name)
        refuse(args.problems(), f"AzureHub {name}")
        super().__init__("fleet:index:AzureHub", name, None, of_component(opts))
        self.kind = args.kind
        self._name, self._args = name, args
        fixed = _fixed_at_creation(args)
        self.held = CreateOnly(
            f"{name}-create-only", HUB, name, fixed, pulumi.ResourceOptions(parent=self)
        )
        after = pulumi.ResourceOptions(depends_on=[self.held])
        self.resource = self._declare_fleet(
            pulumi.ResourceOptions.merge(children_of(self, opts), after)
        )
        self.fleet_id, self.fleet_name = self.resource.id, args.fleet_name
        self.principal_id = self.resource.identity.apply(principal_of)
        self.fqdn = self.resource.properties.apply(_fqdn)
        self.kubeconfig = None if args.kind == HUBLESS else self._read_kubeconfig()
        granted = AzureAccessArgs(scope=self.fleet_id, grants=args.grants)
        self._access = (
            [AzureAccess(name, granted, pulumi.ResourceOptions(parent=self))] if args.grants else []
        )
        self.register_outputs(
            {**self.outputs, "kubeconfig": self.kubeconfig, "kind": args.kind, **self._tell_cost()}
        )

    @property
    def outputs(self) -> dict[str, Any]:
        """All outputs but the kubeconfig by their names in camelCase, as stacks export them; none
        of them is secret.
        """
        fields = {"fleetId": self.fleet_id, "fleetName": self.fleet_name}
        return {**fields, "fqdn": self.fqdn, "principalId": self.principal_id}

    @property
    def address(self) -> FleetAddress:
        """Address for the declaration of the fleet's children."""
        return FleetAddress(self._args.resource_group, self.fleet_name, self.resource, self)

    @cached_property
    def provider(self) -> kubernetes.Provider | None:
        """Kubernetes provider of the hub cluster, created on first access; None for a hubless
        fleet.
        """
        if self.kubeconfig is None:
            return None
        # A role in one managed namespace does not allow its holder to taint members.
        admins = [
            grant for grant in self._args.grants if grant.role == HUB_ADMIN and not grant.namespace
        ]
        reached = roles_reached(
            f"{self._name}-hub-roles",
            [f"{HUB_ADMIN} for {grant.to} on fleet {self.fleet_name}" for grant in admins],
            # ``_access`` is empty, or has one component with the assignments of all grants.
            [access.assignments[grant.key] for access in self._access for grant in admins],
            self._args.role_wait,
            pulumi.ResourceOptions(parent=self),
            self.kubeconfig,
        )
        # Without the identifier, another kubeconfig of the same hub could replace the provider, and
        # with it all objects on the hub.
        return kubernetes.Provider(
            f"{self._name}-hub",
            kubeconfig=self.kubeconfig,
            cluster_identifier=self.fleet_id,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*self._access, *reached]),
        )

    def _declare_fleet(self, mine: pulumi.ResourceOptions) -> resources.Resource:
        args = self._args
        after: list[pulumi.Resource] = []
        properties, identity = _public_profile(args), resources.IdentityArgs(type="SystemAssigned")
        if args.network is not None:
            place = hub_network(self._name, args.network, args.resource_group, args.region, mine)
            properties, identity = _private_profile(args, place), place.identity
            after += place.grants
            after += roles_reached(
                f"{self._name}-network-roles", place.roles, place.grants, args.role_wait, mine
            )
        return fleet_resource(
            f"{self._name}-fleet",
            args.resource_group,
            args.fleet_name,
            {"hubProfile": properties} if args.kind != HUBLESS else {},
            pulumi.ResourceOptions.merge(mine, pulumi.ResourceOptions(depends_on=after)),
            location=args.region,
            identity=identity,
            tags=dict(args.tags),
        )

    def _read_kubeconfig(self) -> pulumi.Output[str]:
        own = own_kubeconfig(self._args.kubeconfig, self._args.kubeconfig_file)
        if own is not None:
            return own
        if pulumi.runtime.is_dry_run() and _is_hubless(f"{self._name}-fleet"):
            # The update gives the fleet its hub; until then Azure has no credentials to give out.
            return pulumi.Output.secret(unknown())
        credentials = containerservice.list_fleet_credentials_output(
            resource_group_name=self._args.resource_group,
            # The output, not the declared name: Azure has credentials only once the fleet exists.
            fleet_name=self.resource.name,
            opts=pulumi.InvokeOptions(parent=self),
        )
        return pulumi.Output.secret(
            credentials.apply(lambda found: with_login(decoded(found), self._args.login))
        )

    def _tell_cost(self) -> dict[str, Any]:
        if self.kind == HUBLESS:
            return {}
        table = self._args.sizes or built_in_sizes()
        cost = hub_cost(self._args.region, self._args.vm_size, table)
        return tell_cost(self, (self._name,), f"hub {self._name}", cost, table)


@attrs.frozen(eq=False)
class OwnHub(Arguments):
    """A hub cluster of one's own, with KubeFleet's hub agent installed.

    Azure does not know its members: update runs need an :class:`AzureHub`.

    Attributes:
        provider: the Kubernetes provider of the hub cluster.
        member_identity: returns the RBAC subject that a member's agent signs in with, given the
            member's name.
    """

    provider: kubernetes.Provider
    member_identity: Callable[[str], Mapping[str, Any]]


def _fqdn(properties: Any) -> Any:
    hub = (properties or {}).get("hubProfile")
    return sooner_or_later(hub.get("fqdn"), expected=True) if hub is not None else None


def _is_hubless(name: str) -> bool:
    """Return whether the fleet with this resource stands without a hub cluster, by the state before
    this run.
    """
    found = [
        stored.outputs.get("properties") or {}
        for stored in read_stored((RESOURCE,))
        if stored.name == name
    ]
    # A fleet that is not in the state yet is created together with its hub.
    return bool(found) and not any(properties.get("hubProfile") for properties in found)


def _fixed_at_creation(args: AzureHubArgs) -> dict[str, Any]:
    hub = None
    if args.kind != HUBLESS:
        hub = {
            "private": args.kind == PRIVATE,
            "vmSize": args.vm_size,
            "dnsPrefix": args.dns_prefix or args.fleet_name,
            "network": args.network.fixed if args.network else None,
        }
    return {
        "fleetName": args.fleet_name,
        "resourceGroup": args.resource_group,
        "region": args.region,
        "hub": hub,
    }


def _public_profile(args: AzureHubArgs) -> dict[str, Any]:
    node = {"agentProfile": {"vmSize": args.vm_size}} if args.vm_size else {}
    return {"dnsPrefix": args.dns_prefix or args.fleet_name, **node}


def _private_profile(args: AzureHubArgs, place: HubPlace) -> dict[str, Any]:
    size = {"vmSize": args.vm_size} if args.vm_size else {}
    server = {
        "enablePrivateCluster": True,
        "enableVnetIntegration": True,
        "subnetId": place.api_server,
    }
    return {"agentProfile": {"subnetId": place.agents, **size}, "apiServerAccessProfile": server}
