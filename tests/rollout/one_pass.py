"""One pass of KubeFleet's rolling update: which bindings change now, which are blocked, and when the next pass is due.

Source of the rules: KubeFleet v0.3.1, ``pkg/controllers/rollout/controller.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import Literal

import attrs

from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.strategy import RolloutBudget

BindingState = Literal["Scheduled", "Bound", "Unscheduled"]

_CLEAN_UP_SECONDS = 5
_FAILING = ("Overridden", "WorkSynchronized", "Applied", "Available")
PENDING = frozenset(
    {"OverriddenPending", "WorkNotSynchronizedYet", "ApplyPending", "ResourceNotAvailableYet"}
)
"""What is not a failure since kubefleet-dev/kubefleet#670."""
_UNTRACKABLE = {"NotAllWorkAreAvailabilityTrackable", "WorkNotTrackable"}


@attrs.frozen
class Condition:
    """Condition of a binding.

    Attributes:
        type: for example ``Available``.
        status: ``True``, ``False`` or ``Unknown``.
        reason: the reason, which affects the decision.
        age_seconds: time since the last transition.
        stale: whether it was observed on a generation other than the current one, and therefore does not count.
    """

    type: str
    status: str
    reason: str = ""
    age_seconds: float = 0
    stale: bool = False


@attrs.frozen
class Binding:
    """Record of what runs on one cluster for a placement.

    Attributes:
        cluster: the cluster.
        state: ``Scheduled`` (picked), ``Bound`` (rolled out) or ``Unscheduled`` (to be removed).
        conditions: at most one condition per type.
        up_to_date: whether it has the latest resources and overrides.
        deleting: whether it has a deletion timestamp.
        pending: the reasons of a condition that has not failed, though it is False.
    """

    cluster: str
    state: BindingState
    conditions: tuple[Condition, ...] = ()
    up_to_date: bool = False
    deleting: bool = False
    pending: Collection[str] = PENDING

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of that type if it refers to the current generation, else None."""
        return next((c for c in self.conditions if c.type == kind and not c.stale), None)

    @property
    def failed(self) -> bool:
        """True if any step failed.

        The reasons that KubeFleet writes while work is still being applied are not among the reasons that count as
        progress. Therefore a cluster that is still applying counts as failed.
        """
        current = (self.condition(kind) for kind in _FAILING)
        return any(c and c.status == "False" and c.reason not in self.pending for c in current)

    @property
    def can_be_ready(self) -> bool:
        """True if it may become ready at any time: rolled out, not failed, no differences reported."""
        return self.state != "Scheduled" and not self.failed and not self.condition("DiffReported")

    def seconds_to_ready(self, period: float) -> float:
        """Return the seconds until the binding is ready: negative if it is ready now, infinite if unknown."""
        diff, available = self.condition("DiffReported"), self.condition("Available")
        if diff and diff.status == "True":
            return -1
        if not available or available.status != "True":
            return inf
        return period - available.age_seconds if available.reason in _UNTRACKABLE else -1


@attrs.frozen
class Pass:
    """Decisions of one pass. Cluster names are in the order in which the controller handles them.

    Attributes:
        act_now: clusters to bind, update or remove now.
        blocked: clusters that are out of date or not yet bound, and blocked by the budgets.
        up_to_date: clusters that are bound and have the latest content.
        need_roll: whether anything is left to bind, update or remove.
        wait_seconds: seconds until the next pass is due; 0 if no binding is waiting to become ready.
    """

    act_now: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    up_to_date: tuple[str, ...] = ()
    need_roll: bool = True
    wait_seconds: float = 0


def one_pass(
    bindings: Sequence[Binding], strategy: RollingUpdate, target: int | None = None
) -> Pass:
    """Compute the decisions of one pass.

    Args:
        bindings: all bindings of the placement, in list order (by name).
        strategy: the placement's rolling update strategy.
        target: the intended number of clusters (PickN: N; PickFixed: the length of the list, missing ones
            included); None for PickAll, where it is the number of picked clusters.
    """
    if _waits_for_clean_up(bindings):
        return Pass(wait_seconds=_CLEAN_UP_SECONDS)
    present = [b for b in bindings if not b.deleting]
    picked = [b for b in bindings if b.state != "Unscheduled"]
    bound = [b for b in present if b.state == "Bound"]
    stale = [b for b in bound if not b.up_to_date]
    removals = [b for b in present if b.state == "Unscheduled"]
    binds = [b for b in bindings if b.state == "Scheduled"]
    repairs = [b for b in stale if b.failed]
    updates = [b for b in stale if not b.failed]

    budget = RolloutBudget.of(strategy, len(picked) if target is None else target)
    disruptable = budget.disruptable(_stays_ready(bindings, strategy))
    addable = budget.addable(sum(b.can_be_ready for b in bindings))
    removed = removals[:disruptable]
    updatable = disruptable - len(removed)
    # KubeFleet's order: failed bindings without any budget, then removals before updates, which share
    # maxUnavailable, then new bindings within maxSurge.
    act = [*repairs, *removed, *updates[:updatable], *binds[:addable]]
    return Pass(
        _names(act),
        _names([*updates[updatable:], *binds[addable:]]),
        _names([b for b in bound if b.up_to_date]),
        bool(stale or removals or binds),
        _wait_seconds(bindings, strategy.unavailable_period_seconds),
    )


def _names(bindings: Sequence[Binding]) -> tuple[str, ...]:
    return tuple(binding.cluster for binding in bindings)


def _waits_for_clean_up(bindings: Sequence[Binding]) -> bool:
    """Return whether a cluster was dropped and picked again, which blocks the whole rollout until it is cleaned up."""
    deleting = {b.cluster for b in bindings if b.deleting}
    return any(b.cluster in deleting for b in bindings if not b.deleting)


def _stays_ready(bindings: Sequence[Binding], strategy: RollingUpdate) -> int:
    """Return how many bindings are ready and not being deleted; one that is being deleted may vanish at any time."""
    period = strategy.unavailable_period_seconds
    rolled_out = (b for b in bindings if b.state != "Scheduled" and not b.deleting)
    return sum(b.seconds_to_ready(period) < 0 for b in rolled_out)


def _wait_seconds(bindings: Sequence[Binding], period: float) -> float:
    waits = [b.seconds_to_ready(period) for b in bindings if b.state != "Scheduled"]
    pending = [wait for wait in waits if wait >= 0]
    return min(period, *pending) if pending else 0
