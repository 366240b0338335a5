"""Find overrides that change how many replicas of a divided template run altogether."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.plan.content import Share, shape_in
from fleet_components.systems.karmada.plan.subject import TemplateSubject

_HINT = "Karmada divides without looking at overrides: take the rule out, or give the member that share by its weight"


def changed_totals(subjects: Iterable[Decided], inventory: Inventory) -> Iterator[Problem]:
    """Yield the rules that change how many replicas of a divided template run altogether."""
    for decided in subjects:
        bound = decided.record.memory.claim.bound if isinstance(decided.subject, TemplateSubject) else None
        if bound is not None and bound.placement.divided:
            yield from _changed_total(decided, inventory)


def _changed_total(decided: Decided, inventory: Inventory) -> Iterator[Problem]:
    subject: Any = decided.subject
    record, shares = decided.record, decided.record.decisions
    given = {name: share.replicas or 0 for name, share in shares.items() if inventory.position(name) is not None}
    gets = {name: subject.replicas(record, name, shares[name]) or 0 for name in given}
    if sum(gets.values()) == sum(given.values()):
        return
    changed = sorted(name for name in given if gets[name] != given[name])
    shown = few([f"{name} gets {gets[name]} instead of {given[name]}" for name in changed])
    what = f"{sum(gets.values())} of {sum(given.values())} divided replicas of {subject.manifest.key} run: {shown}"
    yield _located(decided, changed[0], shares[changed[0]], what)


def _located(decided: Decided, member: str, share: Share, what: str) -> Problem:
    """Return a problem of the rule that sets the replicas on a member."""
    subject: Any = decided.subject
    shape = shape_in(decided.record.contents[share.revision])
    overrides: dict[str, Manifest] = {str(manifest.key): manifest for manifest in subject.override_manifests}
    for deviation in subject.deviations(decided.record, member, share) or ():
        for field in deviation.fields:
            if shape and field.difference.path == shape.replicas:
                written = overrides[field.rule.override]
                path = decided.subject.rule_path(written, field.rule.position)
                return written.problem(what, path, _HINT)
    problem: Problem = subject.manifest.problem(what, (), _HINT)
    return problem
