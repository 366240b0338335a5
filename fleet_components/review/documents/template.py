"""Facts of a template of Karmada's policies for documents."""

from __future__ import annotations

from fleet_components.model.codec import encode
from fleet_components.model.karmada.policy import Placement
from fleet_components.plan.karmada.place import TemplateOutcome
from fleet_components.plan.karmada.subject import TemplateSubject
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.binding import binding_status
from fleet_components.review.documents.facts import Facts
from fleet_components.review.documents.label_values import missing_labels


def template_facts(decided: Decided) -> Facts:
    """Return the facts of a template."""
    subject, outcome = decided.subject, decided.outcome
    assert isinstance(subject, TemplateSubject)
    assert isinstance(outcome, TemplateOutcome)
    verdicts, memory = subject.verdicts(outcome), outcome.record.memory
    policy = memory.policy
    return Facts(
        policy=f"{policy.kind} {policy}" if policy else "no policy",
        policies=tuple({"policy": f"{v.policy.kind} {v.policy}", "wins": v.wins, "why": v.words} for v in verdicts),
        hints=tuple(_hints(subject, outcome)) if outcome.unfulfilled else (),
        due=outcome.due,
        left=outcome.left,
        required_by=encode(memory.schedule.required_by),
        status=binding_status(outcome.decision, memory),
    )


def _hints(subject: TemplateSubject, outcome: TemplateOutcome) -> list[str]:
    bound = outcome.record.memory.claim.bound
    placement = bound.placement if bound else Placement()
    affinities = placement.cluster_affinities or (placement.cluster_affinity,)
    return missing_labels([one.label_selector if one else None for one in affinities], subject.inventory.clusters)
