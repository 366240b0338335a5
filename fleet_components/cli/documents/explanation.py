"""Explanations as a document: every member of a fleet, and what each plug-in says of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import attrs

from fleet_components.cli.documents.form import VERSION, Document
from fleet_components.cli.documents.label_values import missing_labels
from fleet_components.cli.documents.template import template_document
from fleet_components.cli.planning.planned import Decided, Planned
from fleet_components.cli.planning.templates import DecidedTemplate
from fleet_components.model.problem import FleetError, Problem
from fleet_components.scheduler.explain import MemberExplanation


def explanation(planned: Planned, placement: str | None = None, member: str | None = None) -> Document:
    """Why each member is in a placement, or is not.

    Args:
        planned: the fleet, planned.
        placement: the key of one placement or template, or ``Kind/key`` of a placement; None for all.
        member: the name of one member; None for all.

    Raises:
        FleetError: there is no such placement, template or member.
    """
    chosen = _find(planned.decided, placement)
    explained = [(one, one.explain(None if member is None else {member})) for one in chosen if isinstance(one, Decided)]
    templates = [_of_member(template_document(one), member) for one in chosen if isinstance(one, DecidedTemplate)]
    told = any(members for _, members in explained) or any(one["clusters"] or one["notPicked"] for one in templates)
    if member is not None and not told:
        raise FleetError([_unknown("member", member, planned.inventory.names)])
    return {
        "version": VERSION,
        "placements": [_placement(decided, members) for decided, members in explained],
        **({"templates": templates} if templates else {}),
    }


def _find(decided: Sequence[Decided | DecidedTemplate], wanted: str | None) -> list[Decided | DecidedTemplate]:
    found = [one for one in decided if wanted in (None, one.key, one.name)]
    if not found and wanted is not None:
        raise FleetError([_unknown("placement or template", wanted, [one.key for one in decided])])
    return found


def _of_member(template: Document, member: str | None) -> Document:
    """A template with what it says of one member; of all without one."""
    if member is None:
        return template
    parts = {part: [one for one in template[part] if one["name"] == member] for part in ("clusters", "notPicked")}
    return {**template, **parts}


def _unknown(noun: str, wanted: str, known: Iterable[str]) -> Problem:
    names = sorted(known)
    near = difflib.get_close_matches(wanted, names, 1)
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    hint = f"did you mean {near[0]}?" if near else f"there is: {listed or 'none'}"
    return Problem(f'there is no {noun} "{wanted}"', hint=hint)


def _placement(decided: Decided, members: Iterable[MemberExplanation]) -> Document:
    condition = decided.outcome.decision.status.placement_condition(decided.kind)
    request = decided.request
    required = [term.label_selector for term in request.policy.required_terms] if request.policy else []
    return {
        "kind": decided.kind,
        "key": decided.key,
        "source": decided.place or None,
        "condition": attrs.asdict(condition),
        "hints": missing_labels(required, request.inventory.clusters),
        "members": [_member(one) for one in members],
    }


def _member(explained: MemberExplanation) -> Document:
    return {
        "name": explained.cluster,
        "selected": explained.selected,
        "summary": explained.summary,
        "verdicts": [attrs.asdict(verdict) for verdict in explained.verdicts],
    }
