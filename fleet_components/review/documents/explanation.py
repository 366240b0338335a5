"""Explanations as a document: every member of a fleet, with the verdict of each plug-in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import attrs

from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.flips import MOST_MEMBERS, Flip, Trials
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.form import find, fleet_to_name, unknown
from fleet_components.review.documents.overridden import deviation_documents
from fleet_components.review.documents.schema import (
    VERSION,
    OverriddenObject,
)
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.framework import Verdict
from fleet_components.status.facts import PolicyDocument


@attrs.frozen
class EditDocument:
    """An edit of a field that would change an outcome."""

    of: str
    member: str | None
    operation: str
    field: Sequence[str | int]
    value: Any


@attrs.frozen
class FlipDocument:
    """Change after which the outcome for a member is another."""

    would: Literal["be chosen", "be left out"]
    words: str
    change: Sequence[EditDocument]


@attrs.frozen
class ExplainedMember:
    """Reasons for which a member is picked or not.

    It has no flips where they are not tried, and nothing overridden where the state hides that.
    """

    name: str
    selected: bool
    summary: str
    verdicts: Sequence[Verdict]
    notes: Sequence[str]
    flips: Sequence[FlipDocument] | None
    overridden: Sequence[OverriddenObject] | None


@attrs.frozen(kw_only=True)
class ExplainedSubject:
    """Reasons for which members are in a placement or template, or are not."""

    name: str
    kind: str
    key: str
    source: str | None
    policies: Sequence[PolicyDocument]
    other_policies: int
    plugins: Sequence[str]
    decided_by: str | None
    condition: Mapping[str, Any] | None
    hints: Sequence[str]
    division: Sequence[str]
    members: Sequence[ExplainedMember]
    of_fleet: str | None


@attrs.frozen
class ExplanationDocument:
    """Explanations of placements and templates."""

    version: int
    subjects: Sequence[ExplainedSubject]


def explanation(
    plans: Sequence[FleetPlan], placement: str | None = None, member: str | None = None
) -> ExplanationDocument:
    """Return why each member is in a placement or template, or is not.

    Args:
        plans: the plans of the fleets.
        placement: key of one placement or template, or ``Kind/key``; None for all.
        member: name of one member; None for all.

    Raises:
        FleetError: the placement, template or member is unknown.
    """
    chosen = find([subject for plan in plans for subject in plan.subjects], placement)
    # By identity, because fleets may have subjects of the same name.
    of_fleet = {
        id(decided): fleet_to_name(plans, plan) for plan in plans for decided in plan.subjects
    }
    asked = None if member is None else {member}
    named = placement is not None or member is not None
    # Each trial decides once more for every member, so that many members take long.
    few_enough = sum(len(decided.subject.inventory) for decided in chosen) <= MOST_MEMBERS
    flips = named or few_enough
    found = [_subject(decided, asked, of_fleet[id(decided)], flips=flips) for decided in chosen]
    if member is not None and not any(subject.members for subject in found):
        raise FleetError(
            [unknown("member", member, {name for plan in plans for name in plan.inventory.names})]
        )
    return ExplanationDocument(VERSION, found)


def _subject(
    decided: Decided, members: Collection[str] | None, fleet: str | None, *, flips: bool
) -> ExplainedSubject:
    subject = decided.subject
    explained = subject.explain(decided.outcome, members)
    facts = decided.subject.system.facts(decided)
    trials = Trials(decided) if flips and len(explained.members) <= MOST_MEMBERS else None
    # The first condition says whether the decision could be made; None without a status.
    conditions = facts.status.get("conditions") or [None]
    return ExplainedSubject(
        name=decided.name,
        kind=subject.kind,
        key=subject.key,
        source=subject.origin or None,
        policies=facts.policies,
        other_policies=facts.other_policies,
        plugins=subject.plugins,
        decided_by=subject.decided_by or None,
        condition=conditions[0],
        hints=subject.label_hints(decided.outcome),
        division=explained.division,
        members=[_member(decided, member, trials) for member in explained.members],
        of_fleet=fleet,
    )


def _overridden(decided: Decided, cluster: str) -> list[OverriddenObject] | None:
    """Return what overrides change on a member; nothing if it does not get the subject, None if the
    state hides it.
    """
    placed = decided.record.decisions.get(cluster)
    found = decided.subject.deviations(decided.record, cluster, placed) if placed else ()
    return None if found is None else deviation_documents(found)


def _flip(flip: Flip) -> FlipDocument:
    change = [
        EditDocument(edit.of, edit.member or None, edit.operation, edit.field, edit.value)
        for edit in flip.change
    ]
    return FlipDocument("be chosen" if flip.chosen else "be left out", flip.words, change)


def _member(
    decided: Decided, explained: MemberExplanation, trials: Trials | None
) -> ExplainedMember:
    unapplied = decided.outcome.unapplied.get(explained.cluster)
    found = trials.flips(explained.cluster) if trials else None
    return ExplainedMember(
        name=explained.cluster,
        selected=explained.selected,
        summary="; ".join(filter(None, [explained.summary, unapplied and unapplied.on("there")])),
        verdicts=explained.verdicts,
        notes=found.notes if found else (),
        flips=[_flip(flip) for flip in found.flips] if found else None,
        overridden=_overridden(decided, explained.cluster),
    )
