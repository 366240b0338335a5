"""Division of the replicas over the selected members.

Source of the rules: Karmada 1.19, ``pkg/scheduler/core/assignment.go`` and ``division_algorithm.go``.
"""

from __future__ import annotations

from fleet_components.model import mask as masks
from fleet_components.model.karmada import AGGREGATED, WeightPreference
from fleet_components.scheduler.karmada.affinity import matching
from fleet_components.scheduler.karmada.assignment import Assignment, Division, Replicas, divided, without_zeros
from fleet_components.scheduler.karmada.candidates import Candidates
from fleet_components.scheduler.karmada.dynamic_division import divide_dynamically
from fleet_components.scheduler.karmada.errors import Failure, Unschedulable
from fleet_components.scheduler.karmada.state import CycleState


def assign(state: CycleState, candidates: Candidates, chosen: list[int]) -> Assignment:
    """Assign the replicas to the selected members.

    Raises:
        Failure: no member was selected, or the members cannot take the replicas.
    """
    if not chosen:
        raise Failure("no clusters available to schedule")
    template, names = state.template, state.inventory.names
    if not template.workload:
        return Assignment(dict.fromkeys([names[position] for position in chosen], 0))
    if not state.placement.divided:
        return Assignment(without_zeros(dict.fromkeys([names[position] for position in chosen], template.replicas)))
    if state.group and state.group.overflow_affinities and not state.placement.cluster_affinity:
        return _by_tier(state, candidates, chosen)
    return _divide(state, candidates, chosen, template.replicas)


def _by_tier(state: CycleState, candidates: Candidates, chosen: list[int]) -> Assignment:
    """Fill the members of the primary affinity first, then those of each overflow affinity in order."""
    left = state.template.replicas
    clusters: Replicas = {}
    divisions: tuple[Division, ...] = ()
    for tier in sorted({candidates.tiers[position] for position in chosen}):
        members = [position for position in chosen if candidates.tiers[position] == tier]
        amount = min(left, sum(candidates.available[position] for position in members))
        part = _divide(state, candidates, members, amount)
        clusters |= part.clusters
        divisions += part.divisions
        left -= amount
        if left <= 0:
            return Assignment(clusters, divisions)
    raise Unschedulable("Clusters available replicas are not enough to schedule.")


def _divide(state: CycleState, candidates: Candidates, chosen: list[int], replicas: int) -> Assignment:
    scheduling = state.placement.replica_scheduling
    assert scheduling is not None
    aggregated = scheduling.replica_division_preference == AGGREGATED
    preference = scheduling.weight_preference or WeightPreference()
    if aggregated or preference.dynamic_weight:
        return divide_dynamically(state, candidates, chosen, replicas, aggregated=aggregated)
    # Static weights ignore capacity and the previous replicas, so each run divides from scratch.
    return divided(replicas, _static_weights(state, chosen, preference), "static weights", state.memory.uid)


def _static_weights(state: CycleState, chosen: list[int], preference: WeightPreference) -> dict[str, int]:
    """Return the largest weight of the rules that select each member; 1 for every member if no rule selects any."""
    names, weights = state.inventory.names, dict.fromkeys(chosen, 0)
    for rule in preference.static_weight_list:
        for position in masks.positions(matching(state.inventory, rule.target_cluster)):
            if position in weights:
                weights[position] = max(weights[position], rule.weight)
    found = {names[position]: weight for position, weight in weights.items() if weight > 0}
    return found or {names[position]: 1 for position in chosen}
