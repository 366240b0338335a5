"""Status and events that the real control plane would show for a template."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.decision import Condition, Event
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.scheduler.division import Division

_SUCCEEDED = "Binding has been scheduled successfully."
SUCCESS = Condition("Scheduled", "True", "Success", _SUCCEEDED)


@attrs.frozen
class Attempt:
    """One run of the algorithm, as reported by events.

    Attributes:
        clusters: the replicas by member, in the order of selection; None if the run failed.
        error: why it failed; empty on success.
        cluster_scoped: whether the object has no namespace.
    """

    clusters: Mapping[str, int] | None = None
    error: str = ""
    cluster_scoped: bool = False

    @property
    def event(self) -> Event:
        """Event recorded on the binding and on the template."""
        if self.clusters is None:
            return Event("Warning", "ScheduleBindingFailed", self.error)
        result = ", ".join(f"{name}:{replicas}" for name, replicas in self.clusters.items())
        # Karmada's text for a ClusterResourceBinding lacks the colon (pkg/scheduler/scheduler.go,
        # 1.19).
        colon = "" if self.cluster_scoped else ":"
        return Event("Normal", "ScheduleBindingSucceed", f"{_SUCCEEDED} Result{colon} {{{result}}}")


@attrs.frozen(kw_only=True)
class BindingStatus:
    """Status of a binding; derived, never stored.

    Attributes:
        condition: the ``Scheduled`` condition; None before the first run.
        evaluated: whether the scheduler evaluated the binding.
        trigger: why the binding was scheduled; empty if it was not.
        attempts: the runs of the algorithm in order, including those of affinity groups that
            failed.
        divisions: how the replicas were divided; empty if they were not.
        retry: whether the scheduler will retry by itself.
        observed: whether the current generation of the binding was scheduled successfully, or
            needed no scheduling.
        resting: whether the scheduler did not look, since nothing has changed since a control
            plane's looked last.
    """

    condition: Condition | None = None
    evaluated: bool = False
    trigger: str = ""
    attempts: tuple[Attempt, ...] = ()
    divisions: tuple[Division, ...] = ()
    retry: bool = False
    observed: bool = False
    resting: bool = False

    @property
    def events(self) -> tuple[Event, ...]:
        """Events in order, without duplicates."""
        return tuple(dict.fromkeys(attempt.event for attempt in self.attempts))


@attrs.frozen
class TemplateDecision:
    """Outcome of scheduling a template.

    Attributes:
        memory: what to remember.
        status: what the real system would show; derived, never stored.
        before: the past decision that scheduling started from; empty for a new template.
    """

    memory: TemplateMemory
    status: BindingStatus
    before: TemplateMemory = attrs.field(default=TemplateMemory(), eq=False)
