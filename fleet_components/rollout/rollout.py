"""Input and result of the rollout planner: what runs, what is wanted, and the update between
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import attrs

from fleet_components.model.codec import ranged
from fleet_components.model.message import Phrase

Labels = Mapping[str, str]
Version = tuple[int | None, int | None]
"""Revision of the content on a cluster, and number of the overrides in force there."""


@attrs.frozen
class Done:
    """Content that runs on a cluster, according to its ``Binding``.

    Attributes:
        revision: the revision that runs there; None if none does.
        broken: whether the last update is known to have broken there. Clusters where the last
            update stopped are detected independently of this.
        lost: whether the member is marked as gone for good: nothing is sent to it, and leaving it
            costs nothing.
        since: ``as_of`` of the update that brought the revision, or of the first later update that
            had a time; None if there was none yet.
        replicas: the replicas assigned to it; None if they are not set per cluster.
        completions: the same for the completions of a Job.
        overrides: number of the override rules that were in force there; None if none were.
        awaited: whether an agent of a hub is still making it ready there. It serves as little as a
            broken one, and need not be sent again.
        trouble: why a hub could not apply there what it has sent, in its words; empty if it could,
            or does not say.
    """

    revision: int | None = attrs.field(metadata=ranged(-1))
    broken: bool = False
    lost: bool = False
    since: datetime | None = None
    replicas: int | None = attrs.field(default=None, metadata=ranged(0))
    completions: int | None = attrs.field(default=None, metadata=ranged(0))
    overrides: int | None = attrs.field(default=None, metadata=ranged(0))
    awaited: bool = False
    trouble: str = ""

    @property
    def version(self) -> Version:
        """Revision that runs there, and number of its overrides."""
        return self.revision, self.overrides


@attrs.frozen
class Wanted:
    """Intended result for a placement.

    Attributes:
        ranks: the picked clusters, each with the rank that it got when it was picked.
        revision: the revision that they should run.
        target: the intended number of clusters (PickN: N; PickFixed: the length of the list); None
            for PickAll, where it is the number of picked clusters.
        labels: labels of the picked clusters, which stages select by.
        unscheduled: name of the policy snapshot if it could not be scheduled fully, in which case
            an update run does not begin; else empty.
        overrides: number of the override rules in force on each picked cluster that has any.
        blocked: picked clusters that cannot get the content, each with the reason; they keep what
            they run.
        waits: picked clusters that wait for something else to come there, each with the gate.
    """

    ranks: Mapping[str, int]
    revision: int
    target: int | None = None
    labels: Mapping[str, Labels] = attrs.field(factory=dict)
    unscheduled: str = ""
    overrides: Mapping[str, int] = attrs.field(factory=dict)
    blocked: Mapping[str, str] = attrs.field(factory=dict)
    waits: Mapping[str, Gate] = attrs.field(factory=dict)

    def version(self, cluster: str) -> tuple[int, int | None]:
        """Return the revision that a cluster should run, and the number of its overrides."""
        return self.revision, self.overrides.get(cluster)


@attrs.frozen
class Gates:
    """Input that opens the gates between the stages of an update run.

    Attributes:
        approvals: names of the approval requests that were accepted: ``<run>-before-<stage>``,
            ``<run>-after-<stage>``.
        as_of: the time of this update; None if there is none, in which case nothing becomes due.
        max_wait: the longest ``TimedWait`` that an update itself waits out; 15 minutes by default.
        spent: given approvals that were meant for an earlier run of the same name.
    """

    approvals: frozenset[str] = frozenset()
    as_of: datetime | None = None
    max_wait: timedelta = timedelta(minutes=15)
    spent: frozenset[str] = frozenset()


@attrs.frozen
class Placed:
    """Record of one cluster that has the placement; reviewers see its changes.

    Attributes:
        rank: its rank when it was picked.
        wave: the wave in which it last moved, from 1.
        revision: the revision that was sent to it.
        again: the revision at which it was written again because an update was interrupted there;
            None for never.
        overrides: number of the override rules that were in force there; None if none were.
    """

    rank: int = attrs.field(metadata=ranged(0))
    wave: int = attrs.field(metadata=ranged(1))
    revision: int = attrs.field(metadata=ranged(-1))
    again: int | None = attrs.field(default=None, metadata=ranged(0))
    overrides: int | None = attrs.field(default=None, metadata=ranged(0))

    @property
    def version(self) -> Version:
        """Revision that was sent to it, and number of its overrides."""
        return self.revision, self.overrides


class Change(StrEnum):
    """Kind of change of a cluster in this update."""

    ADD = "add"
    UPDATE = "update"
    KEEP = "keep"
    REMOVE = "remove"
    HELD = "held"


class Opens(StrEnum):
    """Answer to what lets a held cluster go on: another update alone, an approval, a time, or none
    of these.
    """

    UPDATE = "update"
    APPROVAL = "approval"
    TIME = "time"
    NEVER = "never"


@attrs.frozen
class Gate:
    """Point that a cluster does not pass: of an update run, or an object that has to come first.

    Attributes:
        why: why it is closed.
        opens: what opens it; ``NEVER`` if that is another source, as another ``state`` of the run.
        approval: name of the missing approval; empty if it is none.
        due: when the wait is over; None if that is unknown, and if it is no wait.
    """

    why: Phrase | str
    opens: Opens = Opens.NEVER
    approval: str = ""
    due: datetime | None = None


@attrs.frozen
class Entry:
    """Planned change of one cluster.

    Attributes:
        change: what happens to it now.
        placed: what is sent to it now, or what it keeps; None if it has nothing, or is left.
        reason: why it is held or has to be left; empty if there is nothing to say.
        gate: the closed gate that holds it; None if none does.
    """

    change: Change
    placed: Placed | None
    reason: Phrase | str = ""
    gate: Gate | None = None


@attrs.frozen
class Wave:
    """Clusters that move together, once those of the earlier waves are ready.

    Attributes:
        number: from 1; numbers may be missing.
        clusters: the clusters that move, by name; empty if only the rest of a wait remains.
        wait_seconds: seconds to wait, once they are ready, before anything else happens.
    """

    number: int
    clusters: tuple[str, ...]
    wait_seconds: int = 0


@attrs.frozen
class StageProgress:
    """Stage of an update run, as it is during an update.

    Attributes:
        name: the name.
        parts: its clusters in order; those of one part are updated together.
        done: the clusters that have been updated before.
        moves: the clusters that this update changes.
        before: what it waits for before it begins; empty if nothing keeps it.
        after: what the next stage waits for; empty if nothing keeps it.
    """

    name: str
    parts: tuple[tuple[str, ...], ...] = ()
    done: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


@attrs.frozen
class Rollout:
    """Rollout of one update.

    Attributes:
        entries: all clusters concerned, by name.
        waves: the clusters that move, by wave.
        removals: clusters that are left at the end, when everything else is done.
        held_removals: clusters that should be left and keep what they have for now.
        failure: why the update run did not begin, in KubeFleet's words; empty if it did.
        stages: the stages of the update run, in order.
        accepted: names of the approvals that have opened a gate of the run.
        finished: whether nothing of the run is left once this update has succeeded.
    """

    entries: Mapping[str, Entry]
    waves: tuple[Wave, ...] = ()
    removals: tuple[str, ...] = ()
    held_removals: tuple[str, ...] = ()
    failure: str = ""
    stages: tuple[StageProgress, ...] = ()
    accepted: tuple[str, ...] = ()
    finished: bool = False

    @property
    def placed(self) -> dict[str, Placed]:
        """Records to remember; unchanged by every update that has nothing to do."""
        return {cluster: entry.placed for cluster, entry in self.entries.items() if entry.placed}

    @property
    def held(self) -> dict[str, str]:
        """Clusters that are held, each with the reason."""
        return {
            c: str(entry.reason) for c, entry in self.entries.items() if entry.change is Change.HELD
        }
