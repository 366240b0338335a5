"""Keeps versions and node counts that Azure moves by itself: no later request asks for older ones.

Update runs of the fleet move versions, the autoscaler moves node counts. ``ignore_changes`` alone does not do: Pulumi
then sends the value of its state, which nobody updated since the last refresh. Nor can these fields just be left out:

- ``count``: "Required parameter properties.count is missing (null)" is the answer to an update without it, and to
  another number than the one that stands "Cannot manually scale AgentPool [...] with cluster autoscaler enabled".
- ``kubernetesVersion`` of a cluster: no text promises that an update without it keeps what is there; the advice given
  with the service's change log of April 2022 is to read, change and write back.
- ``orchestratorVersion`` of a pool can be left out: "If a node pool Kubernetes version isn't specified [...],
  declaration falls back to the existing version defined for the node pool" (AKS, "Upgrade node pools").

So an update asks Azure for what stands, and sends that. To show no update where there is none to make, the state is
kept as it is (``ignore_changes``) while the rest of a request is that of the last update: a member's component holds
the digests of its requests. What gets past this, such as a transform that changes a request, is refused before it is
sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs
import pulumi
from pulumi.runtime.settings import get_monitor
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.values.aks_member import BY_FLEET, AksMember
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.standing import (
    StandingCluster,
    StandingPool,
    cluster_setbacks,
    is_older,
    pool_setbacks,
)
from fleet_components.components.past import read_stored
from fleet_components.plan.state import StoredResource

MEMBER_TYPE = "fleet:index:AzureMember"
REQUESTS = "requests"
"""Output of a member's component: the digests of the requests that Azure accepted last, by resource name."""
_CLUSTER, _POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"


class Keeper:
    """Settles the requests for one member's cluster and pools.

    Args:
        name: the name of the member's component.
        member: its declaration.
        component: the component; Azure is asked with its provider.
    """

    def __init__(self, name: str, member: AksMember, component: pulumi.Resource) -> None:
        self._member, self._component = member, component
        stored = [one for one in _stored(get_monitor()) if one.type != MEMBER_TYPE or one.name == name]
        self._stands = {(one.type, one.name) for one in stored}
        self._before = [one.outputs.get(REQUESTS) or {} for one in stored if one.type == MEMBER_TYPE]
        self._digests: dict[str, str] = {}

    def cluster(self, name: str, args: aks.ManagedClusterArgs) -> pulumi.ResourceOptions:
        """Set what stands in the arguments of a cluster that exists, and return the options that keep it.

        Args:
            name: the name of the cluster's resource.
            args: its arguments, as for a creation with the first pool; changed in place.
        """
        member, (profile,) = self._member, args.agent_pool_profiles
        # After a refresh the state lists all pools in the cluster, as Azure does; a request lists the first one only.
        listed = "agentPoolProfiles" if member.pools else ""
        fields = [_Field(profile, "orchestrator_version", listed or "agentPoolProfiles[0].orchestratorVersion")]
        if member.upgrades == BY_FLEET or member.kubernetes_version is None:
            fields.append(_Field(args, "kubernetes_version", "kubernetesVersion"))
        if member.system_pool.autoscaled:
            fields.append(_Field(profile, "count", listed or "agentPoolProfiles[0].count"))
        ignored = self._unless_changed(name, args, fields)
        if ignored is None:
            standing = self._standing_cluster()
            live = {
                "orchestrator_version": profile.orchestrator_version,
                "kubernetes_version": standing.apply(lambda cluster: cluster.declared),
                "count": standing.apply(lambda cluster: cluster.pools[member.system_pool.name].nodes),
            }
            _set(fields, live)
            _tell_old_system_pool(member, standing, self._component)
        guard = self._guard(name, lambda request: self._cluster_setbacks(request))
        return pulumi.ResourceOptions(ignore_changes=ignored, hooks=guard)

    def pool(
        self, name: str, args: aks.AgentPoolArgs, pool: NodePool, cluster: pulumi.Resource
    ) -> pulumi.ResourceOptions:
        """Set what stands in the arguments of a further pool that exists, and return the options that keep it.

        Args:
            name: the name of the pool's resource.
            args: its arguments, as for a creation; changed in place.
            pool: its declaration.
            cluster: the cluster's resource: Azure is asked when that is done.
        """
        fields = [_Field(args, "count", "count")] if pool.autoscaled else []
        if self._member.upgrades == BY_FLEET or self._member.kubernetes_version is None:
            fields.append(_Field(args, "orchestrator_version", "orchestratorVersion"))
        ignored = self._unless_changed(name, args, fields)
        if ignored is None and pool.autoscaled:
            standing = self._standing_pool(pool.name, cluster)
            _set(fields, {"count": standing.apply(lambda found: found.nodes), "orchestrator_version": None})
        guard = self._guard(name, lambda request: self._pool_setbacks(pool.name, request))
        return pulumi.ResourceOptions(ignore_changes=ignored, hooks=guard)

    def accepted(self, made: Iterable[pulumi.CustomResource]) -> pulumi.Output[dict[str, str]]:
        """Return the digests of all requests, known when Azure has accepted them."""
        return pulumi.Output.all(*(resource.id for resource in made)).apply(lambda _: dict(self._digests))

    def _unless_changed(self, name: str, args: Any, fields: Iterable[_Field]) -> list[str] | None:
        """Return the paths to ignore, none for a creation; None if the request for what exists is a new one."""
        kind = _CLUSTER if isinstance(args, aks.ManagedClusterArgs) else _POOL
        self._digests[name] = digest = _digest(args, fields)
        if (kind, name) not in self._stands:
            return []
        known = self._before and all(before.get(name) == digest for before in self._before)
        return sorted({field.path for field in fields}) if known else None

    def _guard(
        self, name: str, setbacks: Callable[[Mapping[str, Any]], Awaitable[Iterable[str]]]
    ) -> pulumi.ResourceHookBinding:
        async def refuse_setbacks(update: pulumi.ResourceHookArgs) -> None:
            found = list(await setbacks(update.new_inputs or {}))
            if found:
                raise pulumi.RunError(f"{name}: {'; '.join(found)} ({self._way_out()})")

        options = pulumi.ResourceHookOptions(on_dry_run=True)
        return pulumi.ResourceHookBinding(
            before_update=[pulumi.ResourceHook(f"{name}-keeps", refuse_setbacks, options)]
        )

    def _way_out(self) -> str:
        by_hand = self._member.upgrades != BY_FLEET and self._member.kubernetes_version is not None
        declare = (
            "declare the version that stands, or upgrades: fleet if not this program moves it; else " if by_hand else ""
        )
        return f"{declare}run pulumi refresh, then update again"

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


