"""Keeps versions and node counts that Azure moves by itself: no later request asks for older ones.

Update runs of the fleet move versions, the autoscaler moves node counts. ``ignore_changes`` alone
does not do: Pulumi then sends the value of its state, which nobody updated since the last refresh.
Nor can these fields just be left out:

- ``count``: "Required parameter properties.count is missing (null)" is the answer to an update
without it, and to
  another number than the one that stands "Cannot manually scale AgentPool [...] with cluster
  autoscaler enabled".
- ``kubernetesVersion`` of a cluster: no text promises that an update without it keeps what is
there; the advice given
  with the service's change log of April 2022 is to read, change and write back.
- ``orchestratorVersion`` of a pool can be left out: "If a node pool Kubernetes version isn't
specified [...],
  declaration falls back to the existing version defined for the node pool" (AKS, "Upgrade node
  pools"). A request for a cluster must leave it out as long as it does not list all pools: "Using
  managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all
  unspecified. If all specified, they must be stay unchanged or the same with control plane". So an
  upgrade by Pulumi lists all pools, any other request the first one without it.

So an update asks Azure for what stands, and sends that. To show no update where there is none to
make, the state is kept as it is (``ignore_changes``) while the rest of a request is that of the
last update: a member's component holds the digests of its requests. What gets past this, such as a
transform that changes a request, is refused before it is sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.values.aks_member import BY_FLEET, AksMember
from fleet_components.azure.values.kubernetes_version import is_older
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.standing import (
    StandingCluster,
    StandingPool,
    cluster_setbacks,
    pool_setbacks,
)
from fleet_components.components.past import read_stored

MEMBER_TYPE = "fleet:index:AzureMember"
REQUESTS = "requests"
"""Output of a member's component: the digests of the requests that Azure accepted last, by resource
name.
"""
_CLUSTER, _POOL = (
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
)


class ClusterRequests:
    """Settles the requests for one member's cluster and pools.

    Args:
        name: the name of the member's component.
        member: its declaration.
        component: the component; Azure is asked with its provider.
    """

    def __init__(self, name: str, member: AksMember, component: pulumi.Resource) -> None:
        self._member, self._component = member, component
        self._stands = {
            (stored.type, stored.name): stored.outputs for stored in read_stored((_CLUSTER, _POOL))
        }
        # Names are unique only under one parent, so several components may match.
        self._before = [
            stored.outputs.get(REQUESTS) or {}
            for stored in read_stored((MEMBER_TYPE,))
            if stored.name == name
        ]
        self._digests: dict[str, str] = {}

    def cluster(
        self,
        name: str,
        args: aks.ManagedClusterArgs,
        others: Sequence[aks.ManagedClusterAgentPoolProfileArgs],
    ) -> pulumi.ResourceOptions:
        """Set what stands in the arguments of a cluster that exists, and return the options that
        keep it.

        Args:
            name: the name of the cluster's resource.
            args: its arguments, as for a creation with the first pool; changed in place.
            others: the further pools, for an upgrade, which has to list all of them.
        """
        # managed_cluster lists the first pool only.
        member, (first,) = self._member, args.agent_pool_profiles
        # After a refresh or an upgrade the state lists all pools in the cluster, which this request
        # does not.
        listed = "agentPoolProfiles" if len(self._listed(name)) > 1 else ""
        fields = [
            _Field(
                first, "orchestrator_version", listed or "agentPoolProfiles[0].orchestratorVersion"
            )
        ]
        if self._azure_decides_version:
            fields.append(_Field(args, "kubernetes_version", "kubernetesVersion"))
        if member.system_pool.autoscaled:
            fields.append(_Field(first, "count", listed or "agentPoolProfiles[0].count"))
        ignored = self._unless_changed(_CLUSTER, name, args, fields)
        # A new request: it states what Azure has now, since Pulumi sends all fields.
        if ignored is None:
            standing = self._standing_cluster()
            if self._azure_decides_version:
                args.kubernetes_version = standing.apply(lambda cluster: cluster.declared)
            args.agent_pool_profiles = standing.apply(
                lambda cluster: self._profiles([first, *others], cluster)
            )
        guard = self._guard(_CLUSTER, name, self._cluster_setbacks)
        return pulumi.ResourceOptions(ignore_changes=ignored, hooks=guard)

    def pool(
        self, name: str, args: aks.AgentPoolArgs, pool: NodePool, cluster: pulumi.Resource
    ) -> pulumi.ResourceOptions:
        """Set what stands in the arguments of a further pool that exists, and return the options
        that keep it.

        Args:
            name: the name of the pool's resource.
            args: its arguments, as for a creation; changed in place.
            pool: its declaration.
            cluster: the cluster's resource: Azure is asked when that is done.
        """
        fields = [_Field(args, "count", "count")] if pool.autoscaled else []
        if self._azure_decides_version:
            fields.append(_Field(args, "orchestrator_version", "orchestratorVersion"))
        ignored = self._unless_changed(_POOL, name, args, fields)
        if ignored is None and pool.autoscaled:
            args.count = self._standing_pool(pool.name, cluster).apply(
                lambda standing: standing.nodes
            )
        guard = self._guard(_POOL, name, lambda request: self._pool_setbacks(pool.name, request))
        return pulumi.ResourceOptions(ignore_changes=ignored, hooks=guard)

    def accepted(self, made: Iterable[pulumi.CustomResource]) -> pulumi.Output[dict[str, str]]:
        """Return the digests of all requests, known when Azure has accepted them."""
        return pulumi.Output.all(*(resource.id for resource in made)).apply(
            lambda _: dict(self._digests)
        )

    def _listed(self, name: str) -> Sequence[Any]:
        """Return the pools that the state lists in the cluster, as Azure does in its answers."""
        listed: Sequence[Any] = (
            self._stands.get((_CLUSTER, name), {}).get("agentPoolProfiles") or ()
        )
        return listed

    def _unless_changed(
        self, kind: str, name: str, args: Any, fields: Iterable[_Field]
    ) -> list[str] | None:
        """Return the paths to ignore, none for a creation; None if the request for what exists is a
        new one.
        """
        key = f"{kind.rpartition(':')[2]} {name}"
        self._digests[key] = digest = _digest(args, fields)
        # Not in the state: a creation, which sends everything.
        if (kind, name) not in self._stands:
            return []
        known = self._before and all(before.get(key) == digest for before in self._before)
        return sorted({field.path for field in fields}) if known else None

    def _guard(
        self,
        kind: str,
        name: str,
        setbacks: Callable[[Mapping[str, Any]], Awaitable[Iterable[str]]],
    ) -> pulumi.ResourceHookBinding:
        """Return the hook that refuses an update, in previews too, which would set something
        back.
        """

        async def refuse_setbacks(update: pulumi.ResourceHookArgs) -> None:
            found = list(await setbacks(update.new_inputs or {}))
            if found:
                raise pulumi.RunError(f"{name}: {'; '.join(found)} ({self._way_out()})")

        options = pulumi.ResourceHookOptions(on_dry_run=True)
        hook = pulumi.ResourceHook(
            f"{name}-{kind.rpartition(':')[2]}-keeps", refuse_setbacks, options
        )
        return pulumi.ResourceHookBinding(before_update=[hook])

    @property
    def _azure_decides_version(self) -> bool:
        return self._member.upgrades == BY_FLEET or self._member.kubernetes_version is None

    def _way_out(self) -> str:
        declare = (
            ""
            if self._azure_decides_version
            else "declare the version that stands, or upgrades: fleet; else "
        )
        return f"{declare}run pulumi refresh, then update again"

    def _profiles(self, profiles: Sequence[Any], cluster: StandingCluster) -> list[Any]:
        """Return the pools to list in a request: the first one, or all with their new version for
        an upgrade.
        """
        member, wanted = self._member, self._member.kubernetes_version
        first, *_ = profiles
        autoscaled = {pool.name for pool in member.node_pools if pool.autoscaled}
        standing = [profile for profile in profiles if profile.name in cluster.pools]
        for profile in standing:
            if profile.name in autoscaled:
                profile.count = cluster.pools[profile.name].nodes
        # A single pool is the whole list, so the version that it may name is complete as well.
        if self._azure_decides_version or len(cluster.pools) == 1:
            return [first]
        upgraded = any(wanted and is_older(pool.version, wanted) for pool in cluster.pools.values())
        # Azure takes versions for all pools or for none, and this request cannot describe a pool
        # that nobody declares.
        undeclared = sorted({*cluster.pools} - {profile.name for profile in standing})
        if upgraded and undeclared:
            _tell_undeclared(member, undeclared, self._component)
        listed = standing if upgraded and not undeclared else [first]
        for profile in listed:
            profile.orchestrator_version = wanted if upgraded and not undeclared else None
        return listed

    async def _cluster_setbacks(self, request: Mapping[str, Any]) -> Iterator[str]:
        return cluster_setbacks(request, await _value(self._standing_cluster()))

    async def _pool_setbacks(self, pool: str, request: Mapping[str, Any]) -> Iterator[str]:
        return pool_setbacks(f"node pool {pool}", request, await _value(self._standing_pool(pool)))

    def _standing_cluster(self) -> pulumi.Output[StandingCluster]:
        found: pulumi.Output[Any] = aks.get_managed_cluster_output(
            resource_group_name=self._member.resource_group,
            resource_name=self._member.aks_name,
            opts=pulumi.InvokeOutputOptions(parent=self._component),
        )
        return found.apply(_cluster_of)

    def _standing_pool(self, pool: str, *after: pulumi.Resource) -> pulumi.Output[StandingPool]:
        found: pulumi.Output[Any] = aks.get_agent_pool_output(
            resource_group_name=self._member.resource_group,
            resource_name=self._member.aks_name,
            agent_pool_name=pool,
            opts=pulumi.InvokeOutputOptions(parent=self._component, depends_on=list(after)),
        )
        return found.apply(_pool_of)


@attrs.frozen(eq=False)
class _Field:
    """A field that Azure moves: where it is in the arguments, and its path in the request."""

    owner: Any
    name: str
    path: str


def _digest(args: Any, fields: Iterable[_Field]) -> str:
    """Return a digest of a request without the fields that Azure moves, and without outputs: those
    come too late.
    """
    moved = {(id(field.owner), field.name) for field in fields}

    def plain(value: Any) -> Any:
        if isinstance(value, pulumi.Output | Awaitable):
            return "output"
        return {key: item for key, item in vars(value).items() if (id(value), key) not in moved}

    return hashlib.sha256(json.dumps(args, default=plain, sort_keys=True).encode()).hexdigest()


def _tell_undeclared(member: AksMember, names: list[str], component: pulumi.Resource) -> None:
    what, first = (
        f"node {'pool' if len(names) == 1 else 'pools'} {', '.join(names)}",
        member.system_pool.name,
    )
    named = (
        f"{member.name} has {what}, which nobody declares; so its first pool is upgraded by a"
        " command only"
    )
    command = (
        f"az aks nodepool upgrade -g {member.resource_group} --cluster-name {member.aks_name} -n"
        f" {first}"
    )
    pulumi.log.warn(f"{named}: {command} -k {member.kubernetes_version}", resource=component)


def _cluster_of(found: Any) -> StandingCluster:
    pools = {pool.name: _pool_of(pool) for pool in found.agent_pool_profiles or ()}
    # A declared version may be a minor one such as 1.36; the current one has the patch that runs.
    declared = found.kubernetes_version
    return StandingCluster(declared, found.current_kubernetes_version or declared, pools)


def _pool_of(found: Any) -> StandingPool:
    return StandingPool(
        found.count, found.current_orchestrator_version or found.orchestrator_version or ""
    )


async def _value(output: pulumi.Output[Any]) -> Any:
    return await output.future()
