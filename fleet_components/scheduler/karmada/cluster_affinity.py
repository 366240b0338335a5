"""ClusterAffinity: members must match the affinity, including members that have the object already."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.cluster import Cluster
from fleet_components.model.karmada import policy
from fleet_components.model.mask import Mask
from fleet_components.model.selector import Requirement
from fleet_components.scheduler.explain import missed, show_miss
from fleet_components.scheduler.framework import Filter
from fleet_components.scheduler.karmada.state import KarmadaState


class ClusterAffinity(Filter[KarmadaState]):
    """Filter by the affinity of the placement, or by the tried group and its overflow affinities."""

    name = "ClusterAffinity"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates that one of the affinities selects; all candidates if there are no affinities."""
        return candidates & state.selected

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) did not match the placement cluster affinity constraint"

    def remedy(self, state: KarmadaState, position: int) -> str:
        """Return the requirements of each affinity that the member does not meet."""
        cluster = state.inventory.clusters[position]
        misses = [" and ".join(_misses(affinity, cluster)) for affinity in state.affinities]
        return "it would match with " + ", or with ".join(misses)


def _misses(affinity: policy.ClusterAffinity, cluster: Cluster) -> list[str]:
    labels = affinity.label_selector.requirements() if affinity.label_selector else ()
    fields = affinity.field_selector.match_expressions if affinity.field_selector else ()
    misses = missed(labels, cluster.labels) + _missed_fields(fields, cluster)
    if affinity.cluster_names and cluster.name not in affinity.cluster_names:
        misses.append("its name in clusterNames")
    if cluster.name in affinity.exclude:
        misses.append("its name not in exclude")
    return misses


def _missed_fields(fields: Iterable[Requirement], cluster: Cluster) -> list[str]:
    values = {"provider": cluster.provider, "region": cluster.region, "zone": ", ".join(cluster.zones)}
    return [
        show_miss(requirement, values.get(requirement.key) or None)
        for requirement in fields
        if not policy.FieldSelector((requirement,)).matches(cluster)
    ]
