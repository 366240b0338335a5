"""One pass of KubeFleet's rolling update: which bindings move now, which wait, when to look again.

Source of the rules: the KubeFleet rollout controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

import attrs

from fleet_components.model.placement import RollingUpdate
from fleet_components.rollout.strategy import Budget

BindingState = Literal["Scheduled", "Bound", "Unscheduled"]

_CLEAN_UP_SECONDS = 5
_FAILING = ("Overridden", "WorkSynchronized", "Applied", "Available")
_IN_PROGRESS = {"OverriddenPending", "WorkNotSynchronizedYet", "ApplyPending", "ResourceNotAvailableYet"}
_UNTRACKABLE = {"NotAllWorkAreAvailabilityTrackable", "WorkNotTrackable"}


@attrs.frozen
class Condition:
    """A condition of a binding.

    Attributes:
        type: for example ``Available``.
        status: ``True``, ``False`` or ``Unknown``.
        reason: its reason, on which much depends.
        age_seconds: time since its last transition.
        stale: it was observed on another generation than the current one, and says nothing about it.
    """

    type: str
    status: str
    reason: str = ""
    age_seconds: float = 0
    stale: bool = False


@attrs.frozen
class Binding:
    """What ties a placement to a cluster.

    Attributes:
        cluster: the cluster.
        state: ``Scheduled`` (picked), ``Bound`` (rolled out) or ``Unscheduled`` (to be removed).
        conditions: at most one of a type.
        up_to_date: it has the latest resources and overrides.
        deleting: it has a deletion timestamp.
    """

    cluster: str
    state: BindingState
    conditions: tuple[Condition, ...] = ()
    up_to_date: bool = False
    deleting: bool = False

    def condition(self, kind: str) -> Condition | None:
        """The condition of that type, if it is about the current generation."""
        return next((c for c in self.conditions if c.type == kind and not c.stale), None)

    @property
    def failed(self) -> bool:
        """Whether any step ended badly.

        The reasons that are written while work is still being applied are not among those that count as
        progress, so that a cluster which is still applying counts as failed.
        """
        current = (self.condition(kind) for kind in _FAILING)
        return any(c and c.status == "False" and c.reason not in _IN_PROGRESS for c in current)

    @property
    def can_be_ready(self) -> bool:
        """Whether it may become ready at any time: rolled out, not failed, no differences reported."""
        return self.state != "Scheduled" and not self.failed and not self.condition("DiffReported")

    def seconds_to_ready(self, period: float) -> float:
        """Negative when it is ready, infinite when nobody knows."""
        diff, available = self.condition("DiffReported"), self.condition("Available")
        if diff and diff.status == "True":
            return -1
        if not available or available.status != "True":
            return inf
        return period - available.age_seconds if available.reason in _UNTRACKABLE else -1


@attrs.frozen
class Pass:
    """What one pass decides. Cluster names are in the order in which the controller handles them.

    Attributes:
        act_now: bound, updated or removed now.
        blocked: out of date or not yet bound, and held by the budgets.
        up_to_date: bound and latest already.
        need_roll: whether anything is out of date at all.
        wait_seconds: when to look again.
    """

    act_now: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    up_to_date: tuple[str, ...] = ()
    need_roll: bool = True
    wait_seconds: float = 0


def one_pass(bindings: Sequence[Binding], strategy: RollingUpdate, target: int | None = None) -> Pass:
    """Decide one pass.

    Args:
        bindings: all of the placement, in list order (by name).
        strategy: its rolling update.
        target: how many clusters are meant (PickN: N; PickFixed: the length of the list, missing ones
            included); None for PickAll, where it is the number of picked ones.
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

    budget = Budget.of(strategy, len(picked) if target is None else target)
    disruptable = budget.disruptable(_stays_ready(bindings, strategy))
    addable = budget.addable(sum(b.can_be_ready for b in bindings))
    removed = removals[:disruptable]
    updatable = disruptable - len(removed)
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
    """A cluster that was dropped and picked again waits, and all others with it, until it is cleaned."""
    deleting = {b.cluster for b in bindings if b.deleting}
    return any(b.cluster in deleting for b in bindings if not b.deleting)


def _stays_ready(bindings: Sequence[Binding], strategy: RollingUpdate) -> int:
    """How many are ready and will stay so: one that is being deleted may vanish at any time."""
    period = strategy.unavailable_period_seconds
    rolled_out = (b for b in bindings if b.state != "Scheduled" and not b.deleting)
    return sum(b.seconds_to_ready(period) < 0 for b in rolled_out)


def _wait_seconds(bindings: Sequence[Binding], period: float) -> float:
    waits = [b.seconds_to_ready(period) for b in bindings if b.state != "Scheduled"]
    pending = [wait for wait in waits if wait >= 0]
    return min(period, *pending) if pending else 0
