"""The view of a sweep: what is lost, what is short then, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.model.text import count, few
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.review.documents.headline import refusal_called, subjects_in_words
from fleet_components.review.documents.sweep import LossDocument, ShortDocument, SweepDocument
from fleet_components.review.planning.selection import MEMBER
from fleet_components.review.showing.blocks import (
    Block,
    Column,
    Fold,
    Gap,
    Page,
    Paragraph,
    Role,
    Row,
    Table,
    cells_of,
    header_of,
)

_COLUMNS: tuple[Column[LossDocument], ...] = (
    Column("lost", lambda loss: loss.lost),
    Column("members", lambda loss: str(len(loss.members))),
    Column("short", lambda loss: _number(len(loss.short))),
    Column("moved", lambda loss: _number(loss.moved)),
    Column("held", lambda loss: _number(loss.held)),
)
_MOST_NAMED = 5


def sweep_view(document: SweepDocument) -> Page:
    """Return what is shown of a sweep: in short first, then every loss, the worst first."""
    return Page("Fleet sweep", list(_blocks(document)), "fleet simulate --sweep")


def _blocks(document: SweepDocument) -> Iterator[Block]:
    yield from map(Paragraph, _first(document))
    # Said once, and not again with each loss.
    for short in document.short_already:
        yield Paragraph(f"short before any loss: {_whole(short)}", style="yellow")
    yield Gap()
    header = header_of(_COLUMNS, "what is short, and where it goes")
    yield Table(header, [*map(_row, document.losses)])
    yield from (Paragraph(line, Role.ITEM, "bold red") for line in _refused(document))
    for loss in document.losses:
        if loss.short:
            details = [Paragraph(_whole(short), Role.ITEM) for short in loss.short]
            outcome = f" lost: {len(loss.short)} short"
            yield Fold(loss.lost, details, outcome=outcome, folded=True)


def sweep_words(document: SweepDocument) -> str:
    """Return a sweep in one sentence."""
    bad = [loss for loss in document.losses if loss.short]
    by, number = document.by, len(document.losses)
    each = (
        count(number, "member")
        if by == MEMBER
        else count(number, f"value of {by}", f"values of {by}")
    )
    if not bad:
        return f"nothing would be short, whichever of {each} is lost"
    names = {short.subject for item in bad for short in item.short}
    templates = sum(name.startswith(f"{TEMPLATE_KIND}/") for name in names)
    short = subjects_in_words(len(names) - templates, templates)
    return f"{short} would be short: {len(bad)} of {each} cannot be lost without that"


def _first(document: SweepDocument) -> Iterator[str]:
    yield sweep_words(document)
    if document.supposed:
        yield f"supposed, and carried out before each loss: {'; '.join(document.supposed)}"
    without = few(document.never_lost)
    never = f"; without a value, and never lost: {without}" if without else ""
    yield f"starting from {document.start}{never}"


def _refused(document: SweepDocument) -> Iterator[str]:
    for loss in document.losses:
        tokens = [problem.token for problem in loss.refused]
        called = refusal_called(tokens, observed=document.observed)
        for problem in loss.refused:
            where = f"{problem.subject}: " if problem.subject else ""
            hint = f" ({problem.hint})" if problem.hint else ""
            yield f"{called} once {loss.lost} is lost: {where}{problem.what}{hint}"


def _number(number: int) -> str:
    return str(number) if number else ""


def _row(loss: LossDocument) -> Row:
    parts = [few([_shortage(item) for item in loss.short], _MOST_NAMED), _gained(loss)]
    text = "; ".join(filter(None, parts))
    return Row(cells_of(_COLUMNS, loss), text, "red" if loss.short else "")


def _gained(loss: LossDocument) -> str:
    return few(list(_gains(loss)), _MOST_NAMED)


def _gains(loss: LossDocument) -> Iterator[str]:
    """Yield what each member gets: ``a +2`` for two placements, ``b +3 replicas``, ``c +1 with 4
    replicas``.
    """
    joins, replicas = loss.joins, loss.replicas
    # Members that join come first; others only get more replicas.
    for name in dict.fromkeys((*joins, *replicas)):
        more = count(replicas[name], "replica") if name in replicas else ""
        if name in joins:
            yield f"{name} +{joins[name]}" + (f" with {more}" if more else "")
        else:
            yield f"{name} +{more}"


def _shortage(short: ShortDocument) -> str:
    return f"{short.subject.partition('/')[2]} {_left(short)}"


def _left(short: ShortDocument) -> str:
    """Return how much is left: members, and replicas where they are divided."""
    members, replicas = short.members, short.replicas
    if members.new == 0:
        return "on no member"
    on = f"on {members.new}"
    on += f" instead of {members.old}" if members.new != members.old else ""
    if replicas and replicas.new != replicas.old:
        on += f", {replicas.new} of {replicas.old} replicas"
    return on


def _whole(short: ShortDocument) -> str:
    return f"{short.subject} {_left(short)}: {short.why}"
