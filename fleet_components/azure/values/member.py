"""A member of the fleet, declared once: for Azure, which provisions and registers it, and for the scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from fleet_components.azure.values import checks, names
from fleet_components.azure.values.arm_id import ARC, ClusterId, parse_cluster_id
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.properties import Observation
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.cluster import NO_LABELS, Taint
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.quantity import is_quantity
from fleet_components.model.text import count
from fleet_components.model.typed import Later, Typed

RESERVED_LABELS = ("fleet.azure.com/", "kubernetes-fleet.io/")
"""Prefixes of the labels that Azure and KubeFleet set on a member by themselves."""

_MOST_TAINTS = 100


@attrs.frozen(kw_only=True)
class FleetMember(Typed):
    """What every member has.

    Attributes:
        name: its name in the fleet.
        region: the short name of its region, as in ``westeurope``.
        labels: those that placements select by; the automatic ``fleet.azure.com/*`` ones are added.
        taints: those that placements must tolerate; effect ``NoSchedule`` only.
        group: its update group; empty for none.
        observed: what no declaration tells.
    """

    name: str
    region: str
    labels: Mapping[str, str] = NO_LABELS
    taints: tuple[Taint, ...] = ()
    group: str = ""
    observed: Observation = attrs.field(factory=Observation)

    @property
    def cluster(self) -> ClusterId | None:
        """The parts of its cluster's resource ID, as far as they are declared; None when Azure does not know it."""
        raise NotImplementedError

    @property
    def node_pools(self) -> tuple[NodePool, ...]:
        """All its node pools that are declared."""
        raise NotImplementedError

    @property
    def default_max_pods(self) -> int:
        """Pods per node where a pool does not say."""
        raise NotImplementedError

    def problems(self, table: SizeTable, path: FieldPath = ()) -> Iterator[Problem]:
        """What Azure would refuse of it, and what nobody knows of it."""
        yield from names.MEMBER.problems(self.name, (*path, "name"))
        yield from names.REGION.problems(self.region, (*path, "region"))
        yield from checks.labels(self.labels, RESERVED_LABELS, (*path, "labels"))
        yield from checks.taints(self.taints, ("NoSchedule",), (*path, "taints"))
        if len(self.taints) > _MOST_TAINTS:
            yield Problem(count(len(self.taints), "taint"), (*path, "taints"), f"{_MOST_TAINTS} at most")
        if self.group:
            yield from names.GROUP.problems(self.group, (*path, "group"))
        for resource, amount in self.observed.available.items():
            at = (*path, "observed", "available", resource)
            yield from checks.one_of(resource, ("cpu", "memory"), at)
            if not is_quantity(amount):
                yield Problem(f'"{amount}" is no quantity', at, "for example 12 or 48Gi")


@attrs.frozen(kw_only=True)
class JoinedMember(FleetMember):
    """A cluster that is there already: an AKS or Arc cluster by its ID, or any other by its kubeconfig.

    Attributes:
        cluster_id: the resource ID of the AKS or Arc cluster. Only a new member can change it. Empty for a cluster that
            Azure does not know: it takes part in placement, but not in an Azure fleet.
        kubeconfig_file: the path of its kubeconfig; empty to ask Azure, which gives that of an AKS cluster in the
            subscription that Pulumi works in.
        kubeconfig: its text instead, as a Pulumi output; not in YAML.
        pools: its node pools, as far as the scheduler is to know them.
        max_pods: pods per node where a pool does not say.
    """

    cluster_id: str = ""
    kubeconfig_file: str = ""
    kubeconfig: str | Later | None = attrs.field(default=None, repr=False)
    pools: tuple[NodePool, ...] = ()
    max_pods: int = 110

    @property
    def cluster(self) -> ClusterId | None:
        """The parts of ``cluster_id``; None when there is none."""
        return parse_cluster_id(self.cluster_id)

    @property
    def node_pools(self) -> tuple[NodePool, ...]:
        """Its node pools."""
        return self.pools

    @property
    def default_max_pods(self) -> int:
        """Pods per node where a pool does not say."""
        return self.max_pods

    def problems(self, table: SizeTable, path: FieldPath = ()) -> Iterator[Problem]:
        """What Azure would refuse of it, and what nobody knows of it."""
        yield from super().problems(table, path)
        has_kubeconfig = bool(self.kubeconfig_file) or self.kubeconfig is not None
        if not self.cluster_id and not has_kubeconfig:
            yield Problem("nobody knows where it is", (*path, "clusterId"), "clusterId, kubeconfigFile or both")
        if self.cluster_id and self.cluster is None:
            hint = (
                "/subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.ContainerService/managedClusters/<name>"
            )
            yield Problem(f'"{self.cluster_id}" is no ID of an AKS or Arc cluster', (*path, "clusterId"), hint)
        if self.cluster and self.cluster.type == ARC and not has_kubeconfig:
            yield Problem("Azure gives out no kubeconfig of an Arc cluster", (*path, "kubeconfigFile"), "name its file")
        for position, pool in enumerate(self.pools):
            yield from pool.problems(table, (*path, "pools", position))
        yield from checks.unique((pool.name for pool in self.pools), "node pool", (*path, "pools"))
