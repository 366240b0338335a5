"""Current situation of a rollout: what runs, what is wanted, where the last update stopped; and its
layout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from fleet_components.model.message import Phrase
from fleet_components.rollout.rollout import Done, Gate, Placed, StageProgress, Wanted


@attrs.frozen
class Layout:
    """Assignment of clusters to waves, with those that are held or left.

    Attributes:
        waves: the clusters that move, each with its wave.
        held: the clusters that should move or be left but do not, each with the reason.
        gates: the closed gates that hold clusters, by cluster.
        removals: the clusters that are left at the end.
        waits: seconds to wait after a wave if anything follows it.
        failure: why an update run did not begin, in KubeFleet's words.
        stages: the stages of the update run.
        accepted: names of the approvals that have opened a gate.
        finished: whether nothing of the update run is left.
    """

    waves: Mapping[str, int] = attrs.field(factory=dict)
    held: Mapping[str, Phrase | str] = attrs.field(factory=dict)
    gates: Mapping[str, Gate] = attrs.field(factory=dict)
    removals: tuple[str, ...] = ()
    waits: Mapping[int, int] = attrs.field(factory=dict)
    failure: str = ""
    stages: tuple[StageProgress, ...] = ()
    accepted: tuple[str, ...] = ()
    finished: bool = False


Clusters = tuple[str, ...]

_NOTHING = Done(None)
_LOST = "the member is marked lost, nothing is sent to it"


@attrs.frozen
class Situation:
    """Clusters of a placement, sorted by what has to happen to them; each list is ordered by name.

    Attributes:
        done: what really runs, by cluster.
        wanted: the intended result.
        previous: what the last update was to send.
        broken: clusters where the last update stopped, or that are known to be broken.
        keeps: clusters that run what is wanted, or where an agent is still making it ready.
        updates: clusters that run something else, or something broken.
        adds: picked clusters where nothing runs yet.
        leaving: clusters where something runs and that are no longer picked.
        gone: clusters that are no longer picked and need no removal: members marked lost, and
            clusters that an update should have reached but did not.
        blocked: picked clusters that nothing can be sent to, each with the reason: members marked
            lost, and clusters on which an override fails, or that wait for an object of another
            placement.
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
    blocked: Mapping[str, Phrase | str]

    @property
    def moving(self) -> Clusters:
        """Picked clusters that have to be updated or added."""
        return (*self.updates, *self.adds)

    @property
    def awaited(self) -> Clusters:
        """Clusters that are to keep what they were sent, and where it is not ready yet."""
        return tuple(c for c in (*self.keeps, *self._stuck) if self.done[c].awaited)

    @property
    def ready(self) -> int:
        """Number of clusters that serve now, including those to be left."""
        serving = (*self.keeps, *self.updates, *self.leaving, *self._stuck)
        return sum(cluster not in self.broken for cluster in serving)

    @property
    def holding(self) -> int:
        """Number of clusters that have the placement now, broken or not."""
        return len(self.keeps) + len(self.updates) + len(self.leaving) + len(self._stuck)

    @property
    def waiting(self) -> Mapping[str, Gate]:
        """The gates of the clusters that only an object of another placement blocks."""
        others = {*self.wanted.blocked, *(c for c, here in self.done.items() if here.lost)}
        return {c: gate for c, gate in self.wanted.waits.items() if c not in others}

    @property
    def _stuck(self) -> Clusters:
        """Blocked clusters that serve nevertheless, with what they run."""
        return tuple(
            c for c in self.blocked if self.revision(c) is not None and not self.done[c].lost
        )

    @property
    def in_flight(self) -> frozenset[str]:
        """Clusters where the last update stopped on its way to the revision that is wanted now."""
        sent = self.broken.intersection(self.previous)
        return frozenset(c for c in sent if self.previous[c].version == self.wanted.version(c))

    def revision(self, cluster: str) -> int | None:
        """Return the revision that runs on a cluster; None if none does."""
        return self.done.get(cluster, _NOTHING).revision


def assess(done: Mapping[str, Done], wanted: Wanted, previous: Mapping[str, Placed]) -> Situation:
    """Sort the clusters by what has to happen to them."""
    broken = broken_of(done, previous)
    runs = {cluster for cluster, here in done.items() if here.revision is not None}
    lost = {cluster for cluster, here in done.items() if here.lost}
    waits = {cluster: gate.why for cluster, gate in wanted.waits.items()}
    # Later entries win: a lost member is reported as lost, whatever else blocks it.
    blocked = {**waits, **wanted.blocked, **dict.fromkeys(lost, _LOST)}

    def picked(test: Callable[[str], bool]) -> Clusters:
        return tuple(sorted(c for c in wanted.ranks if c not in blocked and test(c)))

    def stands(cluster: str) -> bool:
        here = done[cluster]
        # What an agent is still making ready is in `broken` too, and is not to be sent again.
        return here.version == wanted.version(cluster) and (here.awaited or cluster not in broken)

    # With those that an interrupted update should have reached: objects may stand there without a
    # record of it.
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
        blocked={c: blocked[c] for c in sorted(wanted.ranks) if c in blocked},
    )


def stopped_at(done: Mapping[str, Done], previous: Mapping[str, Placed]) -> frozenset[str]:
    """Return the unfinished clusters of the wave in which the last update stopped; later waves had
    not begun.
    """
    unfinished = [
        c for c, placed in previous.items() if placed.version != done.get(c, _NOTHING).version
    ]
    first = min((previous[cluster].wave for cluster in unfinished), default=0)
    return frozenset(c for c in unfinished if previous[c].wave == first)


def broken_of(done: Mapping[str, Done], previous: Mapping[str, Placed]) -> frozenset[str]:
    """Return the clusters where the last update stopped, and those that are known to be broken."""
    return stopped_at(done, previous).union(
        c for c, here in done.items() if here.broken or here.awaited
    )