@lru_cache(maxsize=1)
def _stored(_monitor: Any) -> tuple[StoredResource, ...]:
    """Return what the state said of clusters, pools and members; it is read once a run, whose monitor is the key."""
    return read_stored((MEMBER_TYPE, _CLUSTER, _POOL))


def _digest(args: Any, fields: Iterable[_Field]) -> str:
    """Return a digest of a request without the fields that Azure moves, and without outputs: those come too late."""
    moved = {(id(field.owner), field.name) for field in fields}

    def plain(value: Any) -> Any:
        if isinstance(value, pulumi.Output):
            return "output"
        return {key: item for key, item in vars(value).items() if (id(value), key) not in moved}

    return hashlib.sha256(json.dumps(args, default=plain, sort_keys=True).encode()).hexdigest()


def _set(fields: Iterable[_Field], live: Mapping[str, Any]) -> None:
    for field in fields:
        setattr(field.owner, field.name, live[field.name])


def _tell_old_system_pool(
    member: AksMember, standing: pulumi.Output[StandingCluster], component: pulumi.Resource
) -> None:
    """Say that Azure upgrades the first pool by a command only, if there are others and it is behind."""
    wanted, pool = member.kubernetes_version, member.system_pool.name

    def tell(cluster: StandingCluster) -> None:
        if wanted and is_older(cluster.pools[pool].version, wanted):
            command = f"az aks nodepool upgrade -g {member.resource_group} --cluster-name {member.aks_name} -n {pool}"
            text = f"node pool {pool} of {member.name} stays at {cluster.pools[pool].version}; upgrade it afterwards"
            pulumi.log.warn(f"{text}: {command} -k {wanted}", resource=component)

    if member.pools and member.upgrades != BY_FLEET:
        standing.apply(tell)


def _cluster_of(found: Any) -> StandingCluster:
    pools = {pool.name: _pool_of(pool) for pool in found.agent_pool_profiles or ()}
    declared = found.kubernetes_version
    return StandingCluster(declared, found.current_kubernetes_version or declared, pools)


def _pool_of(found: Any) -> StandingPool:
    return StandingPool(found.count, found.current_orchestrator_version or found.orchestrator_version or "")


async def _value(output: pulumi.Output[Any]) -> Any:
    return await output.future()
