"""Selection by spread constraints: the number of members, and the regions that they come from.

Source: Karmada 1.19, ``pkg/scheduler/core/spreadconstraint/select_clusters.go``.
"""

from __future__ import annotations

from fleet_components.model.karmada import AGGREGATED, Placement, SpreadConstraint
from fleet_components.scheduler.karmada.candidates import Candidates
from fleet_components.scheduler.karmada.errors import Failure
from fleet_components.scheduler.karmada.spread_by_cluster import select_by_cluster
from fleet_components.scheduler.karmada.spread_by_region import select_by_region
from fleet_components.scheduler.karmada.state import CycleState


def select(state: CycleState, candidates: Candidates) -> list[int]:
    """Return the positions of the selected members in the order of selection.

    Raises:
        Failure: the constraints cannot be met.
    """
    constraints = {constraint.spread_by_field: constraint for constraint in state.placement.spread_constraints}
    if not constraints or ignores_constraints(state.placement):
        return candidates.order
    by_cluster = constraints.get("cluster")
    if "region" in constraints:
        return select_by_region(state, candidates, constraints["region"], by_cluster or SpreadConstraint())
    if by_cluster is None:
        raise Failure("just support cluster and region spread constraint")
    return select_by_cluster(candidates, by_cluster, state.template.replicas if state.placement.divided else None)


def ignores_constraints(placement: Placement) -> bool:
    """Return whether the placement ignores spread constraints, as static weights do.

    An empty ``weightPreference`` does not count as static weights here, although it divides by equal ones.
    """
    scheduling = placement.replica_scheduling
    if scheduling is None or not placement.divided or scheduling.replica_division_preference == AGGREGATED:
        return False
    weights = scheduling.weight_preference
    return weights is None or (bool(weights.static_weight_list) and not weights.dynamic_weight)
