"""The view of drift: what differs, member by member."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fleet_components.live.comparison import REDACTED
from fleet_components.model.text import count
from fleet_components.review.documents.drift import (
    DriftDocument,
    DriftedField,
    DriftedMember,
    DriftedObject,
)
from fleet_components.review.planning.adoption import Adoption
from fleet_components.review.showing.blocks import Block, Fold, Gap, Page, Paragraph, Role

_ABSENT = "(absent)"
_SECRET = "has another value, which is secret"


def drift_view(document: DriftDocument) -> Page:
    """Return what is shown of drift."""
    called = _called(document)
    blocks: list[Block] = [
        Fold(called(member), list(_member(member)), outcome=_outcome(member), open=True)
        for member in document.members
        if member.objects or member.unreached
    ]
    blocks += map(Paragraph, (summary(document), *_caution(document)))
    return Page("Drift", blocks, "fleet drift")


def _member(member: DriftedMember) -> Iterator[Block]:
    if member.unreached:
        yield Paragraph(f"! {member.unreached}", Role.ITEM, "red")
    for item in member.objects:
        line = f"{_mark(item)} {_name(item)} of {item.subject}{_fate(item)}"
        yield Paragraph(line, Role.ITEM, "yellow" if item.differences else "red")
        for each in item.differences:
            yield Paragraph(f"{each.path}: {_values(each)}", Role.ITEM, level=1)


def adoption_view(adopted: Adoption) -> Iterator[Block]:
    """Yield what could not be written into the source."""
    for name, why in adopted.by_hand.items():
        yield Paragraph(f"{name}: {why}")
    if not adopted.edits and not adopted.by_hand:
        yield Paragraph("nothing has drifted: there is nothing to adopt")
    yield Gap()


def _called(document: DriftDocument) -> Callable[[DriftedMember], str]:
    """Return what members are called: by their names, in a stack of several fleets after that of
    the fleet.
    """
    several = len({member.fleet for member in document.members}) > 1
    return lambda member: f"{member.fleet}/{member.name}" if several else member.name


def _outcome(member: DriftedMember) -> str:
    number = count(len(member.objects), "object")
    return " does not answer" if member.unreached else f": {number}"


def summary(document: DriftDocument) -> str:
    """Return the outcome in a line."""
    totals = document.totals
    parts = [f"{count(totals.changed, 'object')} changed by hand"] if totals.changed else []
    parts += [f"{count(totals.missing, 'object')} missing"] if totals.missing else []
    of = f"of {count(totals.compared, 'object')} compared on {count(totals.members, 'member')}"
    uncompared = totals.uncompared
    rest = f"; {count(uncompared, 'object')} not compared" if uncompared else ""
    return f"{', '.join(parts) or 'no drift'}, {of}{rest}"


def _caution(document: DriftDocument) -> Iterator[str]:
    """Yield how far the comparison can be relied on, where that has to be said."""
    number = document.totals.unrecorded
    if number:
        why = "an update broke there, or the state hides what it recorded"
        what = "what a pulumi refresh has taken over is not seen"
        yield f"{count(number, 'object')} compared with the state alone: {why}; {what}"


def _name(item: DriftedObject) -> str:
    return f"{item.kind} {'/'.join(filter(None, (item.namespace, item.name)))}"


def _fate(item: DriftedObject) -> str:
    if item.missing:
        return ": missing, somebody has deleted it"
    words = item.error or item.then
    return f": {words}" if words else ""


def _mark(item: DriftedObject) -> str:
    return "-" if item.missing else "~" if item.differences else "!"


def _values(each: DriftedField) -> str:
    # Both sides are hidden, and still a difference was found: the values differ.
    if each.delivered == each.there == REDACTED:
        return _SECRET
    sides = (each.delivered, each.there)
    return " -> ".join(_ABSENT if side is None else side for side in sides)
