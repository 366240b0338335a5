"""The plan as a document, which all views show, and which ``-o json`` and ``-o yaml`` print.

Its form is described in ``docs/plan-document.md``; keys are stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import attrs

from fleet_components.content.secret import redacted
from fleet_components.hub.folder.header import time_text
from fleet_components.hub.listing import NOT_ASKED
from fleet_components.model.problem import Problem, show_path
from fleet_components.plan.describe import describe_plan
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.remainder import together
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.form import (
    VERSION,
    WORDS,
    Document,
    View,
    after_fleet,
    fleet_to_name,
    member_of,
    token_of,
)
from fleet_components.review.documents.headline import headline
from fleet_components.review.documents.subject import (
    departure_document,
    remainder_document,
    subject_document,
    warnings_of,
)
from fleet_components.review.documents.weight import Weight, is_as_before, weight_of
from fleet_components.review.planning.observed import concerned_by
from fleet_components.review.planning.resource import CHANGES
from fleet_components.review.planning.standing import CONDITIONS
from fleet_components.review.planning.survey import Survey
from fleet_components.review.planning.unseen import new_selectors
from fleet_components.rollout.rollout import Change


def plan_document(surveyed: Survey, view: View = View()) -> Document:
    """Return the document of a plan; of all plans together, if a program has several fleets.

    Args:
        surveyed: the plans.
        view: what is shown; what changes by default.

    Raises:
        FleetError: the view asks for a placement, template or member that does not exist.
    """
    plans = surveyed.plans
    of_fleets = [(fleet_to_name(plans, plan), plan) for plan in plans]
    view.check(plans)
    weighed = [
        _Weighed.of(plan, subject, surveyed.standing.of(subject.name))
        for plan in plans
        for subject in plan.subjects
    ]
    subjects = sorted(
        weighed,
        key=lambda item: (item.as_before, item.decided.name in surveyed.pending, item.weight.order),
    )
    shown, others = list[_Weighed](), list[_Weighed]()
    for subject in subjects:
        (
            shown
            if view.shows(subject.decided, changes=subject.changes or subject.as_before)
            else others
        ).append(subject)
    warnings = [
        (fleet, problem) for fleet, plan in of_fleets for problem in (*plan.warnings, *plan.hidden)
    ]
    as_of = next((plan.options.as_of for plan in plans if plan.options.as_of), None)
    document = {
        "version": VERSION,
        "disregarded": list(surveyed.disregarded),
        "headline": [],
        "view": {"all": view.all, "only": list(view.only), "member": view.member or None},
        "fleet": surveyed.subject,
        "state": surveyed.file or None,
        "against": surveyed.against or None,
        "observed": _observed(surveyed),
        "forecast": len(subjects)
        if surveyed.observed
        else sum(bool(subject.decided.hub) for subject in subjects),
        "asOf": as_of.isoformat() if as_of else None,
        "members": sum(len(plan.inventory) for plan in plans),
        **_numbers(surveyed, subjects),
        "changes": any(plan.changes for plan in plans)
        or any(resource.changes for resource in surveyed.resources or ()),
        "unfulfilled": [
            {"subject": subject.decided.name, "why": subject.decided.outcome.unfulfilled}
            for subject in subjects
            if subject.decided.outcome.unfulfilled
        ],
        "asBefore": {
            **_as_before(subjects),
            "warnings": [
                *(
                    after_fleet(fleet, str(item))
                    for fleet, item in warnings
                    if surveyed.standing.warned(item)
                ),
                *(
                    text
                    for subject in subjects
                    if subject.as_before
                    for text in subject.named_warnings
                ),
            ],
        },
        "refused": [
            _problem(fleet, problem) for fleet, plan in of_fleets for problem in plan.refused
        ],
        "joining": [
            member_of(fleet, name) for fleet, plan in of_fleets for name in plan.members_new
        ],
        "gone": {
            "subjects": [name for plan in plans for name in plan.gone],
            "ofFleets": [fleet for fleet, plan in of_fleets for _ in plan.gone],
            "members": [
                member_of(fleet, name) for fleet, plan in of_fleets for name in plan.members_gone
            ],
            "objects": [
                departure_document(departure) for plan in plans for departure in plan.departures
            ],
            "summary": [
                {"weight": line.weight, "text": after_fleet(fleet, line.text)}
                for fleet, plan in of_fleets
                for line in describe_plan(plan)
            ],
        },
        "replaced": [
            {
                "subject": replacement.subject,
                "member": replacement.cluster,
                "object": str(replacement.key),
                "fields": list(replacement.fields),
            }
            for plan in plans
            for replacement in plan.replacements
        ],
        "remaining": remainder_document(
            together(
                plan.remainders[subject.name]
                for plan in plans
                for subject in plan.subjects
                if not subject.hub
            )
        ),
        "subjects": [_subject(surveyed, item, view) for item in shown],
        "unchanged": _unchanged(surveyed, subjects),
        "leftOut": sum(other.changes for other in others),
        "warnings": [
            *(after_fleet(fleet, str(problem)) for fleet, problem in warnings),
            *(text for other in (() if view.narrow else others) for text in other.named_warnings),
        ],
        **_of_a_project(surveyed, view),
        "totals": {**_totals(subjects), **_counted(surveyed)},
    }
    document["headline"] = headline(document)
    return document


def _observed(surveyed: Survey) -> Document | None:
    """Return what a plan knows of the observation that it starts from; its age is no part of a
    document.
    """
    observed = surveyed.observed
    if observed is None:
        return None
    silent = [
        {"member": name, "why": silence.why, "since": silence.since or None}
        for name, silence in sorted(observed.silent.items())
    ]
    return {
        "system": observed.system.NAME,
        "hub": observed.hub,
        "asOf": time_text(observed.as_of),
        "silent": silent,
        "unanswered": [
            {
                "apiVersion": unanswered.api_version,
                "kind": unanswered.kind,
                "namespace": unanswered.namespace or None,
                "why": unanswered.why,
                "since": unanswered.since or None,
                "asked": unanswered.why != NOT_ASKED,
                "subjects": [
                    name for plan in surveyed.plans for name in concerned_by(unanswered, plan)
                ],
            }
            for unanswered in observed.unanswered
        ],
        "unknown": list(observed.unknown),
        "hubOnly": [
            {"kind": change.kind, "file": change.file, "change": change.change}
            for change in surveyed.hub_only
        ],
        "unseen": list(new_selectors(surveyed.plans, observed)),
    }


@attrs.frozen
class _Weighed:
    """A subject with its weight, and the plan that it is of."""

    weight: Weight
    plan: FleetPlan
    decided: Decided
    standing: Collection[str]

    @classmethod
    def of(cls, plan: FleetPlan, decided: Decided, standing: Collection[str]) -> _Weighed:
        return cls(weight_of(plan, decided, standing), plan, decided, standing)

    @property
    def as_before(self) -> bool:
        return is_as_before(self.weight, self.standing)

    @property
    def changes(self) -> bool:
        return self.weight is not Weight.UNCHANGED and not self.as_before

    @property
    def warnings(self) -> list[str]:
        return warnings_of(self.decided)

    @property
    def named_warnings(self) -> list[str]:
        """The warnings, each of which names the subject."""
        subject = self.decided.subject
        named = (f"{subject.kind} {subject.key}", self.decided.name)
        return [
            text if any(map(text.__contains__, named)) else f"{named[1]}: {text}"
            for text in self.warnings
        ]


def _subject(surveyed: Survey, weighed: _Weighed, view: View) -> Document:
    """Return the document of a subject, with what a comparison of two plans knows of it."""
    name = weighed.decided.name
    fleet = fleet_to_name(surveyed.plans, weighed.plan)
    document = view.narrowed(
        subject_document(weighed.plan, weighed.decided, view, weighed.standing, fleet)
    )
    return {**document, "unsure": surveyed.unsure.get(name), "pending": name in surveyed.pending}


def _as_before(subjects: Iterable[_Weighed]) -> Document:
    """Return what subjects are in already, and what is left if it is of those alone to which
    nothing else happens.
    """
    found = list(subjects)
    old, new = (
        [weighed for weighed in found if weighed.as_before is before] for before in (True, False)
    )
    left, more = (
        together(weighed.plan.remainders[weighed.decided.name] for weighed in some).words
        for some in (old, new)
    )
    names = {
        condition: [weighed.decided.name for weighed in found if condition in weighed.standing]
        for condition in CONDITIONS
    }
    return {**names, "left": None if more else left or None}


def _unchanged(surveyed: Survey, subjects: Iterable[_Weighed]) -> Document:
    """Return how many placements, templates and members an update does not touch."""
    kinds = Counter(
        subject.decided.subject.COMPONENT for subject in subjects if not subject.changes
    )
    touched = {
        (subject.plan.options.fleet, cluster)
        for subject in subjects
        for cluster, entry in subject.decided.entries.items()
        if not subject.as_before
        if entry.change is not Change.KEEP
        and subject.decided.subject.inventory.position(cluster) is not None
    }
    members = sum(len(plan.inventory) for plan in surveyed.plans)
    return {
        "placements": kinds["Placement"],
        "templates": kinds["Template"],
        "members": members - len(touched),
    }


def _totals(subjects: Iterable[_Weighed]) -> Document:
    """Return the number of members with each change, over all placements and templates."""
    changes = Counter(
        WORDS[entry.change] for subject in subjects for entry in subject.decided.entries.values()
    )
    return {word: changes[word] for word in WORDS.values()}


def _numbers(surveyed: Survey, subjects: Sequence[_Weighed]) -> Document:
    """Return how many placements, templates and warnings there are, and what could not be decided
    or compared.
    """
    kinds = Counter(subject.decided.subject.COMPONENT for subject in subjects)
    of_fleets = sum(len(plan.warnings) + len(plan.hidden) for plan in surveyed.plans)
    return {
        "placements": kinds["Placement"],
        "templates": kinds["Template"],
        "warned": of_fleets + sum(len(subject.warnings) for subject in subjects),
        "unsure": len(surveyed.unsure),
        "secretsHidden": any(_hides_secrets(plan) for plan in surveyed.plans),
    }


def _hides_secrets(plan: FleetPlan) -> bool:
    """Return whether the state has left out data of Secrets, so that a change of nothing else
    cannot be seen.
    """
    objects = (data for subject in plan.subjects for data in subject.subject.content)
    return plan.past.redacted and any(redacted(data) is not data for data in objects)


def _problem(fleet: str | None, problem: Problem) -> dict[str, Any]:
    return {
        "ofFleet": fleet,
        "subject": problem.subject or None,
        "what": problem.what,
        "hint": problem.hint or None,
        "token": token_of(problem),
        "field": show_path(problem.path) or None,
        "file": problem.file or None,
        "line": problem.line,
    }


def _of_a_project(surveyed: Survey, view: View) -> Document:
    """Return the resources and messages of a program; None for the resources if the update is
    refused.

    A narrow view has no resources: their tree is that of the whole stack.
    """
    if not surveyed.of_project:
        return {}
    resources = surveyed.resources
    wire = None if resources is None else [resource.to_wire() for resource in resources]
    return {
        **({} if view.narrow else {"resources": wire}),
        "messages": [{"level": level, "text": text} for level, text in surveyed.messages],
    }


def _counted(surveyed: Survey) -> Document:
    """Return the number of a project's resources with each change; None if refused, or without a
    state to compare.
    """
    if not surveyed.of_project:
        return {}
    if surveyed.resources is None:
        return {"resources": None}
    counted = Counter(resource.change for resource in surveyed.resources)
    return {"resources": None if "" in counted else {change: counted[change] for change in CHANGES}}
