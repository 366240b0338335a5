"""Declaration of an AKS cluster that the fleet creates as a member."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from fleet_components.azure.values import availability, checks, names
from fleet_components.azure.values.arm_id import AKS, SUBNET, ClusterId, resource_problems
from fleet_components.azure.values.autoscaler import system_pool_problems
from fleet_components.azure.values.features import FeaturedMember, MaintenanceWindow
from fleet_components.azure.values.network import ApiServer, Network
from fleet_components.azure.values.node_pool import SYSTEM, NodePool
from fleet_components.azure.values.own_subnets import api_server_problems, pod_subnet_problems
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.cluster import NO_LABELS
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later, Typed

BY_PULUMI, BY_FLEET = "pulumi", "fleet"
# Azure's limit for one cluster, including the first pool.
_MOST_POOLS = 100
_IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities"
_DNS_ZONE = "Microsoft.Network/privateDnsZones"
_TIERS = ("Free", "Standard", "Premium")
_NODE_OS_CHANNELS = ("None", "Unmanaged", "SecurityPatch", "NodeImage")


@attrs.frozen(kw_only=True)
class Entra(Typed):
    """Sign-in with Entra ID.

    Attributes:
        admin_groups: object IDs of the groups whose users administer the cluster.
        azure_rbac: Azure role assignments decide what users may do in Kubernetes; on by default.
        tenant: the tenant's ID; None for the subscription's.
    """

    admin_groups: tuple[str, ...] = ()
    azure_rbac: bool = True
    tenant: str | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        for position, group in enumerate(self.admin_groups):
            yield from names.OBJECT_ID.problems(group, (*path, "adminGroups", position))
        if self.tenant is not None:
            yield from names.OBJECT_ID.problems(self.tenant, (*path, "tenant"))


@attrs.frozen(kw_only=True)
class AksMember(FeaturedMember):
    """An AKS cluster to be created and joined. Its optional features are the attributes of
    :class:`FeaturedMember`.

    These can only be set when a cluster is created: name, region, resource group, DNS prefix, node
    resource group, network, subnet, disk encryption set, whether the API server is private, and
    those fields of the first system pool that can only be set when a pool is created. Entra ID and
    the OIDC issuer can be switched on later, never off; a private DNS zone can change to ``none``
    only; ``kubernetes_version`` goes up by one minor version at a time, never down.

    Attributes:
        resource_group: the resource group of the cluster; it must exist.
        system_pool: the first pool. Azure creates it together with the cluster, so it exists as
            long as the cluster.
        pools: all other pools, of either mode; they can be added and removed at any time.
        subscription: the subscription's ID, for the automatic label; empty if the program does not
            know it.
        cluster_name: the name of the AKS cluster; empty for the member's name.
        kubernetes_version: a minor version such as ``1.36`` or a patch version of one; None for
            Azure's default.
        upgrades: ``pulumi`` (the versions declared here are applied) or ``fleet``
            (``kubernetes_version`` is that of a new cluster; update runs and auto-upgrade profiles
            change it, and updates leave it as it stands).
        tier: ``Standard`` (the default), ``Free`` (no service level) or ``Premium`` (long-term
            support).
        long_term_support: long-term support; needs tier Premium.
        network: how the cluster is connected.
        subnet: the ID of the nodes' subnet; None lets Azure create one. A Pulumi output is
            accepted.
        api_server: who can reach the Kubernetes API.
        entra: sign-in with Entra ID; None leaves certificates only and needs ``local_accounts``.
        local_accounts: certificates that bypass Entra ID; off by default.
        oidc_issuer: workloads get tokens that Entra ID can trust; on by default.
        workload_identity: workloads sign in to Azure with identities of their own; on by default.
        identity: the ID of a user-assigned identity; None for a system-assigned one. A Pulumi
            output is accepted.
        node_os_channel: how node images are updated between upgrades; None for ``NodeImage``, or
            for ``None`` if the fleet upgrades.
        maintenance: when Azure may upgrade.
        dns_prefix: prefix of the API server's address; empty for the cluster's name.
        node_resource_group: the resource group of the machines, up to 80 characters, which Azure
            makes itself; None for Azure's default.
        tags: Azure tags of the cluster, 50 at most.
        subnet_roles: the cluster's identity gets the role Network Contributor on the subnets named
            here, those of nodes, pods and API server; on by default. Off if it has the role
            already: Azure refuses a second assignment.
        role_wait: minutes, 60 at most, that these roles have to reach before the cluster is created
            with a user-assigned identity; 15 by default, 0 not to wait. They are waited out,
            counted from the creation of the assignments, because nobody can be asked.
    """

    resource_group: str
    system_pool: NodePool
    pools: tuple[NodePool, ...] = ()
    subscription: str = ""
    cluster_name: str = ""
    kubernetes_version: str | None = None
    upgrades: str = BY_PULUMI
    tier: str = "Standard"
    long_term_support: bool = False
    network: Network = attrs.field(factory=Network)
    subnet: str | Later | None = None
    api_server: ApiServer = attrs.field(factory=ApiServer)
    entra: Entra | None = attrs.field(factory=Entra)
    local_accounts: bool = False
    oidc_issuer: bool = True
    workload_identity: bool = True
    identity: str | Later | None = None
    node_os_channel: str | None = None
    maintenance: tuple[MaintenanceWindow, ...] = ()
    dns_prefix: str = ""
    node_resource_group: str | None = None
    tags: Mapping[str, str] = NO_LABELS
    subnet_roles: bool = True
    role_wait: int = 15

    @property
    def aks_name(self) -> str:
        """The name of the AKS cluster."""
        return self.cluster_name or self.name

    @property
    def cluster(self) -> ClusterId:
        """The parts of the cluster's resource ID, as far as they are declared."""
        return ClusterId(self.subscription, self.resource_group, AKS, self.aks_name)

    @property
    def node_pools(self) -> tuple[NodePool, ...]:
        """The first system pool, then the others."""
        # The default mode of a pool is User, but the first pool of a cluster is a system pool.
        return (attrs.evolve(self.system_pool, mode=SYSTEM), *self.pools)

    @property
    def has_subnets(self) -> bool:
        """True if its nodes are in subnets of one's own."""
        return self.subnet is not None or any(pool.subnet is not None for pool in self.node_pools)

    @property
    def subnets(self) -> Mapping[str, str | Later]:
        """All subnets of one's own by what is in them: ``subnet`` of all nodes, ``<pool>-subnet``,
        ``<pool>-pod-subnet`` and ``api-server-subnet``; each once, whatever the case of its ID.
        """
        named = {"subnet": self.subnet}
        named |= {f"{pool.name}-subnet": pool.subnet for pool in self.node_pools}
        named |= {f"{pool.name}-pod-subnet": pool.pod_subnet for pool in self.node_pools}
        named["api-server-subnet"] = self.api_server.subnet
        # Outputs cannot be compared before they are known, so each counts by its identity.
        once: dict[str | int, tuple[str, str | Later]] = {}
        for name, subnet in named.items():
            if subnet is not None:
                once.setdefault(
                    subnet.lower() if isinstance(subnet, str) else id(subnet), (name, subnet)
                )
        return dict(once.values())

    @property
    def default_max_pods(self) -> int:
        """Pods per node for pools that do not set it."""
        return self.network.max_pods

    def problems(self, table: SizeTable, path: FieldPath = ()) -> Iterator[Problem]:
        """Yield Azure validation errors, unknown VM sizes included."""
        yield from super().problems(table, path)
        yield from self._name_problems(path)
        yield from self._pool_problems(table, path)
        yield from self._place_problems(table, path)
        yield from checks.tags(self.tags, (*path, "tags"))
        yield from checks.role_wait(self.role_wait, (*path, "roleWait"))
        if self.subnet is not None:
            yield from resource_problems(self.subnet, SUBNET, (*path, "subnet"))
        yield from self.network.problems(self.subnet is not None, (*path, "network"))
        yield from self.api_server.problems((*path, "apiServer"))
        yield from self._sign_in_problems(path)
        yield from self._identity_problems(path)
        yield from self._upgrade_problems(path)
        yield from pod_subnet_problems(self, path)
        yield from api_server_problems(self, path)

    def _name_problems(self, path: FieldPath) -> Iterator[Problem]:
        yield from names.RESOURCE_GROUP.problems(self.resource_group, (*path, "resourceGroup"))
        yield from names.CLUSTER.problems(self.aks_name, (*path, "clusterName"))
        yield from names.DNS_PREFIX.problems(self.dns_prefix or self.aks_name, (*path, "dnsPrefix"))
        if self.subscription:
            yield from names.SUBSCRIPTION.problems(self.subscription, (*path, "subscription"))
        if self.node_resource_group is not None:
            at = (*path, "nodeResourceGroup")
            yield from names.NODE_RESOURCE_GROUP.problems(self.node_resource_group, at)
            if self.node_resource_group.lower() == self.resource_group.lower():
                hint = "Azure makes this group itself: give it a name of its own"
                yield Problem(
                    Message("resource-group-cluster", "it is the resource group of the cluster"),
                    at,
                    hint,
                )

    def _pool_problems(self, table: SizeTable, path: FieldPath) -> Iterator[Problem]:
        yield from self.node_pools[0].problems(table, (*path, "systemPool"))
        for position, pool in enumerate(self.pools):
            yield from pool.problems(table, (*path, "pools", position))
        own = [pool.name for pool in self.pools]
        yield from checks.unique(own, "node pool", (*path, "pools"))
        if self.system_pool.name in own:
            position = own.index(self.system_pool.name)
            hint = "give each its own name"
            yield Problem(
                Message(
                    "first-system-pool",
                    '"{name}" is the first system pool',
                    name=self.system_pool.name,
                ),
                (*path, "pools", position, "name"),
                hint,
            )
        # ``own`` lacks the first system pool, which counts as well.
        if len(own) >= _MOST_POOLS:
            yield Problem(
                Message("node-pools", "{own} node pools", own=len(own) + 1),
                (*path, "pools"),
                f"{_MOST_POOLS} at most",
            )

    def _place_problems(self, table: SizeTable, path: FieldPath) -> Iterator[Problem]:
        # If every pool states its price, the regions of the table do not matter.
        if not all(pool.hourly_price is not None for pool in self.node_pools):
            more = ", or the hourlyPrice of every pool"
            yield from availability.region_problems(
                self.region, table, (*path, "region"), more=more
            )
        # Both begin with the system pool.
        for pool, at in zip(self.node_pools, self._pool_paths(path), strict=True):
            yield from availability.pool_problems(pool, self.region, table, at)
            yield from system_pool_problems(pool, self.default_max_pods, table, at)
        yield from self.network.room_problems(
            sum(pool.most_nodes for pool in self.node_pools), (*path, "network")
        )

    def _pool_paths(self, path: FieldPath) -> list[FieldPath]:
        return [
            (*path, "systemPool"),
            *((*path, "pools", position) for position in range(len(self.pools))),
        ]

    def _sign_in_problems(self, path: FieldPath) -> Iterator[Problem]:
        if self.entra:
            yield from self.entra.problems((*path, "entra"))
        elif not self.local_accounts:
            yield Problem(
                Message("nobody-could-sign", "nobody could sign in"),
                (*path, "entra"),
                "entra: {}, or localAccounts: true",
            )
        if self.workload_identity and not self.oidc_issuer:
            yield Problem(
                Message("workload-identity-needs-oidc", "workload identity needs the OIDC issuer"),
                (*path, "workloadIdentity"),
                "oidcIssuer: true",
            )
        # Besides IDs, Azure takes the words "system" (it makes the zone) and "none" (public DNS).
        zone, at = self.api_server.private_dns_zone, (*path, "apiServer", "privateDnsZone")
        if zone not in (None, "system", "none"):
            yield from resource_problems(str(zone), _DNS_ZONE, at)
            if self.identity is None:
                yield Problem(
                    Message(
                        "dns-zone-one-s", "a DNS zone of one's own needs a user-assigned identity"
                    ),
                    at,
                    "set identity",
                )

    def _identity_problems(self, path: FieldPath) -> Iterator[Problem]:
        # "Use kubenet networking in AKS" (Microsoft, 2026-08): other clients than Azure's CLI need
        # a user-assigned one.
        if self.network.plugin == "kubenet" and self.has_subnets and self.identity is None:
            what = Message(
                "kubenet-subnet-one-s",
                "kubenet in a subnet of one's own needs a user-assigned identity",
            )
            yield Problem(
                what,
                (*path, "identity"),
                "the ID of one, with write access to the route table if there is one",
            )
        if self.identity is not None:
            yield from resource_problems(self.identity, _IDENTITY, (*path, "identity"))

    def _upgrade_problems(self, path: FieldPath) -> Iterator[Problem]:
        if self.kubernetes_version is not None:
            yield from names.KUBERNETES_VERSION.problems(
                self.kubernetes_version, (*path, "kubernetesVersion")
            )
        yield from checks.choice_of(self.upgrades, (BY_PULUMI, BY_FLEET), (*path, "upgrades"))
        yield from checks.choice_of(self.tier, _TIERS, (*path, "tier"))
        if self.long_term_support and self.tier != "Premium":
            yield Problem(
                Message("long-term-support-needs-tier", "long-term support needs tier Premium"),
                (*path, "longTermSupport"),
                "tier: Premium",
            )
        if self.node_os_channel is not None:
            yield from checks.choice_of(
                self.node_os_channel, _NODE_OS_CHANNELS, (*path, "nodeOsChannel")
            )
        for position, window in enumerate(self.maintenance):
            yield from window.problems((*path, "maintenance", position))
        kinds = [window.upgrades for window in self.maintenance]
        yield from checks.unique(
            kinds, "maintenance window for", (*path, "maintenance"), "upgrades"
        )
