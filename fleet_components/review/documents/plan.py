"""The document of a plan, in the form of :mod:`fleet_components.review.documents.schema`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

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
    View,
    after_fleet,
    fleet_to_name,
    member_of,
)
from fleet_components.review.documents.headline import headline
from fleet_components.review.documents.schema import (
    WORDS,
    AsBeforeDocument,
    FilesDocument,
    GoneDocument,
    HubOnlyDocument,
    MessageDocument,
    ObservedDocument,
    PlanDocument,
    ProjectDocument,
    RefusalDocument,
    ReplacedDocument,
    ResourceDocument,
    ResourceTotals,
    SilentMember,
    SubjectDocument,
    TotalsDocument,
    UnansweredDocument,
    UnchangedDocument,
    UnfulfilledDocument,
    ViewDocument,
)
from fleet_components.review.documents.subject import (
    departure_document,
    remainder_document,
    subject_document,
    warnings_of,
)
from fleet_components.review.documents.weight import Weight, is_as_before, weight_of
from fleet_components.review.documents.wire import ABSENT, Absent
from fleet_components.review.planning.observed import concerned_by
from fleet_components.review.planning.resource import CHANGES, ChangedResource
from fleet_components.review.planning.standing import CONDITIONS
from fleet_components.review.planning.survey import Survey
from fleet_components.review.planning.unseen import new_selectors
from fleet_components.rollout.rollout import Change


def plan_document(surveyed: Survey, view: View = View()) -> PlanDocument:
    """Return the document of a plan; of all plans together, if a program has several fleets.

    Args:
        surveyed: the plans.
        view: what is shown; what changes by default.

    Raises:
        FleetError: the view asks for a placement, template or member that does not exist.
    """
    # All subjects are weighed and counted; the view only selects which of them are listed.
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
        # What is as before, and what is due without the change, stands behind what is new.
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
    remaining = together(
        plan.remainders[subject.name]
        for plan in plans
        for subject in plan.subjects
        # A hub carries out what is left of its subjects by itself.
        if not subject.hub
    )
    kinds = Counter(subject.decided.subject.COMPONENT for subject in subjects)
    resources, messages = _of_a_project(surveyed, view)
    document = PlanDocument(
        disregarded=surveyed.disregarded,
        view=ViewDocument(view.all, view.only, view.member or None),
        fleet=fleet_document(surveyed),
        state=surveyed.file or None,
        against=surveyed.against or None,
        observed=_observed(surveyed),
        forecast=len(subjects)
        if surveyed.observed
        else sum(bool(subject.decided.hub) for subject in subjects),
        as_of=as_of.isoformat() if as_of else None,
        members=sum(len(plan.inventory) for plan in plans),
        placements=kinds["Placement"],
        templates=kinds["Template"],
        warned=len(warnings) + sum(len(subject.warnings) for subject in subjects),
        unsure=len(surveyed.unsure),
        secrets_hidden=any(_hides_secrets(plan) for plan in plans),
        changes=any(plan.changes for plan in plans)
        or any(resource.changes for resource in surveyed.resources or ()),
        unfulfilled=[
            UnfulfilledDocument(subject.decided.name, subject.decided.outcome.unfulfilled)
            for subject in subjects
            if subject.decided.outcome.unfulfilled
        ],
        as_before=_as_before(
            subjects,
            [
                *(
                    after_fleet(fleet, str(item))
                    for fleet, item in warnings
                    if surveyed.standing.warned(item)
                ),
                *(text for item in subjects if item.as_before for text in item.named_warnings),
            ],
        ),
        refused=[refusal(problem, fleet) for fleet, plan in of_fleets for problem in plan.refused],
        joining=[member_of(fleet, name) for fleet, plan in of_fleets for name in plan.members_new],
        gone=_gone(of_fleets),
        replaced=[
            ReplacedDocument(found.subject, found.cluster, str(found.key), found.fields)
            for plan in plans
            for found in plan.replacements
        ],
        remaining=remainder_document(remaining),
        subjects=[_subject(surveyed, item, view) for item in shown],
        unchanged=_unchanged(surveyed, subjects),
        left_out=sum(other.changes for other in others),
        warnings=[
            *(after_fleet(fleet, str(problem)) for fleet, problem in warnings),
            *(text for other in (() if view.narrow else others) for text in other.named_warnings),
        ],
        resources=resources,
        messages=messages,
        totals=_totals(surveyed, subjects),
    )
    return attrs.evolve(document, headline=headline(document, remaining.steps))


def fleet_document(surveyed: Survey) -> FilesDocument | ProjectDocument:
    """Return what was planned: files, or a program."""
    kind = ProjectDocument if surveyed.of_project else FilesDocument
    return kind(**surveyed.subject)


def refusal(problem: Problem, fleet: str | None = None) -> RefusalDocument:
    """Return the document of a reason for a refusal; with its fleet if a program has several."""
    return RefusalDocument(
        fleet,
        problem.subject or None,
        problem.what,
        problem.hint or None,
        problem.token or None,
        show_path(problem.path) or None,
        problem.file or None,
        problem.line,
    )


def _gone(of_fleets: Sequence[tuple[str | None, FleetPlan]]) -> GoneDocument:
    plans = [plan for _, plan in of_fleets]
    return GoneDocument(
        [name for plan in plans for name in plan.gone],
        [fleet for fleet, plan in of_fleets for _ in plan.gone],
        [member_of(fleet, name) for fleet, plan in of_fleets for name in plan.members_gone],
        [departure_document(departure) for plan in plans for departure in plan.departures],
        [
            attrs.evolve(line, text=after_fleet(fleet, line.text))
            for fleet, plan in of_fleets
            for line in describe_plan(plan)
        ],
    )


def _observed(surveyed: Survey) -> ObservedDocument | None:
    """Return what a plan knows of the observation that it starts from; its age is no part of a
    document.
    """
    observed = surveyed.observed
    if observed is None:
        return None
    return ObservedDocument(
        system=observed.system.NAME,
        hub=observed.hub,
        as_of=time_text(observed.as_of),
        silent=[
            SilentMember(name, silence.why, silence.since or None)
            for name, silence in sorted(observed.silent.items())
        ],
        unanswered=[
            UnansweredDocument(
                unanswered.api_version,
                unanswered.kind,
                unanswered.namespace or None,
                unanswered.why,
                unanswered.since or None,
                # False for what the user has left out.
                unanswered.why != NOT_ASKED,
                [name for plan in surveyed.plans for name in concerned_by(unanswered, plan)],
            )
            for unanswered in observed.unanswered
        ],
        unknown=observed.unknown,
        hub_only=[
            HubOnlyDocument(change.kind, change.file, change.change) for change in surveyed.hub_only
        ],
        unseen=new_selectors(surveyed.plans, observed),
    )


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
            # The kind may be written with a space, as in titles, or with a slash, as in names.
            text if any(map(text.__contains__, named)) else f"{named[1]}: {text}"
            for text in self.warnings
        ]


def _subject(surveyed: Survey, weighed: _Weighed, view: View) -> SubjectDocument:
    """Return the document of a subject, with what a comparison of two plans knows of it."""
    name = weighed.decided.name
    fleet = fleet_to_name(surveyed.plans, weighed.plan)
    document = view.narrowed(
        subject_document(weighed.plan, weighed.decided, view, weighed.standing, fleet)
    )
    pending = name in surveyed.pending
    return attrs.evolve(document, unsure=surveyed.unsure.get(name), pending=pending)


def _as_before(subjects: Sequence[_Weighed], warnings: Sequence[str] = ()) -> AsBeforeDocument:
    """Return what subjects are in already, and what is left if it is of those alone to which
    nothing else happens.

    Args:
        subjects: all subjects.
        warnings: the warnings that are given already.
    """
    old, new = (
        [weighed for weighed in subjects if weighed.as_before is before] for before in (True, False)
    )
    left, more = (
        together(weighed.plan.remainders[weighed.decided.name] for weighed in some).words
        for some in (old, new)
    )
    names = {
        condition: [weighed.decided.name for weighed in subjects if condition in weighed.standing]
        for condition in CONDITIONS
    }
    return AsBeforeDocument(
        **names,
        left=None if more else left or None,
        warnings=warnings,
    )


def _unchanged(surveyed: Survey, subjects: Iterable[_Weighed]) -> UnchangedDocument:
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
        # ``members`` below does not count a member that has left the fleet either.
        and subject.decided.subject.inventory.position(cluster) is not None
    }
    members = sum(len(plan.inventory) for plan in surveyed.plans)
    return UnchangedDocument(kinds["Placement"], kinds["Template"], members - len(touched))


def _totals(surveyed: Survey, subjects: Iterable[_Weighed]) -> TotalsDocument:
    """Return the number of members with each change, over all placements and templates, and that of
    a program's resources: None if refused, or without a state to compare.
    """
    changes = Counter(
        WORDS[entry.change] for subject in subjects for entry in subject.decided.entries.values()
    )
    # In the order of ``WORDS``; a Counter has 0 for a word that does not occur.
    joins, updated, leaves, held, stays = (changes[word] for word in WORDS.values())
    totals = TotalsDocument(joins, updated, leaves, held, stays)
    if not surveyed.of_project:
        return totals
    counted = Counter(resource.change for resource in surveyed.resources or ())
    # A change is empty if there was no state to compare with.
    unknown = surveyed.resources is None or "" in counted
    resources = ResourceTotals(**{change: counted[change] for change in CHANGES})
    return attrs.evolve(totals, resources=None if unknown else resources)


def _hides_secrets(plan: FleetPlan) -> bool:
    """Return whether the state has left out data of Secrets, so that a change of nothing else
    cannot be seen.
    """
    objects = (data for subject in plan.subjects for data in subject.subject.content)
    # redacted returns the object itself if it has nothing to hide.
    return plan.past.redacted and any(redacted(data) is not data for data in objects)


def _of_a_project(
    surveyed: Survey, view: View
) -> tuple[list[ResourceDocument] | Absent | None, list[MessageDocument] | Absent]:
    """Return the resources and messages of a program; None for the resources if the update is
    refused.

    A narrow view has no resources: their tree is that of the whole stack.
    """
    if not surveyed.of_project:
        return ABSENT, ABSENT
    messages = [MessageDocument(level, text) for level, text in surveyed.messages]
    if view.narrow or surveyed.resources is None:
        return ABSENT if view.narrow else None, messages
    return [_resource(resource) for resource in surveyed.resources], messages


def _resource(resource: ChangedResource) -> ResourceDocument:
    return ResourceDocument(
        urn=resource.urn,
        type=resource.type,
        name=resource.name,
        change=resource.change or None,
        differences=[each.to_wire() for each in resource.differences],
        uncompared=resource.uncompared,
        parent=resource.parent or None,
        provider=resource.provider or None,
        dependencies=resource.dependencies,
        options=resource.options,
        inputs=resource.inputs,
    )
