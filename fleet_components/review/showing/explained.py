"""The view of explanations: a tree of members and verdicts, or a line a member."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.plan.flips import MOST_MEMBERS
from fleet_components.review.documents.explanation import (
    ExplainedMember,
    ExplainedSubject,
    ExplanationDocument,
)
from fleet_components.review.documents.form import kind_of
from fleet_components.review.showing.blocks import (
    Block,
    Branch,
    Column,
    Drawing,
    Fold,
    Gap,
    Page,
    Paragraph,
    Role,
    Row,
    Span,
    Table,
    cells_of,
    header_of,
)
from fleet_components.review.showing.words import deviations, holders, shortly, single_line
from fleet_components.scheduler.framework import Verdict

_NOT_TRIED = (
    f"What would change the outcome is tried for up to {MOST_MEMBERS} members: name the one that"
    " you ask about."
)
_COLUMNS: tuple[Column[ExplainedMember], ...] = (
    Column("member", lambda member: member.name),
    Column("picked", lambda member: "yes" if member.selected else "no"),
)


def explanation_view(document: ExplanationDocument, *, short: bool) -> Page:
    """Return what is shown of explanations; ``short`` leaves out the verdicts."""
    return Page("Fleet explain", list(_blocks(document, short)), "fleet explain")


def _blocks(document: ExplanationDocument, short: bool) -> Iterator[Block]:
    for subject in document.subjects:
        if subject is not document.subjects[0]:
            yield Gap()
        if short:
            yield Fold(subject.key, list(_short(subject)), kind=kind_of(subject))
        else:
            yield Drawing("", [_tree(subject)])
            if any(member.flips is None for member in subject.members):
                yield Paragraph(_NOT_TRIED, style="dim")


def _short(subject: ExplainedSubject) -> Iterator[Block]:
    yield from (Paragraph(line, Role.ITEM) for line in holders(subject))
    condition = subject.condition
    if condition:
        style = "dim" if condition["status"] == "True" else "red"
        yield Paragraph(f"{condition['reason']}: {condition['message']}", Role.ITEM, style)
    yield from (Paragraph(hint, Role.ITEM, "yellow") for hint in subject.hints)
    yield from (Paragraph(line, Role.ITEM) for line in subject.division)
    yield Table(header_of(_COLUMNS, "why"), [*map(_row, subject.members)])


def _row(member: ExplainedMember) -> Row:
    overridden = shortly(member.overridden)
    flips = [flip.words for flip in (member.flips or ())[:1]]
    whys = [member.summary, *flips, *([f"overridden: {overridden}"] if overridden else [])]
    return Row(cells_of(_COLUMNS, member), "; ".join(whys), "green" if member.selected else "")


def _leaf(text: str, style: str = "") -> Branch:
    return Branch([[(single_line(text), style)]])


def _tree(subject: ExplainedSubject) -> Branch:
    title: list[list[Span]] = [[(f"{kind_of(subject)} ", ""), (subject.key, "bold cyan")]]
    if subject.condition:
        title.append([(subject.condition["message"], "dim")])
    below = [_leaf(line) for line in (*holders(subject), *subject.division)]
    below += [_leaf(hint, "yellow") for hint in subject.hints]
    return Branch(title, [*below, *map(_member, subject.members)])


def _member(member: ExplainedMember) -> Branch:
    name = (member.name, "bold green" if member.selected else "bold")
    below = [_leaf(note) for note in member.notes]
    below += [_leaf(flip.words, "yellow") for flip in member.flips or ()]
    passed = [verdict.plugin for verdict in member.verdicts if verdict.passed]
    below += [_leaf(f"passes {', '.join(passed)}")] if passed else []
    below += [_verdict(item, member) for item in member.verdicts if not item.passed]
    below += _overridden(member)
    return Branch([[name, (f"  {single_line(member.summary)}", "default")]], below)


def _overridden(member: ExplainedMember) -> Iterator[Branch]:
    """Yield what overrides change on a member, field by field."""
    objects: list[tuple[str, list[Branch]]] = []
    for level, line in deviations(member.overridden):
        if level == 0:
            objects.append((line, []))
        else:
            # A field follows its object, so there is one.
            objects[-1][1].append(_leaf(line))
    for line, fields in objects:
        yield Branch([[(single_line(f"overridden: {line}"), "")]], fields)


def _verdict(verdict: Verdict, member: ExplainedMember) -> Branch:
    """Return a verdict in words: ``ClusterAffinity scores 14: ...``, ``TaintToleration: taint
    ...``.
    """
    if verdict.score is not None:
        scores = f"{verdict.plugin} scores {verdict.score}"
        label: Span = (single_line(f"{scores}: {verdict.words}"), "")
    else:
        label = (single_line(f"{verdict.plugin}: {verdict.words}"), "red")
    # A flip was tried and is exact; the remedy of a plug-in is general.
    remedy = verdict.remedy if not member.flips else ""
    return Branch([[label]], [_leaf(f"remedy: {remedy}", "yellow")] if remedy else ())
