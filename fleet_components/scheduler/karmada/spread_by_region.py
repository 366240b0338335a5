"""Spread by region: selects the best set of regions, one member of each, then the best of their other members.

Source: Karmada 1.19, ``pkg/scheduler/core/spreadconstraint/select_clusters_by_region.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fleet_components.model.karmada import SpreadConstraint
from fleet_components.scheduler.karmada.candidates import Candidates
from fleet_components.scheduler.karmada.errors import Failure
from fleet_components.scheduler.karmada.region_search import Region, best_regions
from fleet_components.scheduler.karmada.state import CycleState

_SCORE_UNIT = 1000


def select_by_region(
    state: CycleState, candidates: Candidates, by_region: SpreadConstraint, by_cluster: SpreadConstraint
) -> list[int]:
    """Select regions, then members. Capacity affects only the score of a region.

    Raises:
        Failure: there are too few regions, or no set of them holds enough members.
    """
    regions = _regions(state, candidates, by_region, by_cluster)
    if len(regions) < by_region.min_groups:
        raise Failure("the number of feasible region is less than spreadConstraint.MinGroups")
    chosen = best_regions(regions, by_region, by_cluster.min_groups)
    if not chosen:
        raise Failure("the number of clusters is less than the cluster spreadConstraint.MinGroups")
    first = [region.members[0] for region in chosen]
    others = candidates.ranked(position for region in chosen for position in region.members[1:])
    return first + others[: max(0, by_cluster.max_groups - len(first))]


def _regions(
    state: CycleState, candidates: Candidates, by_region: SpreadConstraint, by_cluster: SpreadConstraint
) -> list[Region]:
    members: dict[str, list[int]] = {}
    for position in candidates.order:
        members.setdefault(state.inventory.clusters[position].region, []).append(position)
    score = _scoring(state, by_region.min_groups, by_cluster.min_groups)
    return [Region(name, found, score(candidates, found)) for name, found in members.items()]


def _scoring(state: CycleState, regions: int, members: int) -> Callable[[Candidates, list[int]], int]:
    """Return the function that scores a region, given the minimum number of regions and members."""
    replicas, regions = state.template.replicas, max(1, regions)
    if state.placement.divided:
        return partial(_divided_score, share=-(-replicas // regions), least=max(regions, members))
    return partial(_duplicated_score, replicas=replicas)


def _duplicated_score(candidates: Candidates, members: list[int], replicas: int) -> int:
    """Score a region by the number of members that can take all replicas, then by how many of these have the object."""
    able = [position for position in members if candidates.available[position] >= replicas]
    if not able:
        return 0
    return _SCORE_UNIT * len(able) + sum(candidates.scores[position] for position in able) // len(able)


def _divided_score(candidates: Candidates, members: list[int], share: int, least: int) -> int:
    """Score a region by how much of its share its best members can take, counting at least ``least`` members."""
    fits = total = counted = 0
    for position in members:
        fits += candidates.available[position]
        total += candidates.scores[position]
        counted += 1
        if counted >= least and fits >= share:
            break
    return _SCORE_UNIT * min(fits, share) + total // counted
