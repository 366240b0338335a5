"""Explanations as a document: every member of a fleet, with the verdict of each plug-in."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.flips import MOST_MEMBERS, Flip, Trials
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.facts import (
    deviation_documents,
    facts_of,
)
from fleet_components.review.documents.form import VERSION, Document, find, fleet_to_name, unknown
from fleet_components.scheduler.edit import Edit
from fleet_components.scheduler.explain import MemberExplanation


def explanation(
    plans: Sequence[FleetPlan], placement: str | None = None, member: str | None = None
) -> Document:
    """Return why each member is in a placement or template, or is not.

    Args:
        plans: the plans of the fleets.
        placement: key of one placement or template, or ``Kind/key``; None for all.
        member: name of one member; None for all.

    Raises:
        FleetError: the placement, template or member is unknown.
    """
    chosen = find([subject for plan in plans for subject in plan.subjects], placement)
    of_fleet = {
        id(decided): fleet_to_name(plans, plan) for plan in plans for decided in plan.subjects
    }
    asked = None if member is None else {member}
    named = placement is not None or member is not None
    few_enough = sum(len(decided.subject.inventory) for decided in chosen) <= MOST_MEMBERS
    found = [
        {**_subject(decided, asked, flips=named or few_enough), "ofFleet": of_fleet[id(decided)]}
        for decided in chosen
    ]
    if member is not None and not any(data["members"] for data in found):
        raise FleetError(
            [unknown("member", member, {name for plan in plans for name in plan.inventory.names})]
        )
    return {"version": VERSION, "subjects": found}


def _subject(decided: Decided, members: Collection[str] | None, *, flips: bool) -> Document:
    subject = decided.subject
    explained = subject.explain(decided.outcome, members)
    facts = facts_of(decided)
    trials = Trials(decided) if flips and len(explained.members) <= MOST_MEMBERS else None
    conditions = facts.status.get("conditions") or [None]
    return {
        "name": decided.name,
        "kind": subject.kind,
        "key": subject.key,
        "source": subject.origin or None,
        "policies": list(facts.policies),
        "otherPolicies": facts.other_policies,
        "plugins": list(subject.plugins),
        "decidedBy": subject.decided_by or None,
        "condition": conditions[0],
        "hints": subject.label_hints(decided.outcome),
        "division": list(explained.division),
        "members": [
            {
                **_member(decided, member),
                **_flips(trials, member.cluster),
                "overridden": _overridden(decided, member.cluster),
            }
            for member in explained.members
        ],
    }


def _overridden(decided: Decided, cluster: str) -> list[Document] | None:
    """Return what overrides change on a member; nothing if it does not get the subject, None if the
    state hides it.
    """
    placed = decided.record.decisions.get(cluster)
    found = decided.subject.deviations(decided.record, cluster, placed) if placed else ()
    return None if found is None else deviation_documents(found)


def _flips(trials: Trials | None, cluster: str) -> Document:
    """Return what would change the outcome for a member; None where that is not tried."""
    if trials is None:
        return {"notes": [], "flips": None}
    found = trials.flips(cluster)
    return {"notes": list(found.notes), "flips": [_flip(flip) for flip in found.flips]}


def _flip(flip: Flip) -> Document:
    change = [
        {"of": edit.of, "member": edit.member or None, **_field(edit)} for edit in flip.change
    ]
    return {
        "would": "be chosen" if flip.chosen else "be left out",
        "words": flip.words,
        "change": change,
    }


def _field(edit: Edit) -> Document:
    return {"operation": edit.operation, "field": list(edit.field), "value": edit.value}


def _member(decided: Decided, explained: MemberExplanation) -> Document:
    unapplied = decided.outcome.unapplied.get(explained.cluster)
    return {
        "name": explained.cluster,
        "selected": explained.selected,
        "summary": "; ".join(
            filter(None, [explained.summary, unapplied and unapplied.on("there")])
        ),
        "verdicts": [attrs.asdict(verdict) for verdict in explained.verdicts],
    }
