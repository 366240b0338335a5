"""A sweep as a document, which all views show. Its form is described in ``docs/simulate.md``; keys
are stable.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleet_components.model.problem import Problem
from fleet_components.review.documents.form import Document, token_of
from fleet_components.review.planning.sweep import Lost, Short, Sweep

VERSION = 1


def sweep_document(sweep: Sweep, losses: Sequence[Lost]) -> Document:
    """Return the document of a sweep, its losses from the worst on.

    Args:
        sweep: the sweep.
        losses: what came of each loss.
    """
    return {
        "version": VERSION,
        "fleet": sweep.simulation.survey.subject,
        "supposed": list(sweep.simulation.words),
        "start": sweep.simulation.start.words,
        "observed": sweep.simulation.survey.observed is not None,
        "by": sweep.by.key,
        "members": len(sweep.plan.inventory),
        "subjects": len(sweep.plan.subjects),
        "shortAlready": [_short(short) for short in sweep.already],
        "losses": [_lost(loss) for loss in sorted(losses, key=lambda lost: lost.weight)],
        "neverLost": list(sweep.by.without),
    }


def _lost(lost: Lost) -> Document:
    return {
        "lost": lost.value,
        "members": list(lost.members),
        "short": [_short(short) for short in lost.short],
        "moved": lost.moved,
        "joins": dict(lost.joins),
        "replicas": dict(lost.replicas),
        "held": lost.held,
        "refused": [_refusal(refusal) for refusal in lost.refused],
    }


def _refusal(problem: Problem) -> Document:
    return {
        "subject": problem.subject or None,
        "what": problem.what,
        "hint": problem.hint or None,
        "token": token_of(problem),
    }


def _short(short: Short) -> Document:
    return {
        "subject": short.name,
        "why": short.why,
        "members": {"old": short.members[0], "new": short.members[1]},
        "replicas": short.replicas and {"old": short.replicas[0], "new": short.replicas[1]},
    }
