"""ClusterAffinity: the affinity must match, for members that have the object already too."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model import karmada
from fleet_components.model.cluster import Cluster
from fleet_components.model.mask import Mask
from fleet_components.model.selector import Requirement
from fleet_components.scheduler.explain import missed, show_miss
from fleet_components.scheduler.karmada.state import CycleState


class ClusterAffinity:
    """Filters by the affinity of the placement, or by the group that is tried with its overflow affinities."""

    name = "ClusterAffinity"

    def mask(self, state: CycleState, candidates: Mask) -> Mask:
        """Members that one of the affinities selects; all of them when there are none."""
        return candidates & state.selected

    def reason(self, state: CycleState, position: int) -> str:
        """The one text that there is."""
        return "cluster(s) did not match the placement cluster affinity constraint"

    def remedy(self, state: CycleState, position: int) -> str:
        """What each of the affinities misses on this member."""
        cluster = state.inventory.clusters[position]
        misses = [" and ".join(_misses(affinity, cluster)) for affinity in state.affinities]
        return "it would match with " + ", or with ".join(misses)


def _misses(affinity: karmada.ClusterAffinity, cluster: Cluster) -> list[str]:
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
        if not karmada.FieldSelector((requirement,)).matches(cluster)
    ]
