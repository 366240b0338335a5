"""Conditions of subjects that a change has not brought about: they are on the hub, or on the other side, already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change
from fleet_components.systems.karmada.plan.record import TemplateState

UNFULFILLED, HELD = CONDITIONS = "unfulfilled", "held"
Said = tuple[str, FieldPath, str]
"""Content of a warning: subject, field, and what is wrong with it."""


@attrs.frozen
class Standing:
    """Conditions and warnings that are there without the change that is planned.

    Attributes:
        conditions: the conditions, :data:`UNFULFILLED` and :data:`HELD`, by the name of the
            subject.
        warnings: the content of warnings that are given without it, at least as often.
    """

    conditions: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    warnings: frozenset[Said] = frozenset()

    def of(self, name: str) -> frozenset[str]:
        """Return the conditions of a subject."""
        return self.conditions.get(name, frozenset())

    def warned(self, problem: Problem) -> bool:
        """Return whether a warning was given before, wherever it was written then."""
        return _said(problem) in self.warnings


def on_hub(plan: FleetPlan) -> Standing:
    """Return the conditions in which a hub was observed; what cannot be told from its memory counts
    as new.

    Args:
        plan: a plan that starts from an observed hub.
    """
    return Standing({subject.name: frozenset(_on_hub(subject)) for subject in plan.subjects})


def on_both(base: Sequence[FleetPlan], head: Sequence[FleetPlan]) -> Standing:
    """Return the conditions and warnings that two plans have in common.

    Args:
        base: the plans of what is compared with.
        head: the plans that are reviewed.
    """
    others = {(plan.options.fleet, subject.name): subject for plan in base for subject in plan.subjects}
    pairs = ((subject, others.get((plan.options.fleet, subject.name))) for plan in head for subject in plan.subjects)
    conditions = dict[str, frozenset[str]]()
    for one, other in pairs:
        found = frozenset(_on_both(one, other)) if other else frozenset[str]()
        conditions[one.name] = conditions.get(one.name, found) & found  # several fleets may have the name
    before, now = map(_warnings, (base, head))
    return Standing(conditions, frozenset(said for said, number in before.items() if now[said] <= number))


def _warnings(plans: Sequence[FleetPlan]) -> Counter[Said]:
    return Counter(_said(problem) for plan in plans for problem in (*plan.warnings, *plan.hidden))


def _said(problem: Problem) -> Said:
    """Return the content of a warning, without its file and line, which differ between two sides."""
    return problem.subject, problem.path, problem.what


def changed_by_both(base: Sequence[FleetPlan], head: Sequence[FleetPlan]) -> Mapping[str, bool]:
    """Return the names of the subjects that both plans change, each with whether they make the same
    of it.

    Of a name that several fleets have, they do so only if they do in each that changes it.
    """
    shared, others = dict[str, bool](), {plan.options.fleet: plan for plan in base}
    alone = set[str]()
    for plan in head:
        other = others.get(plan.options.fleet)
        known = {subject.name: subject for subject in other.subjects if subject.changes} if other else {}
        gone = set(other.gone) if other else set[str]()
        for subject in plan.subjects:
            if subject.changes and subject.name in known:
                shared[subject.name] = shared.get(subject.name, True) and _alike(subject, known[subject.name])
            elif subject.changes:
                alone.add(subject.name)
        for name in plan.gone:
            if other and name in gone:
                shared[name] = shared.get(name, True) and plan.leaving.get(name) == other.leaving.get(name)
            else:
                alone.add(name)
    return {name: alike and name not in alone for name, alike in shared.items()}


def _on_both(one: Decided, other: Decided) -> Iterator[str]:
    if one.outcome.unfulfilled and one.outcome.unfulfilled == other.outcome.unfulfilled:
        yield UNFULFILLED
    # A record that differs is one of other content, or of another policy: what is held there is
    # new.
    same = one.subject.content == other.subject.content and one.outcome.goal == other.outcome.goal
    if _is_held(one) and same and _alike(one, other):
        yield HELD


def _on_hub(one: Decided) -> Iterator[str]:
    # What the hub could not apply was observed; what it will not be able to is new.
    foreseen = any(why.foreseen for why in one.outcome.unapplied.values())
    if one.outcome.unfulfilled and not foreseen and (not one.outcome.unscheduled or _was_unfulfilled(one)):
        yield UNFULFILLED
    # What no update run takes is in no record, so a change of it is always new.
    if (
        _held(one)
        and not (one.outcome.untaken or one.changes)
        and not any(_newly_held(one, cluster) for cluster in _held(one))
    ):
        yield HELD


def _was_unfulfilled(one: Decided) -> bool:
    """Return whether the policy was not fulfilled before, and for the same reason."""
    before, now = one.before.memory, one.record.memory
    if isinstance(before, TemplateState):
        failed = before.schedule.retries or not before.schedule.clusters
        return failed and before.claim.bound is not None and before.claim.bound == now.claim.bound
    # What was found is among the bindings, and what was asked for in the policy.
    return bool((before.policy, before.bindings) == (now.policy, now.bindings))


def _is_held(one: Decided) -> bool:
    return bool(_held(one) or one.outcome.untaken)


def _held(one: Decided) -> list[str]:
    return [cluster for cluster, entry in one.entries.items() if entry.change is Change.HELD]


def _newly_held(one: Decided, cluster: str) -> bool:
    """Return whether a member had all that was wanted, and is to get something else now; the record is the same."""
    sent, wanted = one.before.decisions.get(cluster), one.outcome.goal.decisions.get(cluster)
    if sent is None or sent.revision != one.before.revision or sent.version != one.done(cluster).version:
        return False
    return cluster in one.outcome.failing or (wanted is not None and wanted.version != sent.version)


def _alike(one: Decided, other: Decided) -> bool:
    here, there = (  # without the reasons, which may name files of either side
        {cluster: (entry.change, entry.placed) for cluster, entry in each.entries.items()} for each in (one, other)
    )
    return here == there and one.record.to_wire() == other.record.to_wire()
