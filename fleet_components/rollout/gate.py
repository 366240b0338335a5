"""What lies between the stages of an update run: approvals, and waits.

Source of the rules: KubeFleet's update run controller.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs

from fleet_components.rollout.plan import Gates
from fleet_components.rollout.situation import Clusters, Situation


def unapproved(request: str, gates: Gates) -> str:
    """Why an approval that is asked for holds what follows; empty when none is, or when it was given."""
    return f"approval {request} is missing" if request and request not in gates.approvals else ""


@attrs.frozen
class Waiting:
    """The wait after a stage, counted from when all of its clusters were done.

    Attributes:
        situation: where the rollout stands.
        gates: the time, and how long an update may wait itself.
        clusters: the clusters of the stage.
        later: the clusters of all stages after it.
    """

    situation: Situation
    gates: Gates
    clusters: Clusters
    later: Clusters

    @property
    def moves(self) -> bool:
        """Whether the stage is not done yet."""
        return not set(self.situation.moving).isdisjoint(self.clusters)

    def due(self, wait: timedelta) -> datetime | None:
        """When the wait is over; None when nobody knows since when the stage is done."""
        done = self.situation.done
        times = [self.gates.as_of] if self.moves else [done[cluster].since for cluster in self.clusters]
        known = [time for time in times if time]
        return max(known) + wait if len(known) == len(times) else None

    def left(self, wait: timedelta) -> timedelta:
        """How much of the wait is left."""
        due = self.due(wait)
        if due and self.gates.as_of:
            return max(due - self.gates.as_of, timedelta())
        wanted = self.situation.wanted.revision
        if not self.moves and any(self.situation.revision(cluster) == wanted for cluster in self.later):
            return timedelta()  # these were begun after it
        return wait

    def held(self, stage: str, wait: timedelta) -> str:
        """Why what is left of the wait holds what follows; empty when the update waits itself."""
        if self.left(wait) <= self.gates.max_wait:
            return ""
        due = self.due(wait)
        until = f"until {due.isoformat()}" if due else "from a time that is not recorded"
        judge = "" if self.gates.as_of else "; only as_of can tell that it is over"
        return f"stage {stage} is followed by a wait of {_span(wait)}, {until}{judge}"


def _span(time: timedelta) -> str:
    """A duration as Kubernetes writes it: ``24h0m0s``, ``15m0s``, ``1.5s``."""
    minutes, seconds = divmod(time.total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{seconds:g}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text
