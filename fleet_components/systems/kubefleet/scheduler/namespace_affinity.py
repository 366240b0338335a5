"""NamespaceAffinity: a ResourcePlacement goes only to members that have its namespace."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.cluster import Cluster
from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import MEMBER, SET, Edit, Edits
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState


class NamespaceAffinity(Filter[KubeFleetState]):
    """Filter by the namespaces that members report; members that do not report them always pass."""

    name = "NamespaceAffinity"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates that have the placement's namespace, or do not report
        namespaces.
        """
        namespace, inventory = state.namespace, state.inventory
        if not namespace:
            return candidates
        key = ("namespace", namespace)
        passing = inventory.column(
            key, lambda: inventory.mask_of(lambda c: not _lack(c, namespace))
        )
        return candidates & passing

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return why the member is rejected."""
        return _lack(state.inventory.clusters[position], state.namespace)

    def remedy(self, state: KubeFleetState, position: int) -> str:
        """Return how to create the namespace on the member."""
        return (
            f'place the namespace "{state.namespace}" there first, with a ClusterResourcePlacement'
        )

    def admitting(self, state: KubeFleetState, position: int) -> Iterable[Edits]:
        """Yield that the member reports the namespace."""
        member, field = state.inventory.names[position], ("status", "namespaces", state.namespace)
        yield (Edit(MEMBER, SET, field, "", f"with the namespace {state.namespace} there", member),)


def _lack(cluster: Cluster, namespace: str) -> str:
    # Without the condition nothing is collected on the member, and KubeFleet does not filter, for
    # backward compatibility (pkg/scheduler/framework/plugins/namespaceaffinity/filtering.go,
    # v0.3.1).
    if not cluster.namespaces_collected:
        return ""
    if cluster.namespaces is None:
        return "cluster has no namespace information available"
    return "" if namespace in cluster.namespaces else "target namespace does not exist on cluster"
