"""Selection of the best set of regions: Karmada's exhaustive search, with branch and bound to keep it fast.

Source of the rules: Karmada 1.19, ``pkg/scheduler/core/spreadconstraint/select_groups.go``.
"""

from __future__ import annotations

from itertools import accumulate

import attrs

from fleet_components.model.karmada import SpreadConstraint


@attrs.frozen(eq=False)
class Region:
    """A region with its candidates by position, best first, and its score."""

    name: str
    members: list[int]
    score: int


def best_regions(regions: list[Region], bounds: SpreadConstraint, members: int) -> list[Region]:
    """Return the best set of regions within the bounds with enough members, best region first; empty if there is none.

    The highest total score wins, then the most members, then the set that Karmada finds first: it searches depth first,
    over regions with fewer members first, and does not extend a set that already suffices. If a shorter set that
    suffices is a prefix of the best one, ordered by score, it is preferred.
    """
    found = sorted(_Search(regions, bounds, members).run(), key=lambda region: (-region.score, region.name))
    beginnings = (found[:count] for count in range(1, len(found) + 1))
    return next((chosen for chosen in beginnings if _suffices(chosen, bounds.min_groups, members)), [])


class _Search:
    """State of one search: ``best`` is the best set so far, ``rank`` its total score and its number of members."""

    def __init__(self, regions: list[Region], bounds: SpreadConstraint, members: int) -> None:
        self.regions = sorted(regions, key=_found_first)
        self.bounds = bounds
        self.members = members
        self.best: list[Region] = []
        self.rank = (-1, -1)
        # For each region the highest score from there to the end, which bounds the score of every extension.
        self.ahead = list(accumulate((region.score for region in reversed(self.regions)), max))[::-1]

    def run(self) -> list[Region]:
        self.grow([], (0, 0), 0)
        return self.best

    def grow(self, path: list[Region], rank: tuple[int, int], begin: int) -> None:
        """Record the path if it suffices, else extend it by the regions from index ``begin`` on."""
        if rank[1] >= self.members and self.bounds.min_groups <= len(path) <= self.bounds.max_groups:
            if rank > self.rank:
                self.best, self.rank = path, rank
            return
        for place in range(begin, len(self.regions) if len(path) < self.bounds.max_groups else begin):
            if self.reachable(len(path), rank, place) <= self.rank:
                return
            region = self.regions[place]
            self.grow([*path, region], (rank[0] + region.score, rank[1] + len(region.members)), place + 1)

    def reachable(self, length: int, rank: tuple[int, int], place: int) -> tuple[int, int]:
        """Return an upper bound of the rank of all extensions of the path by the region at ``place`` or a later one."""
        # Regions are sorted by size. Filling up with the size of the one at ``place``, the smallest ahead, takes the
        # most regions; Karmada does not extend a set that suffices.
        needed = -(-(self.members - rank[1]) // len(self.regions[place].members))
        more = min(self.bounds.max_groups - length, max(needed, self.bounds.min_groups - length))
        return (rank[0] + more * self.ahead[place], rank[1] + more * len(self.regions[-1].members))


def _suffices(chosen: list[Region], least: int, members: int) -> bool:
    """Return whether Karmada's search records the set: it has enough members, but not without its last region."""
    held = [len(region.members) for region in sorted(chosen, key=_found_first)]
    return len(held) >= least and sum(held) >= members and (len(held) == least or sum(held[:-1]) < members)


def _found_first(region: Region) -> tuple[int, int, str]:
    return (len(region.members), -region.score, region.name)
