"""Division of the replicas over the selected members: by static weights, by capacity, or over as
few as possible.

Source of the rules: Karmada 1.19, ``pkg/scheduler/core/assignment.go`` and
``division_algorithm.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.text import count
from fleet_components.systems.karmada.model.policy import AGGREGATED, WeightPreference
from fleet_components.systems.karmada.model.webster import divide
from fleet_components.systems.karmada.scheduler import go_sort
from fleet_components.systems.karmada.scheduler.candidates import (
    Candidates,
    CycleFailure,
    Unschedulable,
)
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching


@attrs.frozen
class _DivisionStep:
    """Amount to divide and its weights, besides the replicas that members keep."""

    doing: str
    amount: int
    weights: Mapping[str, int]
    basis: str
    kept: Mapping[str, int] = attrs.field(factory=dict)


def divide_dynamically(
    state: KarmadaState,
    candidates: Candidates,
    chosen: list[int],
    replicas: int,
    *,
    aggregated: bool,
) -> Assignment:
    """Divide the replicas with as few changes as possible; from scratch if a rebalance asks for it.

    Raises:
        Unschedulable: the members cannot take the replicas.
    """
    previous = _previous(state, chosen)
    # As many as wanted: nothing is divided, even if capacities have changed since.
    if not state.fresh and sum(previous.values()) == replicas:
        return Assignment(without_zeros(previous))
    step = _step(state, candidates, chosen, replicas, previous)
    total = _int32(sum(step.weights.values()))
    if total < step.amount:
        message = f"Clusters available replicas {total} are not enough to schedule."
        raise Unschedulable(f"failed to {step.doing}: {message}")
    weights = step.weights
    if aggregated:
        weights = shortest_prefix(
            weights, {name for name, held in step.kept.items() if held}, step.amount
        )
    return divided(step.amount, weights, step.basis, state.memory.uid, step.kept)


def _previous(state: KarmadaState, chosen: list[int]) -> dict[str, int]:
    """Return the replicas of the targets that were selected again; replicas of the other targets
    are placed again.
    """
    selected = {state.inventory.names[position] for position in chosen}
    # In the order of the binding, which decides between equal members when an aggregated workload
    # shrinks.
    return {name: replicas for name, replicas in state.memory.clusters.items() if name in selected}


def _step(
    state: KarmadaState,
    candidates: Candidates,
    chosen: list[int],
    replicas: int,
    previous: Mapping[str, int],
) -> _DivisionStep:
    names, held = state.inventory.names, sum(previous.values())
    if state.fresh:
        weights = {names[position]: candidates.available[position] for position in chosen}
        return _DivisionStep("do fresh scale", replicas, weights, "available and own replicas")
    if held > replicas:
        return _DivisionStep("scale down", replicas, previous, "previous replicas")
    weights = {names[position]: candidates.allocatable[position] for position in chosen}
    return _DivisionStep("scale up", replicas - held, weights, "available replicas", previous)


def _int32(total: int) -> int:
    """Wrap a sum like Go's int32: Karmada overflows when it adds up members without a limit."""
    return (total + 2**31) % 2**32 - 2**31


def shortest_prefix(weights: Mapping[str, int], preferred: Set[str], amount: int) -> dict[str, int]:
    """Return the first members that together can take the amount: preferred ones first, then by
    weight descending.

    Members of equal weight are in the order in which Karmada's sort leaves them.
    """
    names, sizes = list(weights), list(weights.values())
    stable = sorted(range(len(names)), key=lambda place: -sizes[place])
    # A stable sort is cheaper than the port of Go's; it suffices unless the prefix ends among equal
    # members.
    order = _in_front(preferred, [names[place] for place in stable])
    end = _reaching(amount, [weights[name] for name in order])
    if _splits_equals(order, end, weights, preferred):
        order = _in_front(preferred, [names[place] for place in go_sort.descending(sizes)])
    return {name: weights[name] for name in order[:end]}


def _in_front(preferred: Set[str], names: list[str]) -> list[str]:
    return [name for name in names if name in preferred] + [
        name for name in names if name not in preferred
    ]


def _reaching(amount: int, sizes: list[int]) -> int:
    """Return how many leading sizes are needed to reach the amount; their number if it is not
    reached.
    """
    total = 0
    for number, size in enumerate(sizes, 1):
        total += size
        if total >= amount:
            return number
    return len(sizes)


def _splits_equals(
    order: list[str], end: int, weights: Mapping[str, int], preferred: Set[str]
) -> bool:
    """Return whether the prefix ends between two equal members, so that their order decides which
    is included.
    """
    if end >= len(order):
        return False
    last, next_ = order[end - 1], order[end]
    return weights[last] == weights[next_] and (last in preferred) == (next_ in preferred)


