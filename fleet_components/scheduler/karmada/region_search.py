"""The best set of regions: Karmada's exhaustive search, cut where nothing better can follow."""

from __future__ import annotations

from itertools import accumulate

import attrs

from fleet_components.model.karmada import SpreadConstraint


@attrs.frozen(eq=False)
class Region:
    """A region: its candidates by position, best first, and its score."""

    name: str
    members: list[int]
    score: int


def best_regions(regions: list[Region], bounds: SpreadConstraint, members: int) -> list[Region]:
    """The best set of regions within the bounds that holds enough members, best region first; empty for none.

    The highest score wins, then the most members, then what Karmada finds first: it looks depth first, over regions
    with fewer members first, and adds no region to a set that suffices. A set that suffices and begins the best one
    is preferred to it.
    """
    found = sorted(_Search(regions, bounds, members).run(), key=lambda region: (-region.score, region.name))
    beginnings = (found[:count] for count in range(1, len(found) + 1))
    return next((chosen for chosen in beginnings if _suffices(chosen, bounds.min_groups, members)), [])


class _Search:
    """One search; ``best`` is what was found so far, ``rank`` its score and its number of members."""

    def __init__(self, regions: list[Region], bounds: SpreadConstraint, members: int) -> None:
        self.regions = sorted(regions, key=_found_first)
        self.bounds = bounds
        self.members = members
        self.best: list[Region] = []
        self.rank = (-1, -1)
        # The best score of a region and of all that are found after it.
        self.ahead = list(accumulate((region.score for region in reversed(self.regions)), max))[::-1]

    def run(self) -> list[Region]:
        self.grow([], (0, 0), 0)
        return self.best

    def grow(self, path: list[Region], rank: tuple[int, int], begin: int) -> None:
        """Try the path with the regions from ``begin`` on, unless it suffices as it is."""
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
        """A bound that no path exceeds which goes on with the region at this place or a later one."""
        # With the smallest region ahead, so many more hold enough members.
        needed = -(-(self.members - rank[1]) // len(self.regions[place].members))
        more = min(self.bounds.max_groups - length, max(needed, self.bounds.min_groups - length))
        return (rank[0] + more * self.ahead[place], rank[1] + more * len(self.regions[-1].members))


def _suffices(chosen: list[Region], least: int, members: int) -> bool:
    """Whether Karmada finds the set: it holds enough members, and not without the region that is found last."""
    held = [len(region.members) for region in sorted(chosen, key=_found_first)]
    return len(held) >= least and sum(held) >= members and (len(held) == least or sum(held[:-1]) < members)


def _found_first(region: Region) -> tuple[int, int, str]:
    return (len(region.members), -region.score, region.name)
