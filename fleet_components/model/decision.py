"""Outcome of scheduling, and the status that the real control plane would show for it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import attrs


@attrs.frozen
class Event:
    """A Kubernetes event. ``type`` is ``Normal`` or ``Warning``."""

    type: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.type} {self.reason} {self.message}"


M = TypeVar("M")


@attrs.frozen
class Condition:
    """A status condition without times and generations."""

    type: str
    status: str
    reason: str
    message: str


@attrs.frozen
class ClusterScore:
    """Scores of a member. The API calls the topology spread score ``priorityScore``."""

    affinity_score: int
    topology_spread_score: int = attrs.field(metadata={"wire": "priorityScore"})


@attrs.frozen
class ClusterDecision:
    """One entry of ``clusterDecisions`` in the status."""

    cluster_name: str
    selected: bool
    reason: str
    cluster_score: ClusterScore | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the entry in API form."""
        score = self.cluster_score
        return {
            "clusterName": self.cluster_name,
            "selected": self.selected,
            "clusterScore": score
            and {
                "affinityScore": score.affinity_score,
                "priorityScore": score.topology_spread_score,
            },
            "reason": self.reason,
        }


@attrs.frozen
class Status:
    """Status of a policy snapshot.

    Attributes:
        decisions: the cluster decisions, in order.
        condition: the ``Scheduled`` condition; None if none was ever written.
    """

    decisions: tuple[ClusterDecision, ...] = ()
    condition: Condition | None = None

    def placement_condition(self, kind: str) -> Condition:
        """Return the ``Scheduled`` condition of the placement, as the placement controller derives
        it.

        Args:
            kind: ``ClusterResourcePlacement`` or ``ResourcePlacement``.
        """
        if self.condition is None:
            return Condition(
                f"{kind}Scheduled", "Unknown", "SchedulePending", "Scheduling has not completed"
            )
        return attrs.evolve(self.condition, type=f"{kind}Scheduled")


@attrs.frozen
class Decision(Generic[M]):
    """Outcome of scheduling one subject.

    Attributes:
        memory: the state to persist for the next run.
        status: the status that the real system would show; derived from the decision, never stored.
        error: why the scheduling cycle failed; empty if it succeeded.
    """

    memory: M
    status: Status
    error: str = ""
