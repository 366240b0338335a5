"""Where a rollout stands: what runs, what is wanted, and where the last update stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from fleet_components.rollout.plan import Done, Placed, Wanted

Clusters = tuple[str, ...]

_NOTHING = Done(None)


@attrs.frozen
class Situation:
    """The clusters of a placement, sorted into what has to happen to them; each list by name.

    Attributes:
        done: what really stands, by cluster.
        wanted: what should stand.
        previous: what the last update meant to send.
        broken: clusters at which the last update stopped, or that are known to be broken.
        keeps: run what is wanted.
        updates: run something else, or something broken.
        adds: picked, and nothing runs there yet.
        leaving: something runs there, and they are no longer picked.
        gone: no longer picked, and nothing is lost with them: members marked lost, and clusters that an
            update was to reach and did not.
        lost: still picked, but marked lost.
    """

    done: Mapping[str, Done]
    wanted: Wanted
    previous: Mapping[str, Placed]
    broken: frozenset[str]
    keeps: Clusters
    updates: Clusters
    adds: Clusters
    leaving: Clusters
    gone: Clusters
    lost: Clusters

    @property
    def moving(self) -> Clusters:
        """The picked clusters that have to move."""
        return (*self.updates, *self.adds)

    @property
    def ready(self) -> int:
        """How many clusters serve now, those that will be left included."""
        serving = (*self.keeps, *self.updates, *self.leaving)
        return sum(cluster not in self.broken for cluster in serving)

    @property
    def holding(self) -> int:
        """How many clusters have the placement now, broken or not."""
        return len(self.keeps) + len(self.updates) + len(self.leaving)

    @property
    def in_flight(self) -> frozenset[str]:
        """The clusters at which the last update stopped on its way to what is wanted now."""
        wanted = self.wanted.revision
        return frozenset(c for c in self.broken if c in self.previous and self.previous[c].revision == wanted)

    def revision(self, cluster: str) -> int | None:
        """The revision that runs on a cluster."""
        return self.done.get(cluster, _NOTHING).revision


def assess(done: Mapping[str, Done], wanted: Wanted, previous: Mapping[str, Placed]) -> Situation:
    """Sort the clusters into what has to happen to them."""
    broken = _broken(done, previous)
    runs = {cluster for cluster, here in done.items() if here.revision is not None}
    lost = {cluster for cluster, here in done.items() if here.lost}

    def picked(test: Callable[[str], bool]) -> Clusters:
        return tuple(sorted(c for c in wanted.ranks if c not in lost and test(c)))

    def stands(cluster: str) -> bool:
        return done[cluster].revision == wanted.revision and cluster not in broken

    unpicked = sorted((runs | set(previous)) - set(wanted.ranks))
    return Situation(
        done,
        wanted,
        previous,
        broken,
        keeps=picked(lambda c: c in runs and stands(c)),
        updates=picked(lambda c: c in runs and not stands(c)),
        adds=picked(lambda c: c not in runs),
        leaving=tuple(c for c in unpicked if c in runs and c not in lost),
        gone=tuple(c for c in unpicked if c not in runs or c in lost),
        lost=tuple(sorted(c for c in wanted.ranks if c in lost)),
    )


def stopped_at(done: Mapping[str, Done], previous: Mapping[str, Placed]) -> frozenset[str]:
    """The unfinished clusters of the first wave of the last update that did not end: later waves were not begun."""
    unfinished = [c for c, placed in previous.items() if placed.revision != done.get(c, _NOTHING).revision]
    first = min((previous[cluster].wave for cluster in unfinished), default=0)
    return frozenset(c for c in unfinished if previous[c].wave == first)


def _broken(done: Mapping[str, Done], previous: Mapping[str, Placed]) -> frozenset[str]:
    return stopped_at(done, previous).union(cluster for cluster, here in done.items() if here.broken)
