"""The observation of a Karmada control plane."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.hub.karmada.notes import notes_of
from fleet_components.hub.karmada.reading import Reading
from fleet_components.hub.karmada.template import FIRST, seen_policies
from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation, ObservedSubject
from fleet_components.model.karmada.claims import Claim
from fleet_components.model.karmada.memory import TemplateMemory
from fleet_components.model.problem import FleetError
from fleet_components.plan.karmada.record import TemplateRecord, TemplateState
from fleet_components.plan.record import digest


def karmada_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: an object of the control plane cannot be read.
    """
    reading = Reading(listing)
    subjects = (*(one.observed for one in reading.copies.values()), *_unbound(reading))
    return Observation(
        system=listing.system,
        as_of=listing.as_of,
        members=reading.members,
        policies=reading.policies,
        objects=reading.objects,
        subjects=tuple(sorted(subjects, key=lambda one: one.name)),
        waiting=reading.templates.waiting,
        notes=notes_of(reading),
    )


def _unbound(reading: Reading) -> Iterator[ObservedSubject]:
    """Yield templates that a policy selects and that have no binding, if it is settled that they get none.

    A lazy policy has claimed them, or the override policies are missing that theirs waits for.
    """
    states: dict[str, TemplateState] = {key: one.bound.state for key, one in reading.copies.items()}
    for workload in reading.templates.workloads:
        if workload.key in states:
            continue
        subject, claimed = reading.subject(workload, states), reading.claimed(workload)
        memory = TemplateState(
            claim=Claim(claimed, None, FIRST),
            policies=seen_policies(subject, {claimed}) if claimed else {},
            seen=digest((workload.manifest.data,)),
            generation=FIRST,
            schedule=TemplateMemory(uid=reading.uid(workload)),
        )
        try:
            record = subject.decide(TemplateRecord(memory=memory)).record
        except FleetError:
            continue  # the plan has the same problem
        if record.memory.claim.bound is None and not record.decisions:
            yield ObservedSubject(name=subject.name, record=record, protected=subject.protected)
