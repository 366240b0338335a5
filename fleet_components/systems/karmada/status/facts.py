"""The facts of a template that documents show."""

from __future__ import annotations

from fleet_components.model.codec import encode
from fleet_components.plan.subject import Decided
from fleet_components.status.facts import Facts
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.status.bindings import scheduling_status


def facts(decided: Decided) -> Facts:
    """Return the facts of a template."""
    subject, outcome = decided.subject, decided.outcome
    assert isinstance(subject, TemplateSubject)
    assert isinstance(outcome, TemplateOutcome)
    verdicts, memory = subject.verdicts(outcome), outcome.record.memory
    policy = memory.policy
    return Facts(
        policy=f"{policy.kind} {policy}" if policy else "no policy",
        policies=tuple(
            {
                "policy": f"{v.policy.kind} {v.policy}",
                "wins": v.wins,
                "matches": v.matches,
                "why": v.words,
            }
            for v in verdicts
        ),
        other_policies=len(subject.policies.propagation) - len(verdicts),
        hints=tuple(subject.label_hints(outcome)),
        due=outcome.due,
        left=outcome.left,
        required_by=encode(memory.schedule.required_by),
        status=scheduling_status(outcome.decision, memory),
    )
