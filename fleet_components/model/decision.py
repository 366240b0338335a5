"""What a scheduler decided, and the status that the real one would show for it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import attrs

M = TypeVar("M")


@attrs.frozen
class Condition:
    """A status condition, without times and generations."""

    type: str
    status: str
    reason: str
    message: str


@attrs.frozen
class ClusterScore:
    """The scores of a member. The API calls the spread score ``priorityScore``."""

    affinity_score: int
    topology_spread_score: int = attrs.field(metadata={"wire": "priorityScore"})


@attrs.frozen
class ClusterDecision:
    """One entry of ``clusterDecisions``."""

    cluster_name: str
    selected: bool
    reason: str
    cluster_score: ClusterScore | None = None

    def to_wire(self) -> dict[str, Any]:
        """Its form in the API."""
        score = self.cluster_score
        return {
            "clusterName": self.cluster_name,
            "selected": self.selected,
            "clusterScore": score
            and {"affinityScore": score.affinity_score, "priorityScore": score.topology_spread_score},
            "reason": self.reason,
        }


@attrs.frozen
class Status:
    """The status of a policy snapshot.

    Attributes:
        decisions: the cluster decisions, in order.
        condition: the ``Scheduled`` condition; None while nothing was ever written.
        pending: the status is older than the policy (the last cycle wrote none).
    """

    decisions: tuple[ClusterDecision, ...] = ()
    condition: Condition | None = None
    pending: bool = True

    def placement_condition(self, kind: str) -> Condition:
        """The ``Scheduled`` condition of the placement of this kind, as its controller derives it."""
        if self.pending or self.condition is None:
            return Condition(f"{kind}Scheduled", "Unknown", "SchedulePending", "Scheduling has not completed")
        return attrs.evolve(self.condition, type=f"{kind}Scheduled")


@attrs.frozen
class Decision(Generic[M]):
    """The outcome of scheduling.

    Attributes:
        memory: what to remember.
        status: what the real system would show; derived, never stored.
        error: why the scheduling cycle failed; empty when it did not.
    """

    memory: M
    status: Status
    error: str = ""
