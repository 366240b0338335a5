"""What a rollout starts from, and the plan that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import attrs

Labels = Mapping[str, str]


@attrs.frozen
class Done:
    """What really stands on a cluster, as its ``Binding`` says.

    Attributes:
        revision: the revision that runs there; None when none does.
        broken: the last update is known to have broken there. A cluster at which the last update stopped is
            found without it.
        lost: the member is marked as gone for good: nothing is sent to it, and leaving it costs nothing.
        since: ``as_of`` of the update that brought the revision, or of the first one after it that had a
            time; None when there was none yet.
        replicas: the replicas that it was given; None where they are not set for each cluster.
        completions: the same of a Job's completions.
    """

    revision: int | None
    broken: bool = False
    lost: bool = False
    since: datetime | None = None
    replicas: int | None = None
    completions: int | None = None


@attrs.frozen
class Wanted:
    """What the placement should come to.

    Attributes:
        ranks: the picked clusters, each with the rank that it got when it was picked.
        revision: the revision that they should run.
        target: how many clusters are meant (PickN: N; PickFixed: the length of the list); None for PickAll:
            as many as are picked.
        labels: labels of the picked clusters, which stages select by.
        unscheduled: name of the policy snapshot when it could not be scheduled fully, empty when it was;
            an update run does not begin then.
    """

    ranks: Mapping[str, int]
    revision: int
    target: int | None = None
    labels: Mapping[str, Labels] = attrs.field(factory=dict)
    unscheduled: str = ""


@attrs.frozen
class Gates:
    """What may open the way to the next stage of an update run.

    Attributes:
        approvals: names of the approval requests that were accepted: ``<run>-before-<stage>``,
            ``<run>-after-<stage>``.
        as_of: the time of this update; None when there is none: then nothing falls due.
        max_wait: the longest ``TimedWait`` that an update itself waits out; 15 minutes by default.
    """

    approvals: frozenset[str] = frozenset()
    as_of: datetime | None = None
    max_wait: timedelta = timedelta(minutes=15)


@attrs.frozen
class Placed:
    """What is remembered of a cluster that has the placement, and what reviewers see change.

    Attributes:
        rank: its rank when it was picked.
        wave: the wave in which it last moved, from 1.
        revision: the revision that was sent to it.
        again: the revision at which it was written anew, because an update was interrupted there; None for never.
    """

    rank: int
    wave: int
    revision: int
    again: int | None = None


class Change(StrEnum):
    """What happens to a cluster in this update."""

    ADD = "add"
    UPDATE = "update"
    KEEP = "keep"
    REMOVE = "remove"
    HELD = "held"


@attrs.frozen
class Entry:
    """What the plan says of one cluster.

    Attributes:
        change: what happens to it now.
        placed: what is sent to it; None when it has nothing, or is left.
        reason: why it is held, or has to be left; empty where there is nothing to say.
    """

    change: Change
    placed: Placed | None
    reason: str = ""


@attrs.frozen
class Wave:
    """Clusters that move together, once those of the waves before are ready.

    Attributes:
        number: from 1; numbers may be missing.
        clusters: those that move, by name; none when only the rest of a wait is left.
        wait_seconds: how long to wait, once they are ready, before anything else happens.
    """

    number: int
    clusters: tuple[str, ...]
    wait_seconds: int = 0


@attrs.frozen
class Plan:
    """One update.

    Attributes:
        entries: all clusters concerned, by name.
        waves: those that move, wave by wave.
        removals: clusters that are left at the end, when all else stands.
        held_removals: clusters that should be left and keep what they have for now.
        failure: why the update run did not begin, in KubeFleet's words; empty when it did.
    """

    entries: Mapping[str, Entry]
    waves: tuple[Wave, ...] = ()
    removals: tuple[str, ...] = ()
    held_removals: tuple[str, ...] = ()
    failure: str = ""

    @property
    def placed(self) -> dict[str, Placed]:
        """All that is to be remembered: the same after every update that had nothing to do."""
        return {cluster: entry.placed for cluster, entry in self.entries.items() if entry.placed}

    @property
    def held(self) -> dict[str, str]:
        """The clusters that are held, each with the reason."""
        return {c: entry.reason for c, entry in self.entries.items() if entry.change is Change.HELD}
