"""NamespaceAffinity: a ResourcePlacement goes only where its namespace is."""

from __future__ import annotations

from fleet_components.model.cluster import Cluster
from fleet_components.model.mask import Mask
from fleet_components.scheduler.kubefleet.state import CycleState


class NamespaceAffinity:
    """Filters members that report their namespaces; those that do not report always pass."""

    name = "NamespaceAffinity"

    def mask(self, state: CycleState, candidates: Mask) -> Mask:
        """Members that have the placement's namespace, or do not say."""
        namespace, inventory = state.namespace, state.inventory
        if not namespace:
            return candidates
        key = ("namespace", namespace)
        passing = inventory.column(key, lambda: inventory.mask_of(lambda c: not _lack(c, namespace)))
        return candidates & passing

    def reason(self, state: CycleState, position: int) -> str:
        """Why the member is left out."""
        return _lack(state.inventory.clusters[position], state.namespace)

    def remedy(self, state: CycleState, position: int) -> str:
        """What would let it pass."""
        return f'place the namespace "{state.namespace}" there first, with a ClusterResourcePlacement'


def _lack(cluster: Cluster, namespace: str) -> str:
    if not cluster.namespaces_collected:
        return ""
    if cluster.namespaces is None:
        return "cluster has no namespace information available"
    return "" if namespace in cluster.namespaces else "target namespace does not exist on cluster"
