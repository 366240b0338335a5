"""Find rules of override policies that have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import Problem
from fleet_components.plan.idle import Idle
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.content.parts import parts_of, unread
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.plan.templates import Templates
from fleet_components.systems.karmada.plan.trial import TemplateTrial

_UNREAD = "is not read: Karmada carries out the overrideRules beside it, and nothing else"
_INTO_RULES = "move it into a rule: overrideRules: [{overriders: {...}}]"
_EMPTY = "has no overriders, and changes nothing"


def idle_rules(templates: Templates, subjects: Iterable[Decided], inventory: Inventory) -> Iterator[Problem]:
    """Yield the rules of override policies that have no effect, or the parts of them that have none."""
    policies = {str(policy.manifest.key): policy.manifest for policy in templates.policies.overrides}
    rules = {key: parts_of(policy) for key, policy in policies.items()}
    for key, policy in policies.items():
        if path := unread(policy):
            yield policy.problem(_UNREAD, path, _INTO_RULES)
        empty = (rule for rule in rules[key] if not rule.written)
        yield from (policy.problem(_EMPTY, rule.path, "write what it changes, or take it out") for rule in empty)
    if policies:
        yield from Idle(rules, policies, list(_trials(templates, subjects)), inventory).problems()


def _trials(templates: Templates, subjects: Iterable[Decided]) -> Iterator[TemplateTrial]:
    """Yield the templates whose content is known, each with the members of those that need it."""
    decided = {item.subject.key: item for item in subjects if isinstance(item.subject, TemplateSubject)}
    along: dict[str, frozenset[str]] = {}
    for workload in templates.workloads:  # what needs others comes before them
        item = decided.get(workload.key)
        if item is None or item.record.revision not in item.record.contents:
            continue
        theirs = frozenset[str]().union(*(along.get(parent, ()) for parent in workload.needed_by))
        subject: Any = item.subject
        trial = TemplateTrial(subject, item.outcome, theirs)
        along[workload.key] = frozenset(member.name for member in trial.members)
        yield trial
