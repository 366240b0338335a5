"""Declaration of a member, used both by Azure, which creates and joins it, and by the scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from fleet_components.azure.values import checks, names
from fleet_components.azure.values.arm_id import ARC, ClusterId, parse_cluster_id
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.properties import Observation
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.cluster import NO_LABELS, Taint
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.quantity import is_quantity
from fleet_components.model.text import count
from fleet_components.model.typed import Later, Typed

RESERVED_LABELS = ("fleet.azure.com/", "kubernetes-fleet.io/")
"""Prefixes of the labels that Azure and KubeFleet set on members."""

_MOST_TAINTS = 100


@attrs.frozen(kw_only=True)
class FleetMember(Typed):
    """Base of all declared members.

    Attributes:
        name: its name in the fleet.
        region: the short name of its region, for example ``westeurope``.
        labels: labels that placements select by; the automatic ``fleet.azure.com/*`` labels are
            added.
        taints: taints that placements must tolerate; effect ``NoSchedule`` only.
        group: its update group; empty for none.
        observed: values that cannot be derived from a declaration.
    """

    name: str
    region: str
    labels: Mapping[str, str] = NO_LABELS
    taints: tuple[Taint, ...] = ()
    group: str = ""
    observed: Observation = attrs.field(factory=Observation)

    @property
    def cluster(self) -> ClusterId | None:
        """The parts of its cluster's resource ID, as far as they are declared; None if it is not an
        Azure cluster.
        """
        raise NotImplementedError

    @property
    def node_pools(self) -> tuple[NodePool, ...]:
        """All declared node pools."""
        raise NotImplementedError

    @property
    def default_max_pods(self) -> int:
        """Pods per node for pools that do not set it."""
        raise NotImplementedError

    def problems(self, table: SizeTable, path: FieldPath = ()) -> Iterator[Problem]:
        """Yield Azure validation errors, unknown VM sizes included."""
        yield from names.MEMBER.problems(self.name, (*path, "name"))
        yield from names.REGION.problems(self.region, (*path, "region"))
        yield from checks.labels(self.labels, RESERVED_LABELS, (*path, "labels"))
        yield from checks.taints(self.taints, ("NoSchedule",), (*path, "taints"))
        if len(self.taints) > _MOST_TAINTS:
            yield Problem(
                Message("too-many-taints", "{count}", count=count(len(self.taints), "taint")),
                (*path, "taints"),
                f"{_MOST_TAINTS} at most",
            )
        if self.group:
            yield from names.GROUP.problems(self.group, (*path, "group"))
        for resource, amount in self.observed.available.items():
            at = (*path, "observed", "available", resource)
            yield from checks.choice_of(resource, ("cpu", "memory"), at)
            if not is_quantity(amount):
                yield Problem(
                    Message(
                        "available-not-quantity", '"{amount}" is not a quantity', amount=amount
                    ),
                    at,
                    "for example 12 or 48Gi",
                )


@attrs.frozen(kw_only=True)
class JoinedMember(FleetMember):
    """An existing cluster: an AKS or Arc cluster by its resource ID, or any other cluster by its
    kubeconfig.

    Attributes:
        cluster_id: the resource ID of the AKS or Arc cluster; it can only be set when the member is
            created. Empty for a cluster outside of Azure: it takes part in placement, but not in an
            Azure fleet.
        kubeconfig_file: the path of its kubeconfig; empty to ask Azure, which returns that of an
            AKS cluster in the subscription that Pulumi uses.
        kubeconfig: the text of the kubeconfig instead, which may be a Pulumi output; not available
            in YAML.
        pools: its node pools, as far as the scheduler should know them.
        max_pods: pods per node for pools that do not set it; 110 by default.
    """

    cluster_id: str = ""
    kubeconfig_file: str = ""
    kubeconfig: str | Later | None = attrs.field(default=None, repr=False)
    pools: tuple[NodePool, ...] = ()
    max_pods: int = 110

    @property
    def cluster(self) -> ClusterId | None:
        """The parts of ``cluster_id``; None if it is empty or invalid."""
        return parse_cluster_id(self.cluster_id)

    @property
    def node_pools(self) -> tuple[NodePool, ...]:
        """The declared node pools."""
        return self.pools

    @property
    def default_max_pods(self) -> int:
        """Pods per node for pools that do not set it."""
        return self.max_pods

    def problems(self, table: SizeTable, path: FieldPath = ()) -> Iterator[Problem]:
        """Yield Azure validation errors, unknown VM sizes included."""
        yield from super().problems(table, path)
        has_kubeconfig = bool(self.kubeconfig_file) or self.kubeconfig is not None
        if not self.cluster_id and not has_kubeconfig:
            yield Problem(
                Message("nobody-knows", "nobody knows where it is"),
                (*path, "clusterId"),
                "clusterId, kubeconfigFile or both",
            )
        if self.cluster_id and self.cluster is None:
            hint = (
                "/subscriptions/<id>/resourceGroups/<group>/providers/"
                "Microsoft.ContainerService/managedClusters/<name>"
            )
            yield Problem(
                Message(
                    "not-id-aks-arc",
                    '"{cluster_id}" is not an ID of an AKS or Arc cluster',
                    cluster_id=self.cluster_id,
                ),
                (*path, "clusterId"),
                hint,
            )
        if self.cluster and self.cluster.type == ARC and not has_kubeconfig:
            yield Problem(
                Message("azure-gives-out-no", "Azure gives out no kubeconfig of an Arc cluster"),
                (*path, "kubeconfigFile"),
                "name its file",
            )
        for position, pool in enumerate(self.pools):
            yield from pool.problems(table, (*path, "pools", position))
        yield from checks.unique((pool.name for pool in self.pools), "node pool", (*path, "pools"))
