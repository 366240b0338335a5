"""Gates between the stages of an update run: approvals and waits.

Source of the rules: KubeFleet v0.3.1, ``pkg/controllers/updaterun/execution.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs

from fleet_components.rollout.plan import Gates
from fleet_components.rollout.situation import Clusters, Situation


def unapproved(request: str, gates: Gates) -> str:
    """Return why a required approval holds what follows; empty if none is required or it was given."""
    return f"approval {request} is missing" if request and request not in gates.approvals else ""


@attrs.frozen
class Waiting:
    """Wait after a stage, counted from the time when all of its clusters were done.

    Attributes:
        situation: the current situation of the rollout.
        gates: the time of the update, and the longest wait that an update waits out itself.
        clusters: the clusters of the stage.
        later: the clusters of all later stages.
    """

    situation: Situation
    gates: Gates
    clusters: Clusters
    later: Clusters

    @property
    def moves(self) -> bool:
        """True if the stage is not done yet."""
        return not set(self.situation.moving).isdisjoint(self.clusters)

    def due(self, wait: timedelta) -> datetime | None:
        """Return when the wait ends; None if the time when the stage was done is unknown."""
        done = self.situation.done
        times = [self.gates.as_of] if self.moves else [done[cluster].since for cluster in self.clusters]
        known = [time for time in times if time]
        return max(known) + wait if len(known) == len(times) else None

    def left(self, wait: timedelta) -> timedelta:
        """Return the remaining part of the wait."""
        due = self.due(wait)
        if due and self.gates.as_of:
            return max(due - self.gates.as_of, timedelta())
        wanted = self.situation.wanted.revision
        if not self.moves and any(self.situation.revision(cluster) == wanted for cluster in self.later):
            return timedelta()  # a later stage has begun, so the wait was over
        return wait

    def held(self, stage: str, wait: timedelta) -> str:
        """Return why the remaining wait holds what follows; empty if the update waits itself."""
        if self.left(wait) <= self.gates.max_wait:
            return ""
        due = self.due(wait)
        until = f"until {due.isoformat()}" if due else "from a time that is not recorded"
        judge = "" if self.gates.as_of else "; only as_of can tell that it is over"
        return f"stage {stage} is followed by a wait of {_span(wait)}, {until}{judge}"


def _span(time: timedelta) -> str:
    """Format a duration as Kubernetes does: ``24h0m0s``, ``15m0s``, ``1.5s``."""
    minutes, seconds = divmod(time.total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{seconds:g}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text
