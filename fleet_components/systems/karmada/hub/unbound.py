"""Templates that policies select and that have no binding."""

from __future__ import annotations

from fleet_components.hub.listing import Object
from fleet_components.hub.observation import ObservedSubject
from fleet_components.model.problem import FleetError
from fleet_components.plan.record import digest
from fleet_components.systems.karmada.hub.marks import policy_of
from fleet_components.systems.karmada.hub.template import FIRST, seen_policies
from fleet_components.systems.karmada.model.claims import Claim
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.plan.record import TemplateRecord, TemplateState
from fleet_components.systems.karmada.plan.subject import TemplateSubject


def unbound(subject: TemplateSubject, original: Object) -> ObservedSubject | None:
    """Return a template without a binding as it was observed; None if it is still to get one.

    Args:
        subject: the template as the planner sees it.
        original: the template as the control plane has it.
    """
    key = policy_of(original)
    claimed = key if key and subject.policies.index.named(key) else None
    memory = TemplateState(
        claim=Claim(claimed, None, FIRST),
        policies=seen_policies(subject, {claimed}) if claimed else {},
        seen=digest((subject.manifest.data,)),
        generation=FIRST,
        schedule=TemplateMemory(uid=original["metadata"].get("uid") or ""),
    )
    try:
        record = subject.decide(TemplateRecord(memory=memory)).record
    except FleetError:
        return None  # the plan has the same problem
    if record.memory.claim.bound or record.decisions:
        return None
    return ObservedSubject(name=subject.name, record=record, protected=subject.protected)