def assign(state: KarmadaState, candidates: Candidates, chosen: list[int]) -> Assignment:
    """Assign the replicas to the selected members.

    Raises:
        Failure: no member was selected, or the members cannot take the replicas.
    """
    if not chosen:
        raise CycleFailure("no clusters available to schedule")
    template, names = state.template, state.inventory.names
    if not template.workload:
        return Assignment(dict.fromkeys([names[position] for position in chosen], 0))
    if not state.placement.divided:
        # Scaled to 0, a workload with requests ends without targets, and Karmada calls that a
        # success.
        return Assignment(
            without_zeros(
                dict.fromkeys([names[position] for position in chosen], template.replicas)
            )
        )
    if state.group and state.group.overflow_affinities and not state.placement.cluster_affinity:
        return _by_tier(state, candidates, chosen)
    return _divide(state, candidates, chosen, template.replicas)


def _by_tier(state: KarmadaState, candidates: Candidates, chosen: list[int]) -> Assignment:
    """Fill the members of the primary affinity first, then those of each overflow affinity in
    order.
    """
    left = state.template.replicas
    clusters: Replicas = {}
    divisions: tuple[Division, ...] = ()
    for tier in sorted({candidates.tiers[position] for position in chosen}):
        members = [position for position in chosen if candidates.tiers[position] == tier]
        # A tier takes what it can, and the next one gets the rest.
        amount = min(left, sum(candidates.available[position] for position in members))
        part = _divide(state, candidates, members, amount)
        clusters |= part.clusters
        divisions += part.divisions
        left -= amount
        if left <= 0:
            return Assignment(clusters, divisions)
    raise Unschedulable("Clusters available replicas are not enough to schedule.")


def _divide(
    state: KarmadaState, candidates: Candidates, chosen: list[int], replicas: int
) -> Assignment:
    scheduling = state.placement.replica_scheduling
    # `divided` is False without replicaScheduling, and this is reached only if it is True.
    assert scheduling is not None
    aggregated = scheduling.replica_division_preference == AGGREGATED
    preference = scheduling.weight_preference or WeightPreference()
    if aggregated or preference.dynamic_weight:
        return divide_dynamically(state, candidates, chosen, replicas, aggregated=aggregated)
    # Static weights ignore capacity and the previous replicas, so each run divides from scratch.
    return divided(
        replicas, _static_weights(state, chosen, preference), "static weights", state.memory.uid
    )


def _static_weights(
    state: KarmadaState, chosen: list[int], preference: WeightPreference
) -> dict[str, int]:
    """Return the largest weight of the rules that select each member; 1 for every member if no rule
    selects any.
    """
    names, weights = state.inventory.names, dict.fromkeys(chosen, 0)
    for rule in preference.static_weight_list:
        for position in masks.positions(matching(state.inventory, rule.target_cluster)):
            if position in weights:
                weights[position] = max(weights[position], rule.weight)
    found = {names[position]: weight for position, weight in weights.items() if weight > 0}
    # Only when no rule selects any: as soon as one member has a weight, those without get nothing.
    return found or {names[position]: 1 for position in chosen}


# Replicas assigned to the members, and how they were divided.


Replicas = dict[str, int]
"""Replicas by member, in the order in which Karmada lists them."""


@attrs.frozen
class Division:
    """Record of one division of replicas.

    Attributes:
        amount: the number of replicas that were divided.
        weights: the weight of each member.
        shares: the replicas that each member got, by name.
        basis: the meaning of the weights, in words.
        kept: replicas that members had before and keep in addition.
    """

    amount: int
    weights: Mapping[str, int]
    shares: Mapping[str, int]
    basis: str
    kept: Mapping[str, int]

    @property
    def words(self) -> str:
        """Description, for example ``12 replicas over a, b, c by static weights 6:12:18 -> 2, 4,
        6``.
        """
        names = list(self.shares)
        weights = ":".join(str(self.weights[name]) for name in names)
        shares = ", ".join(str(self.shares[name]) for name in names)
        replicas = count(self.amount, "more replica" if self.kept else "replica")
        return f"{replicas} over {', '.join(names)} by {self.basis} {weights} -> {shares}"


@attrs.frozen
class Assignment:
    """Replicas of each member in the order in which Karmada lists them, with the divisions that led
    to them.
    """

    clusters: Replicas
    divisions: tuple[Division, ...] = ()

    def reaching(self, names: Iterable[str]) -> Assignment:
        """Return a copy with 0 replicas for each named member that has no entry."""
        # Named twice, once for the order, in which Karmada appends the others, and once for the
        # replicas.
        return attrs.evolve(
            self, clusters={**self.clusters, **dict.fromkeys(names, 0), **self.clusters}
        )


def divided(
    amount: int,
    weights: Mapping[str, int],
    basis: str,
    uid: str,
    kept: Mapping[str, int] | None = None,
) -> Assignment:
    """Divide an amount by weights and add the shares to the kept replicas; members that end with 0
    are left out.
    """
    kept = kept or {}
    shares = divide(amount, weights, uid)
    # Members that only keep their replicas come last. Karmada appends them in the random order of a
    # Go map.
    clusters = {name: share + kept.get(name, 0) for name, share in shares.items()}
    clusters |= {name: replicas for name, replicas in kept.items() if name not in shares}
    return Assignment(without_zeros(clusters), (Division(amount, weights, shares, basis, kept),))


def without_zeros(clusters: Mapping[str, int]) -> Replicas:
    """Return the members that have replicas."""
    return {name: replicas for name, replicas in clusters.items() if replicas}
