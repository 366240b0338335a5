"""A sweep as a document. Its form is described in ``docs/simulate.md``; keys are stable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from fleet_components.model.problem import Problem
from fleet_components.review.documents.schema import OldAndNew
from fleet_components.review.planning.sweep import Lost, Short, Sweep

VERSION = 1


@attrs.frozen
class ShortDocument:
    """A placement or template that is not fulfilled; replicas where they are divided."""

    subject: str
    why: str
    members: OldAndNew
    replicas: OldAndNew | None


@attrs.frozen
class LossRefusal:
    """A reason for which what comes of a loss is refused."""

    subject: str | None
    what: str
    hint: str | None
    token: str | None


@attrs.frozen
class LossDocument:
    """Outcome of a loss."""

    lost: str
    members: Sequence[str]
    short: Sequence[ShortDocument]
    moved: int
    joins: Mapping[str, int]
    replicas: Mapping[str, int]
    held: int
    refused: Sequence[LossRefusal]


@attrs.frozen(kw_only=True)
class SweepDocument:
    """A sweep: every loss, from the worst on."""

    version: int = VERSION
    fleet: Mapping[str, object]
    supposed: Sequence[str]
    start: str
    observed: bool
    by: str
    members: int
    subjects: int
    short_already: Sequence[ShortDocument]
    losses: Sequence[LossDocument]
    never_lost: Sequence[str]


def sweep_document(sweep: Sweep, losses: Sequence[Lost]) -> SweepDocument:
    """Return the document of a sweep, its losses from the worst on.

    Args:
        sweep: the sweep.
        losses: what came of each loss.
    """
    return SweepDocument(
        fleet=sweep.simulation.survey.subject,
        supposed=sweep.simulation.words,
        start=sweep.simulation.start.words,
        observed=sweep.simulation.survey.observed is not None,
        by=sweep.by.key,
        members=len(sweep.plan.inventory),
        subjects=len(sweep.plan.subjects),
        short_already=[_short(short) for short in sweep.already],
        losses=[_lost(loss) for loss in sorted(losses, key=lambda lost: lost.weight)],
        never_lost=sweep.by.without,
    )


def _lost(lost: Lost) -> LossDocument:
    return LossDocument(
        lost.value,
        lost.members,
        [_short(short) for short in lost.short],
        lost.moved,
        lost.joins,
        lost.replicas,
        lost.held,
        [_refusal(problem) for problem in lost.refused],
    )


def _refusal(problem: Problem) -> LossRefusal:
    token = problem.token or None
    return LossRefusal(problem.subject or None, problem.what, problem.hint or None, token)


def _short(short: Short) -> ShortDocument:
    replicas = OldAndNew(*short.replicas) if short.replicas else None
    return ShortDocument(short.name, short.why, OldAndNew(*short.members), replicas)
