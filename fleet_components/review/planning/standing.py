"""Conditions of subjects that a change has not brought about: they are on the hub, or on the other
side, already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change

UNFULFILLED, HELD = CONDITIONS = "unfulfilled", "held"
WarningIdentity = tuple[str, FieldPath, str]
"""Content of a warning: subject, field, and what is wrong with it."""


@attrs.frozen
class StandingProblems:
    """Conditions and warnings that are there without the change that is planned.

    Attributes:
        conditions: the conditions, :data:`UNFULFILLED` and :data:`HELD`, by the name of the
            subject.
        warnings: the content of warnings that are given without it, at least as often.
    """

    conditions: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    warnings: frozenset[WarningIdentity] = frozenset()

    def of(self, name: str) -> frozenset[str]:
        """Return the conditions of a subject."""
        return self.conditions.get(name, frozenset())

    def warned(self, problem: Problem) -> bool:
        """Return whether a warning was given before, wherever it was written then."""
        return _identity_of(problem) in self.warnings


def on_hub(plan: FleetPlan) -> StandingProblems:
    """Return the conditions in which a hub was observed; what its memory does not show counts as
    new.

    Args:
        plan: a plan that starts from an observed hub.
    """
    return StandingProblems(
        {subject.name: frozenset(_on_hub(subject)) for subject in plan.subjects}
    )


def on_both(base: Sequence[FleetPlan], head: Sequence[FleetPlan]) -> StandingProblems:
    """Return the conditions and warnings that two plans have in common.

    Args:
        base: the plans of what is compared with.
        head: the plans that are reviewed.
    """
    others = {
        (plan.options.fleet, subject.name): subject for plan in base for subject in plan.subjects
    }
    pairs = (
        (subject, others.get((plan.options.fleet, subject.name)))
        for plan in head
        for subject in plan.subjects
    )
    conditions = dict[str, frozenset[str]]()
    for decided, other in pairs:
        found = frozenset(_on_both(decided, other)) if other else frozenset[str]()
        # Several fleets may have the name.
        conditions[decided.name] = conditions.get(decided.name, found) & found
    before, now = map(_warnings, (base, head))
    return StandingProblems(
        conditions,
        frozenset(identity for identity, number in before.items() if now[identity] <= number),
    )


def _warnings(plans: Sequence[FleetPlan]) -> Counter[WarningIdentity]:
    return Counter(
        _identity_of(problem) for plan in plans for problem in (*plan.warnings, *plan.hidden)
    )


def _identity_of(problem: Problem) -> WarningIdentity:
    """Return the content of a warning, without its file and line, which differ between two
    sides.
    """
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
        known = (
            {subject.name: subject for subject in other.subjects if subject.changes}
            if other
            else {}
        )
        gone = set(other.gone) if other else set[str]()
        for subject in plan.subjects:
            if subject.changes and subject.name in known:
                shared[subject.name] = shared.get(subject.name, True) and _alike(
                    subject, known[subject.name]
                )
            # Changed here and not by the base, so not the same, whatever other fleets do.
            elif subject.changes:
                alone.add(subject.name)
        for name in plan.gone:
            if other and name in gone:
                shared[name] = shared.get(name, True) and plan.leaving.get(
                    name
                ) == other.leaving.get(name)
            else:
                alone.add(name)
    return {name: alike and name not in alone for name, alike in shared.items()}


def _on_both(decided: Decided, other: Decided) -> Iterator[str]:
    if decided.outcome.unfulfilled and decided.outcome.unfulfilled == other.outcome.unfulfilled:
        yield UNFULFILLED
    # A record that differs is one of other content, or of another policy: what is held there is
    # new.
    same = (
        decided.subject.content == other.subject.content
        and decided.outcome.goal == other.outcome.goal
    )
    if _is_held(decided) and same and _alike(decided, other):
        yield HELD


def _on_hub(decided: Decided) -> Iterator[str]:
    # What the hub could not apply was observed; what it will not be able to is new.
    foreseen = any(why.foreseen for why in decided.outcome.unapplied.values())
    if (
        decided.outcome.unfulfilled
        and not foreseen
        and (not decided.outcome.unscheduled or decided.before.failed_alike(decided.record))
    ):
        yield UNFULFILLED
    # What no update run takes is in no record, so a change of it is always new.
    if (
        _held(decided)
        and not (decided.outcome.untaken or decided.changes)
        and not any(_newly_held(decided, cluster) for cluster in _held(decided))
    ):
        yield HELD


def _is_held(decided: Decided) -> bool:
    return bool(_held(decided) or decided.outcome.untaken)


def _held(decided: Decided) -> list[str]:
    return [cluster for cluster, entry in decided.entries.items() if entry.change is Change.HELD]


def _newly_held(decided: Decided, cluster: str) -> bool:
    """Return whether a member had all that was wanted, and is to get something else now; the record
    is the same.
    """
    sent, wanted = (
        decided.before.decisions.get(cluster),
        decided.outcome.goal.decisions.get(cluster),
    )
    if (
        sent is None
        or sent.revision != decided.before.revision
        or sent.version != decided.done(cluster).version
    ):
        return False
    return cluster in decided.outcome.failing or (
        wanted is not None and wanted.version != sent.version
    )


def _alike(decided: Decided, other: Decided) -> bool:
    here, there = (  # without the reasons, which may name files of either side
        {cluster: (entry.change, entry.placed) for cluster, entry in each.entries.items()}
        for each in (decided, other)
    )
    return here == there and decided.record.to_wire() == other.record.to_wire()
