"""Selection by spread constraints: the number of members, and the regions that they come from.

By cluster, the best members are selected up to the allowed number, and larger ones are swapped in
if replicas do not fit. By region, the best set of regions is searched as Karmada does,
exhaustively, with branch and bound to keep it fast; then one member of each is taken, and the best
of their other members.

Source: Karmada 1.19, ``select_clusters.go``, ``select_clusters_by_cluster.go``,
``select_clusters_by_region.go`` and ``select_groups.go`` of
``pkg/scheduler/core/spreadconstraint``.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import partial
from itertools import accumulate

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.systems.karmada.model.policy import AGGREGATED, Placement, SpreadConstraint
from fleet_components.systems.karmada.scheduler.candidates import Candidates, CycleFailure
from fleet_components.systems.karmada.scheduler.state import KarmadaState


@attrs.frozen(eq=False)
class Region:
    """A region with its candidates by position, best first, and its score."""

    name: str
    members: list[int]
    score: int


def best_regions(regions: list[Region], bounds: SpreadConstraint, members: int) -> list[Region]:
    """Return the best set of regions within the bounds with enough members, best region first;
    empty if there is none.

    The highest total score wins, then the most members, then the set that Karmada finds first: it
    searches depth first, over regions with fewer members first, and does not extend a set that
    already suffices. If a shorter set that suffices is a prefix of the best one, ordered by score,
    it is preferred.
    """
    found = sorted(
        _Search(regions, bounds, members).run(), key=lambda region: (-region.score, region.name)
    )
    beginnings = (found[:count] for count in range(1, len(found) + 1))
    return next(
        (chosen for chosen in beginnings if _suffices(chosen, bounds.min_groups, members)), []
    )


MOST_SETS = 1_000_000
"""Largest number of sets of regions that a search looks at: some seconds. Karmada itself would go
on.
"""
_TOO_LONG = Message(
    "best-sets-regions-looked",
    "the best of {most_sets:,} sets of regions was looked for, and there are more",
    most_sets=MOST_SETS,
)
_FEWER = (
    "ask for fewer regions in its spread constraint, or for members of fewer regions in its"
    " affinity"
)


class _Search:
    """State of one search: ``best`` is the best set so far, ``rank`` its total score and its number
    of members.
    """

    def __init__(self, regions: list[Region], bounds: SpreadConstraint, members: int) -> None:
        self.regions = sorted(regions, key=_found_first)
        self.bounds = bounds
        self.members = members
        self.best: list[Region] = []
        # Below the rank of every set.
        self.rank = (-1, -1)
        self.left = MOST_SETS
        # For each region the highest score from there to the end, which bounds the score of every
        # extension.
        self.ahead = list(accumulate((region.score for region in reversed(self.regions)), max))[
            ::-1
        ]

    def run(self) -> list[Region]:
        self.grow([], (0, 0), 0)
        return self.best

    def grow(self, path: list[Region], rank: tuple[int, int], begin: int) -> None:
        """Record the path if it suffices, else extend it by the regions from index ``begin`` on.

        Raises:
            FleetError: the search takes too long.
        """
        if not self.left:
            raise FleetError([Problem(_TOO_LONG, hint=_FEWER)])
        self.left -= 1
        if (
            rank[1] >= self.members
            and self.bounds.min_groups <= len(path) <= self.bounds.max_groups
        ):
            # Of sets of the same rank, Karmada keeps the one that it finds first.
            if rank > self.rank:
                self.best, self.rank = path, rank
            return
        # An empty range if the set already has as many regions as are allowed.
        for place in range(
            begin, len(self.regions) if len(path) < self.bounds.max_groups else begin
        ):
            if self.reachable(len(path), rank, place) <= self.rank:
                # Later places reach no more than this one, so they are skipped too.
                return
            region = self.regions[place]
            self.grow(
                [*path, region], (rank[0] + region.score, rank[1] + len(region.members)), place + 1
            )

    def reachable(self, length: int, rank: tuple[int, int], place: int) -> tuple[int, int]:
        """Return an upper bound of the rank of all extensions of the path by the region at
        ``place`` or a later one.
        """
        # Regions are sorted by size. Filling up with the size of the one at ``place``, the smallest
        # ahead, takes the most regions; Karmada does not extend a set that suffices.
        needed = -(-(self.members - rank[1]) // len(self.regions[place].members))
        more = min(self.bounds.max_groups - length, max(needed, self.bounds.min_groups - length))
        return (rank[0] + more * self.ahead[place], rank[1] + more * len(self.regions[-1].members))


def _suffices(chosen: list[Region], least: int, members: int) -> bool:
    """Return whether Karmada's search records the set: it has enough members, but not without its
    last region.
    """
    held = [len(region.members) for region in sorted(chosen, key=_found_first)]
    return (
        len(held) >= least
        and sum(held) >= members
        and (len(held) == least or sum(held[:-1]) < members)
    )


def _found_first(region: Region) -> tuple[int, int, str]:
    return (len(region.members), -region.score, region.name)


_SCORE_UNIT = 1000


def select_by_region(
    state: KarmadaState,
    candidates: Candidates,
    by_region: SpreadConstraint,
    by_cluster: SpreadConstraint,
) -> list[int]:
    """Select regions, then members. Capacity affects only the score of a region.

    Raises:
        Failure: there are too few regions, or no set of them holds enough members.
    """
    regions = _regions(state, candidates, by_region, by_cluster)
    if len(regions) < by_region.min_groups:
        raise CycleFailure("the number of feasible region is less than spreadConstraint.MinGroups")
    chosen = best_regions(regions, by_region, by_cluster.min_groups)
    if not chosen:
        raise CycleFailure(
            "the number of clusters is less than the cluster spreadConstraint.MinGroups"
        )
    # Every region has a member: it was made for its first one.
    first = [region.members[0] for region in chosen]
    others = candidates.ranked(position for region in chosen for position in region.members[1:])
    return first + others[: max(0, by_cluster.max_groups - len(first))]


def _regions(
    state: KarmadaState,
    candidates: Candidates,
    by_region: SpreadConstraint,
    by_cluster: SpreadConstraint,
) -> list[Region]:
    members: dict[str, list[int]] = {}
    for position in candidates.order:
        members.setdefault(state.inventory.clusters[position].region, []).append(position)
    score = _scoring(state, by_region.min_groups, by_cluster.min_groups)
    return [Region(name, found, score(candidates, found)) for name, found in members.items()]


def _scoring(
    state: KarmadaState, regions: int, members: int
) -> Callable[[Candidates, list[int]], int]:
    """Return the function that scores a region, given the minimum number of regions and members."""
    replicas, regions = state.template.replicas, max(1, regions)
    if state.placement.divided:
        return partial(_divided_score, share=-(-replicas // regions), least=max(regions, members))
    return partial(_duplicated_score, replicas=replicas)


def _duplicated_score(candidates: Candidates, members: list[int], replicas: int) -> int:
    """Score a region by the number of members that can take all replicas, then by how many of these
    have the object.
    """
    able = [position for position in members if candidates.available[position] >= replicas]
    if not able:
        return 0
    return _SCORE_UNIT * len(able) + sum(candidates.scores[position] for position in able) // len(
        able
    )


def _divided_score(candidates: Candidates, members: list[int], share: int, least: int) -> int:
    """Score a region by how much of its share its best members can take, counting at least
    ``least`` members.
    """
    fits = total = counted = 0
    for position in members:
        fits += candidates.available[position]
        total += candidates.scores[position]
        counted += 1
        if counted >= least and fits >= share:
            break
    return _SCORE_UNIT * min(fits, share) + total // counted


def select_by_cluster(
    candidates: Candidates, by_cluster: SpreadConstraint, replicas: int | None
) -> list[int]:
    """Select the best members, as many as the constraint allows.

    Args:
        candidates: the members that can be chosen.
        by_cluster: the bounds for the number of members.
        replicas: how many replicas must fit; None if capacity does not count.

    Raises:
        Failure: there are too few members, or too few of them are large enough.
    """
    if len(candidates.order) < by_cluster.min_groups:
        raise CycleFailure(
            "the number of feasible clusters is less than spreadConstraint.MinGroups"
        )
    # Karmada has no default for maxGroups: left out it is 0, nothing is chosen, and a division
    # always lacks resources.
    count = min(len(candidates.order), by_cluster.max_groups)
    chosen, rest = candidates.order[:count], candidates.order[count:]
    if replicas is None:
        return chosen
    missing = replicas - sum(candidates.available[position] for position in chosen)
    if missing > 0:
        missing -= _exchange(chosen, rest, candidates, missing)
    if not chosen or missing > 0:
        raise CycleFailure(f"no enough resource when selecting {count} clusters")
    return chosen


def _exchange(chosen: list[int], rest: list[int], candidates: Candidates, missing: int) -> int:
    """Swap chosen members, the last first, for the largest of the rest; return the capacity
    gained.
    """
    available = candidates.available
    # With the place, since Karmada takes the first of several that are largest.
    largest = [(-available[position], place, position) for place, position in enumerate(rest)]
    heapq.heapify(largest)
    won = 0
    for slot in reversed(range(len(chosen))):
        if won >= missing or not largest:
            break
        old = chosen[slot]
        size, place, new = largest[0]
        if -size > available[old]:
            # The replaced member takes the other's place in the rest, so it can be swapped in again
            # for a later slot.
            heapq.heapreplace(largest, (-available[old], place, old))
            chosen[slot] = new
            won += -size - available[old]
    return won


def select(state: KarmadaState, candidates: Candidates) -> list[int]:
    """Return the positions of the selected members in the order of selection.

    Raises:
        Failure: the constraints cannot be met.
    """
    constraints = {
        constraint.spread_by_field: constraint for constraint in state.placement.spread_constraints
    }
    if not constraints or ignores_constraints(state.placement):
        return candidates.order
    by_cluster = constraints.get("cluster")
    # Zones and providers only filter: Karmada's selection knows regions and clusters
    # (select_clusters.go).
    if "region" in constraints:
        # Go's map answers with an empty constraint where there is none, so each region gives one
        # member only.
        return select_by_region(
            state, candidates, constraints["region"], by_cluster or SpreadConstraint()
        )
    if by_cluster is None:
        raise CycleFailure("just support cluster and region spread constraint")
    return select_by_cluster(
        candidates, by_cluster, state.template.replicas if state.placement.divided else None
    )


def ignores_constraints(placement: Placement) -> bool:
    """Return whether the placement ignores spread constraints, as static weights do.

    An empty ``weightPreference`` does not count as static weights here, although it divides by
    equal ones.
    """
    scheduling = placement.replica_scheduling
    if (
        scheduling is None
        or not placement.divided
        or scheduling.replica_division_preference == AGGREGATED
    ):
        return False
    weights = scheduling.weight_preference
    return weights is None or (bool(weights.static_weight_list) and not weights.dynamic_weight)
