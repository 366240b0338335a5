"""What the real control plane would show for a template."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.decision import Condition
from fleet_components.model.event import Event
from fleet_components.model.memory import TemplateMemory
from fleet_components.scheduler.karmada.assignment import Division

_SUCCEEDED = "Binding has been scheduled successfully."
SUCCESS = Condition("Scheduled", "True", "Success", _SUCCEEDED)


@attrs.frozen
class Attempt:
    """One run of the algorithm, as events tell of it.

    Attributes:
        clusters: the replicas by member, in the order of choosing; None when it failed.
        error: why it failed; empty when it did not.
        cluster_scoped: the object has no namespace.
    """

    clusters: Mapping[str, int] | None = None
    error: str = ""
    cluster_scoped: bool = False

    @property
    def event(self) -> Event:
        """The event on the binding and on the template."""
        if self.clusters is None:
            return Event("Warning", "ScheduleBindingFailed", self.error)
        result = ", ".join(f"{name}:{replicas}" for name, replicas in self.clusters.items())
        colon = "" if self.cluster_scoped else ":"
        return Event("Normal", "ScheduleBindingSucceed", f"{_SUCCEEDED} Result{colon} {{{result}}}")


@attrs.frozen(kw_only=True)
class BindingStatus:
    """The status of a binding; derived, never stored.

    Attributes:
        condition: the ``Scheduled`` condition; None before the first run.
        evaluated: the scheduler looked at the binding.
        trigger: why it was scheduled; empty when it was not.
        attempts: the runs of the algorithm in order, with those of affinity groups that failed.
        divisions: how the replicas were divided; empty where they were not.
        retry: the scheduler will try again by itself.
        observed: the binding as it stands was scheduled with success, or did not need to be.
    """

    condition: Condition | None = None
    evaluated: bool = False
    trigger: str = ""
    attempts: tuple[Attempt, ...] = ()
    divisions: tuple[Division, ...] = ()
    retry: bool = False
    observed: bool = False

    @property
    def events(self) -> tuple[Event, ...]:
        """The events in order, equal ones once."""
        return tuple(dict.fromkeys(attempt.event for attempt in self.attempts))


@attrs.frozen
class TemplateDecision:
    """The outcome of scheduling a template.

    Attributes:
        memory: what to remember.
        status: what the real system would show; derived, never stored.
        before: what was decided before, from which it was scheduled; empty for a new template.
    """

    memory: TemplateMemory
    status: BindingStatus
    before: TemplateMemory = attrs.field(default=TemplateMemory(), eq=False)
