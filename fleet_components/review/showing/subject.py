"""The view of a placement or template in a plan: what happens to each member, which objects change,
and why.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from fleet_components.model.text import count, few
from fleet_components.review.documents.form import kind_of
from fleet_components.review.documents.schema import (
    WORDS,
    ContentDocument,
    FieldDocument,
    MemberDocument,
    NameAndReason,
    OldAndNew,
    ScoresDocument,
    SubjectDocument,
)
from fleet_components.review.documents.wire import as_data
from fleet_components.review.showing import words
from fleet_components.review.showing.blocks import (
    Block,
    Column,
    Diff,
    Fold,
    Paragraph,
    Role,
    Row,
    Table,
    cells_of,
    header_of,
)
from fleet_components.review.showing.console import STYLES


def show_change(numbers: OldAndNew) -> str:
    """Return an old and a new number as ``0 -> 1``; ``1`` if it stays, ``-> 1`` if it is new, ``1
    ->`` if it goes.
    """
    old, new = numbers.old, numbers.new
    if old == new:
        return "" if new is None else str(new)
    return " -> ".join("" if number is None else str(number) for number in (old, new)).strip()


def show_scores(scores: ScoresDocument | None) -> str:
    """Return affinity and topology spread scores as ``14/-1``; ``0`` if both are 0, empty if there
    are none.
    """
    if scores is None:
        return ""
    several = scores.affinity or scores.topology_spread
    return f"{scores.affinity}/{scores.topology_spread}" if several else "0"


COLUMNS: Sequence[Column[MemberDocument]] = (
    Column("member", lambda member: member.name),
    Column("what", lambda member: member.change),
    Column("wave", lambda member: "" if member.wave is None else str(member.wave)),
    Column("replicas", lambda member: show_change(member.replicas)),
    Column("revision", lambda member: show_change(member.revision)),
    Column("score", lambda member: show_scores(member.scores)),
)
"""Columns of the table of members; that of the reason follows them."""
_FOLDED = 4
"""Number of members alike from which on they share a row."""
_NAMED = 3
_VALUE_SHOWN = 200
_DOMAINS = re.compile(r"\b(kubernetes\.azure\.com|(resources\.)?kubernetes-fleet\.io)/")


def subject_view(subject: SubjectDocument, *, diff: bool, whole: bool, narrow: bool) -> Fold:
    """Return what is shown of a placement or template.

    Args:
        subject: its document.
        diff: whether differences are shown whole, and objects that are new.
        whole: whether members that are alike are shown one by one.
        narrow: whether only a part of the plan is shown.
    """
    form = partial(_blocks, subject, whole=whole, narrow=narrow)
    changes = Counter(cluster.change for cluster in subject.clusters)
    happens = words.changes({word: changes[word] for word in WORDS.values()})
    return Fold(
        subject.key,
        form(diff=diff),
        kind=kind_of(subject),
        outcome=f": {happens}",
        # Without ``diff`` the blocks are short already.
        shorter=form(diff=False) if diff else (),
    )


def _blocks(subject: SubjectDocument, *, diff: bool, whole: bool, narrow: bool) -> list[Block]:
    complete = whole or narrow
    holders = words.holders(subject, delivery=subject.delivery, whole=complete)
    blocks: list[Block] = [Paragraph(headline(subject), style="dim")]
    blocks += [Paragraph(line, Role.ITEM) for line in holders]
    if subject.clusters:
        blocks.append(Table(header_of(COLUMNS, "why"), rows(subject.clusters, whole=whole)))
    for change in shown_changes(subject, whole=diff, narrow=narrow):
        blocks += change_blocks(change, whole=diff)
    for level, line in _overridden(subject, diff=diff, whole=complete):
        blocks.append(Paragraph(line, Role.ITEM, level=level, limit=_VALUE_SHOWN))
    return [*blocks, *(Paragraph(line, Role.ITEM, style) for style, line in _notes(subject))]


def headline(subject: SubjectDocument) -> str:
    """Return the headline of a subject: ``PickN 3 of 5 members, 4 objects, revision 0->1``."""
    revision = (
        "new"
        if subject.revision.old is None
        else f"revision {show_change(subject.revision).replace(' ', '')}"
    )
    return f"{subject.policy}, {count(subject.objects, 'object')}, {revision}"


def rows(members: Iterable[MemberDocument], *, whole: bool) -> list[Row]:
    """Return the rows of members. Those with equal cells and an equal reason share a row: ``a, b, c
    and 57 more``; with ``whole`` none do.
    """
    alike: dict[tuple[Sequence[str], str], list[MemberDocument]] = defaultdict(list)
    for member in members:
        # The short names of properties are enough.
        alike[cells_of(COLUMNS[1:], member), _DOMAINS.sub("", member.why)].append(member)
    found = []
    for (cells, why), some in alike.items():
        names = [member.name for member in some]
        shown = names if whole or len(names) < _FOLDED else [few(names, _NAMED)]
        # The cells have the change, so that it is the same for all of them.
        found += [Row((name, *cells), why, STYLES[some[0].change]) for name in shown]
    return found


# Differences of objects: a heading that says what changes where, and the diff below it.


_SIGNS = {"create": "+", "delete": "-", "update": "~", "replace": "+-"}
_HEADINGS = {"create": "green", "delete": "red", "update": "yellow", "replace": "red"}
_FATES = {
    "kept": "kept there, no longer managed",
    "forgotten": "forgotten, as the member is lost",
    "undone": "if the update that was interrupted has made it",
}
_UNKNOWN = "what stands is unknown: the last update was killed while it was writing this object"
_TAKEN_UP = "taken up again, as the member is back"


def shown_changes(
    subject: SubjectDocument, *, whole: bool, narrow: bool
) -> Iterator[ContentDocument]:
    """Yield the changes that are shown of a subject; those of which only the heading is shown share
    one if they can.

    Args:
        subject: the document of the subject.
        whole: whether new objects are shown with all of their fields.
        narrow: whether only a part of the plan is shown. Otherwise what is deleted now is shown
            before all subjects.
    """
    alike: dict[str, list[ContentDocument]] = {}
    for change in subject.content or ():
        if change.change == "delete" and not (narrow or change.later):
            continue
        bare = change.change == "delete" or (change.change == "create" and not whole)
        like = attrs.evolve(change, object="", diff="") if bare else change
        # JSON makes equal changes equal keys.
        alike.setdefault(json.dumps(as_data(like)), []).append(change)
    for found in alike.values():
        # All else is equal, so that the first one stands for all.
        yield attrs.evolve(found[0], object=few([change.object for change in found]))


def change_blocks(change: ContentDocument, *, whole: bool) -> Iterator[Block]:
    """Yield the heading of a change and its diff; with ``whole`` all of it.

    Otherwise a new object has its heading only, and a long diff is cut.
    """
    yield Paragraph(heading(change), Role.ITEM, _HEADINGS[change.change])
    if change.diff and (whole or change.change != "create"):
        yield Diff(change.diff, whole)


def heading(change: ContentDocument) -> str:
    """Return what happens to an object, and where: ``~ Deployment shop/web on east, west and 57
    more``.
    """
    envelope = f" in {change.envelope}" if change.envelope else ""
    # A list times True is the list, times False is empty.
    notes = ["once they move" if len(change.members) > 1 else "once it moves"] * change.later
    notes += [_FATES[change.fate]] if change.fate in _FATES else []
    notes += [_UNKNOWN] * change.unknown
    if change.taken_up:
        known = "" if change.fields else "; in which form it stands there is not known"
        notes.append(_TAKEN_UP + known)
    notes += [f"made anew for {few(change.immutable)}"] if change.immutable else []
    suffix = f": {', '.join(notes)}" if notes else ""
    where = f"{change.object}{envelope} on {few(change.members)}"
    return f"{_SIGNS[change.change]} {where}{suffix}"


def _overridden(subject: SubjectDocument, *, diff: bool, whole: bool) -> Iterator[tuple[int, str]]:
    """Yield what overrides change on members, each line with its level.

    With ``diff`` all of it. Otherwise a line for members that join, and with ``whole`` for all:
    what changes on others is in the differences.
    """
    members: dict[str, list[str]] = defaultdict(list)
    joining = {cluster.name for cluster in subject.clusters if cluster.change == "joins"}
    for group in subject.overridden:
        if diff:
            yield 0, f"overridden on {few(group.members)}:"
            yield from ((level + 1, line) for level, line in words.deviations(group.objects))
        elif whole or joining.intersection(group.members):
            begin = "" if group.moving else ", as before"
            members[f"{begin}: {words.shortly(group.objects)}"] += group.members
    for line, names in members.items():
        yield 0, f"overridden on {few(sorted(names))}{line}"


# Lines about a placement or template that follow its rows: why it is so, what waits, and what is
# remembered of it.


_MOST = 10
"""Largest number of fields that are named."""
_FIELDS = {
    "memory.claim.policy": "claimed by",
    "memory.claim.bound.spec.": "policy: ",
    "memory.policy.": "policy: ",
    "memory.policy": "policy",
    "memory.schedule.rebalances": "rebalanced for",
    "memory.runs.latest": "update run",
    "protected": "protected from removal",
    "reports": "compared only, and not written",
    "apply": "way of applying",
    "delivery": "way of delivery",
}
"""Words for the fields of a record that people have a say in, by the begin of the path; all others
follow from them.
"""
_OTHERWISE = "nothing changes on a member, and later decisions may start from something else"


def _notes(subject: SubjectDocument) -> Iterator[tuple[str, str]]:
    """Yield the lines about a placement or template that follow the rows, each with its style."""
    standing = ", as before" if "unfulfilled" in subject.as_before else ""
    yield from (("red", f"not fulfilled{standing}: {message}") for message in subject.unfulfilled)
    if subject.unsure:
        yield "yellow", f"as if newly made: {subject.unsure}"
    if subject.pending:
        yield "dim", "what is compared with changes the same: it is due already"
    yield from (("", line) for line in _remembered(subject))
    yield from (("", line) for line in subject.division)
    yield from (("", f"{item.name}: {item.why}") for item in subject.due)
    if subject.left:
        yield "yellow", subject.left
    yield from (("", line) for line in words.update_run(subject.update_run))
    yield from (("", line) for line in subject.notes)
    yield from (("", line) for line in _waits(subject))
    if subject.remaining.words:
        yield "yellow", f"left: {subject.remaining.words}"
    if subject.uncompared:
        yield "dim", subject.uncompared
    rows_of = {cluster.name for cluster in subject.clusters}
    staying = [name for name in subject.staying if name not in rows_of]
    if staying:
        yield "dim", f"stays on {few(staying)}"
    yield from (("dim", f"not picked: {line}") for line in _not_picked(subject))
    yield from (("yellow", f"warning: {warning}") for warning in subject.warnings)
    yield from (("yellow", f"skipped: {item.object}: {item.why}") for item in subject.skipped)


def _waits(subject: SubjectDocument) -> list[str]:
    """Return the lines of the rollout that the rows do not show: waits, and an update run that does
    not begin.
    """
    return [
        line for line in subject.rollout if "wait " in line or line.startswith("the update run")
    ]


def _not_picked(subject: SubjectDocument) -> Iterator[str]:
    """Yield a line for each reason why members are not picked: ``a, b and 3 more: why``; none if
    none is shown.
    """
    shown = subject.not_picked.shown
    yield from grouped(shown)
    rest = subject.not_picked.count - len(shown) if shown else 0
    if rest:
        yield f"{rest} more: fleet explain tells why"


def grouped(members: Iterable[NameAndReason]) -> Iterator[str]:
    """Yield a line for each reason with its members, cut to a few: ``a, b and 3 more: why``."""
    found: dict[str, list[str]] = defaultdict(list)
    for member in members:
        found[words.single_line(member.why)].append(member.name)
    yield from (f"{few(names)}: {why}" if why else few(names) for why, names in found.items())


def _remembered(subject: SubjectDocument) -> Iterator[str]:
    """Yield in words what changes in what is remembered of a subject; nothing where more than that
    changes.
    """
    if not subject.recorded:
        return
    found = list(dict.fromkeys(filter(None, map(_in_words, subject.recorded))))
    yield from found[:_MOST] or [_OTHERWISE]
    more = len(found[_MOST:])
    if more:
        yield f"and {count(more, 'more field')}"


def _in_words(field: FieldDocument) -> str:
    """Return a field in words: ``policy: numberOfClusters: 2 -> 3``; empty for one that follows
    from others.
    """
    # In the order of the table: the longer beginnings stand before those that they contain.
    begin = next((text for text in _FIELDS if field.field.startswith(text)), None)
    if begin is None:
        return ""
    named = _FIELDS[begin] + (field.field.removeprefix(begin) if begin.endswith(".") else "")
    return f"{named}: {_value(field.old)} -> {_value(field.new)}"


def _value(value: Any) -> str:
    """Return a value; a policy by its kind and name."""
    if isinstance(value, Mapping) and {"kind", "name"} <= value.keys():
        name = "/".join(filter(None, (value.get("namespace"), value["name"])))
        return f"{value['kind']} {name}"
    return words.show_value(value)
