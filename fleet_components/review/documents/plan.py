"""The plan as a document, which all views show, and which ``-o json`` and ``-o yaml`` print.

Its form is described in ``docs/plan-document.md``; keys are stable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from fleet_components.model.problem import Problem, show_path
from fleet_components.plan.describe import describe_plan
from fleet_components.plan.remainder import together
from fleet_components.review.documents.form import VERSION, WORDS, Document
from fleet_components.review.documents.subject import departure_document, remainder_document, subject_document
from fleet_components.review.planning.resource import CHANGES
from fleet_components.review.planning.survey import Survey

_TOKEN = re.compile(r"(?:fleet:confirm=|--confirm )(\w+)")


def plan_document(surveyed: Survey) -> Document:
    """Return the document of a plan; of all plans together, if a program has several fleets."""
    plans = surveyed.plans
    subjects = [subject_document(plan, decided) for plan in plans for decided in plan.subjects]
    as_of = next((plan.options.as_of for plan in plans if plan.options.as_of), None)
    return {
        "version": VERSION,
        "fleet": surveyed.subject,
        "state": surveyed.file or None,
        "asOf": as_of.isoformat() if as_of else None,
        "members": sum(len(plan.inventory) for plan in plans),
        "changes": any(plan.changes for plan in plans) or any(one.changes for one in surveyed.resources or ()),
        "unfulfilled": [{"subject": one["name"], "why": message} for one in subjects for message in one["unfulfilled"]],
        "refused": [_problem(problem) for plan in plans for problem in plan.refused],
        "gone": {
            "subjects": [name for plan in plans for name in plan.gone],
            "members": [name for plan in plans for name in plan.members_gone],
            "objects": [departure_document(one) for plan in plans for one in plan.departures],
            "summary": [{"weight": line.weight, "text": line.text} for plan in plans for line in describe_plan(plan)],
        },
        "replaced": [
            {"subject": one.subject, "member": one.cluster, "object": str(one.key), "fields": list(one.fields)}
            for plan in plans
            for one in plan.replacements
        ],
        "remaining": remainder_document(together(one for plan in plans for one in plan.remainders.values())),
        "subjects": subjects,
        "warnings": [str(problem) for plan in plans for problem in (*plan.warnings, *plan.hidden)],
        **_of_a_project(surveyed),
        "totals": {**totals(subjects), **_counted(surveyed)},
    }


def totals(subjects: Iterable[Document]) -> Document:
    """Return the number of members with each change, over all placements and templates."""
    changes = Counter(cluster["change"] for one in subjects for cluster in one["clusters"])
    return {word: changes[word] for word in WORDS.values()}


def _problem(problem: Problem) -> dict[str, Any]:
    token = _TOKEN.search(problem.hint)
    return {
        "subject": problem.subject or None,
        "what": problem.what,
        "hint": problem.hint or None,
        "token": token[1] if token else None,
        "field": show_path(problem.path) or None,
        "file": problem.file or None,
        "line": problem.line,
    }


def _of_a_project(surveyed: Survey) -> Document:
    """Return the resources and messages of a program; None for the resources if the update is refused."""
    if not surveyed.of_project:
        return {}
    resources = surveyed.resources
    return {
        "resources": None if resources is None else [resource.to_wire() for resource in resources],
        "messages": [{"level": level, "text": text} for level, text in surveyed.messages],
    }


def _counted(surveyed: Survey) -> Document:
    """Return the number of a project's resources with each change; None if refused, or without a state to compare."""
    if not surveyed.of_project:
        return {}
    if surveyed.resources is None:
        return {"resources": None}
    counted = Counter(resource.change for resource in surveyed.resources)
    return {"resources": None if "" in counted else {change: counted[change] for change in CHANGES}}
