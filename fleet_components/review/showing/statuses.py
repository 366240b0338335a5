"""Statuses for people: first what went wrong and how to go on, then every placement, member or
object in a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fleet_components.model.text import count, few
from fleet_components.plan.ways import NAMES, Way
from fleet_components.review.documents.form import kind_of, member_of, title_of
from fleet_components.review.documents.headline import subjects_in_words
from fleet_components.review.documents.statuses import (
    StatusesDocument,
    StatusOfMember,
    StatusOfSubject,
    Trouble,
)
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
from fleet_components.review.showing.words import single_line
from fleet_components.status.on_hub import HubRow, Stand

PLACEMENT, MEMBER, OBJECT = "placement", "member", "object"
BY = (PLACEMENT, MEMBER, OBJECT)
_STORIES, _TROUBLES, _WORDS, _LONGEST, _FINE_SHOWN, _SHOWN = 3, 3, 4, 240, 8, 5
"""Largest number of each that is shown, so that it fits a screen of 80 columns and 40 lines."""
_VERBS: Mapping[str, str] = {
    Stand.REFUSED: "was refused",
    Stand.NOT_TAKEN_OVER: "stands there already, and is not taken over",
    Stand.NOT_COMPARED: "could not be compared",
    Stand.UNREACHED: "does not answer",
    Stand.UNFINISHED: "is unfinished",
    Stand.UNREADY: "is not ready",
    Stand.UNDELETED: "was not deleted",
    Stand.MISSING: "is missing",
}
_STYLES: Mapping[str, str] = {
    Stand.HELD: "magenta",
    Stand.NOT_BEGUN: "magenta",
    Stand.LEAVING: "red",
}


def statuses_view(document: StatusesDocument, by: str | None = None) -> Page:
    """Return what is shown of statuses; without ``by`` a line for each placement."""
    return Page("Fleet status", list(_blocks(document, by)), "fleet status")


def _blocks(document: StatusesDocument, by: str | None) -> Iterator[Block]:
    yield from stories(document)
    if any(subject.broken for subject in document.subjects):
        yield Gap()
    for block in _details(document, by):
        yield block
        yield from [Gap()] if isinstance(block, Fold) else []
    yield from (Paragraph(line, Role.NOTE, "yellow") for line in notes(document))
    yield Paragraph(summary(document), Role.LAST, "bold")


def stories(document: StatusesDocument) -> Iterator[Paragraph]:
    """Yield what went wrong with the placements."""
    broken = [subject for subject in document.subjects if subject.broken]
    for subject in broken[:_STORIES]:
        for style, level, line in _story(document, subject):
            yield Paragraph(line, Role.ITEM, style, level)
    more = [title_of(subject) for subject in broken[_STORIES:]]
    if more:
        line = f"broken too: {few(more, _SHOWN)}; --only shows one of them"
        yield Paragraph(line, Role.ITEM, "red")


def _story(document: StatusesDocument, subject: StatusOfSubject) -> Iterator[tuple[str, int, str]]:
    """Yield the story of one placement: what broke where, what was said, what stands, what comes,
    how to go back.
    """
    troubles = subject.broken
    members = sorted({name for trouble in troubles for name in trouble.members})
    # Only members that the last update was to change have a wave.
    what = f"broke in wave {subject.wave}" if subject.wave else "is not as decided"
    yield "bold red", 0, f"{title_of(subject)} {what} on {few(members, _SHOWN)}"
    for trouble in troubles[:_TROUBLES]:
        yield "red", 1, _trouble(trouble)
        yield from (("", 2, _cut(line)) for line in trouble.words[:_WORDS])
        if not trouble.words and not document.live:
            yield "dim", 2, _why_not(document)
    more = troubles[_TROUBLES:]
    if more:
        yield "red", 1, f"and {few(list(map(_trouble, more)), 2)}"
    yield "", 1, f"stands: {'; '.join(subject.stands)}"
    yield "", 1, f"next: {'; '.join(subject.next)}"
    yield from (("", 1, f"mend: {line}") for line in subject.mend)
    yield "", 1, f"back: {subject.back}"


def _why_not(document: StatusesDocument) -> str:
    mends = "pulumi up --refresh brings back what somebody has deleted there"
    if document.events:
        return f"neither the state nor the events say why: --live asks the members; {mends}"
    asks = "--live asks the members, --events FILE has what the update said"
    return f"the state does not say why: {asks}; {mends}"


def _trouble(trouble: Trouble) -> str:
    where = few(trouble.members, _SHOWN)
    verb = _VERBS.get(trouble.state, trouble.state)
    if trouble.state == Stand.UNREACHED and len(trouble.members) > 1:
        verb = "do not answer"
    return f"{trouble.object} on {where} {verb}" if trouble.object else f"{where} {verb}"


OnMember = tuple[StatusOfSubject, StatusOfMember]
"""A placement or template on a member."""
_ON_MEMBER: tuple[Column[OnMember], ...] = (
    Column("runs", lambda row: _runs(row[1])),
    Column("state", lambda row: row[1].state),
)
_BY_MEMBER = (Column[OnMember]("member", lambda row: row[1].name), *_ON_MEMBER)
_BY_PLACEMENT = (Column[OnMember]("placement", lambda row: title_of(row[0])), *_ON_MEMBER)
_BY_LINE: tuple[Column[StatusOfSubject], ...] = (
    Column("placement", title_of),
    Column("revision", lambda subject: _text(subject.revision)),
)
_ON_HUB: tuple[Column[HubRow], ...] = (
    Column("member", lambda row: row.member),
    Column("forecast", lambda row: row.forecast),
    Column("hub", lambda row: row.hub),
)


def _details(document: StatusesDocument, by: str | None) -> Iterator[Table | Fold]:
    """Yield a table of all placements, or each placement, member or object with all that is known
    of it.
    """
    yield from _of_hub(document)
    subjects = [
        item for item in document.subjects if not item.undelivered and item.delivery == Way.DIRECT
    ]
    match by:
        case None if subjects:
            yield Table(header_of(_BY_LINE, "members"), list(_lines(subjects)))
        case "placement":
            for subject in subjects:
                yield Fold(subject.key, list(_of_placement(subject)), kind=kind_of(subject))
        case "object":
            for subject in subjects:
                table = Table(Row(("object",), "state", "bold"), list(_by_object(subject)))
                yield Fold(subject.key, [table], kind=kind_of(subject))
        case "member":
            for name in _members(subjects):
                rows = [
                    (subject, row)
                    for subject in subjects
                    for row in subject.members
                    if member_of(subject.of_fleet, row.name) == name
                ]
                yield Fold(name, [_on_members(_BY_PLACEMENT, rows)])


def _on_members(columns: Sequence[Column[OnMember]], rows: Iterable[OnMember]) -> Table:
    found = [Row(cells_of(columns, row), _what(row[1]), _style(row[1])) for row in rows]
    return Table(header_of(columns, "what"), found)


def _of_hub(document: StatusesDocument) -> Iterator[Fold]:
    """Yield what a hub has made of the subjects that it carries out, beside the forecast."""
    for subject in document.subjects:
        found = subject.on_hub
        if found is None:
            continue
        name = f"{subject.key} on the hub of {NAMES[subject.delivery]}"
        if found.missing:
            absent = Row(("is not there",), "the hub has no such object", "red")
            table = Table(Row(("it",), "why", "bold"), [absent])
            yield Fold(name, [table], kind=kind_of(subject))
            continue
        rows = [
            Row(cells_of(_ON_HUB, row), "; ".join(row.causes), _style_on_hub(row))
            for row in found.rows
        ]
        tables = [Table(header_of(_ON_HUB, "why"), rows)]
        # Conditions that hold say nothing new.
        wrong = [item for item in found.conditions if item.get("status") != "True"]
        if wrong:
            lines = [
                Row((_condition(subject, item),), f"{item.get('reason')}: {item.get('message')}")
                for item in wrong
            ]
            tables.append(Table(Row(("condition",), "why", "bold"), lines))
        yield Fold(name, tables, kind=kind_of(subject))


def _condition(subject: StatusOfSubject, condition: Mapping[str, Any]) -> str:
    # Conditions of KubeFleet begin with the kind: ClusterResourcePlacementScheduled.
    return str(condition["type"]).removeprefix(subject.kind)


def _style_on_hub(row: HubRow) -> str:
    if row.differs:
        return "red"
    return "" if row.fine else "yellow"


def _of_placement(subject: StatusOfSubject) -> Iterator[Table]:
    if subject.conditions:
        rows = [
            Row(
                (_condition(subject, item), item["status"]),
                f"{item['reason']}: {item['message']}",
                "" if item["status"] == "True" else "yellow",
            )
            for item in subject.conditions
        ]
        yield Table(Row(("condition", "status"), "why", "bold"), rows)
    yield _on_members(_BY_MEMBER, [(subject, row) for row in subject.members])


def _lines(subjects: Sequence[StatusOfSubject]) -> Iterator[Row]:
    """Yield a row for each placement; where some are broken, only a few of the fine ones."""
    broken = any(map(_is_broken, subjects))
    shown = 0
    # sorted keeps the order among the broken ones and among the fine ones.
    for subject in sorted(subjects, key=lambda data: not _is_broken(data)) if broken else subjects:
        # Counts fine ones alone: broken ones are all shown.
        shown += not _is_broken(subject)
        if broken and shown > _FINE_SHOWN:
            continue
        states = Counter(row.state for row in subject.members)
        style = "red" if _is_broken(subject) else "" if _is_settled(subject) else "yellow"
        words = ", ".join(f"{number} {state}" for state, number in states.items()) or "no member"
        whys = dict.fromkeys(row.why for row in subject.members if row.why and not row.broken)
        held = (
            f": {single_line(next(iter(whys)))}"
            if len(whys) == 1 and not _is_broken(subject)
            else ""
        )
        unfulfilled = f"; {single_line(subject.unfulfilled)}" if subject.unfulfilled else ""
        yield Row(cells_of(_BY_LINE, subject), words + held + unfulfilled, style)
    if broken and shown > _FINE_SHOWN:
        yield Row((f"and {count(shown - _FINE_SHOWN, 'more')}", ""), "as decided")


def _by_object(subject: StatusOfSubject) -> Iterator[Row]:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in subject.members:
        for item in row.objects:
            # A missing object on a member that is not broken is still to be created.
            waits = item.state == Stand.MISSING and not row.broken
            found[item.object][row.state if waits else item.state].append(row.name)
    for key, states in found.items():
        words = "; ".join(f"{state} on {few(names, _SHOWN)}" for state, names in states.items())
        yield Row((key,), words, "red" if any(Stand(state).broken for state in states) else "")


def _what(row: StatusOfMember) -> str:
    """Return what there is to know about a placement on a member, in a line."""
    parts = [single_line(row.why)] if row.why else []
    for item in row.objects:
        if item.broken and item.words and single_line(item.words[0]) not in parts:
            parts.append(f"{item.object}: {single_line(_cut(item.words[0]))}")
        if item.differences:
            fields = [difference.path for difference in item.differences]
            parts.append(
                f"{item.object}: {few(fields, 3)} {'differs' if len(fields) == 1 else 'differ'}"
            )
    return "; ".join(parts[:_TROUBLES])


def _runs(row: StatusOfMember) -> str:
    """Return the revision that runs on a member, and the one that was sent to it: ``0 -> 1``."""
    runs, sent = row.runs, row.sent
    if sent is None or sent == runs:
        return _text(runs)
    return f"{_text(runs)} -> {sent}".strip()


def _style(row: StatusOfMember) -> str:
    return "red" if row.broken else _STYLES.get(row.state, "")


def notes(document: StatusesDocument) -> Iterator[str]:
    """Yield what a reader has to know to understand the statuses."""
    subjects = document.subjects
    new = [title_of(subject) for subject in subjects if subject.undelivered]
    changed = [
        title_of(subject) for subject in subjects if subject.changed and not subject.undelivered
    ]
    # First, as a locked stack prevents everything else.
    if document.interrupted:
        yield (
            "the last update was killed: pulumi cancel if the stack is still locked, then pulumi up"
        )
    unasked = [
        title_of(subject)
        for subject in subjects
        # Through a hub, and the hub was not asked.
        if subject.delivery != "direct" and subject.on_hub is None
    ]
    if unasked:
        yield f"a hub carries out {few(unasked, _SHOWN)}: --hub KUBECONFIG asks it"
    if changed:
        what = "this is of the last update; fleet plan shows the next one"
        yield f"the source has changed since for {few(changed, _SHOWN)}: {what}"
    if new:
        yield f"not delivered by any update yet: {few(new, _SHOWN)}"
    if document.gone:
        yield (
            "no longer in the source, and standing until the next update:"
            f" {few(document.gone, _SHOWN)}"
        )
    yield from (
        f"the next update is refused: {single_line(problem)}" for problem in document.refused[:1]
    )


def _members(subjects: Iterable[StatusOfSubject]) -> list[str]:
    """Return the members of all subjects, each after its fleet where a program has several."""
    return sorted(
        {member_of(subject.of_fleet, row.name) for subject in subjects for row in subject.members}
    )


def summary(document: StatusesDocument) -> str:
    """Return the summary: ``2 placements on 3 members: 5 of 6 available``."""
    rows = [row for subject in document.subjects for row in subject.members]
    members = len(_members(document.subjects))
    fine = sum(row.settled for row in rows)
    templates = sum(item.kind == "Template" for item in document.subjects)
    placements = subjects_in_words(len(document.subjects) - templates, templates)
    hubs = (subject.on_hub for subject in document.subjects)
    on_hub = [row for hub in hubs if hub for row in hub.rows]
    if on_hub:
        alike = sum(not row.differs for row in on_hub)
        counted = (
            f"{alike} of {len(on_hub)} as forecast, {sum(row.fine for row in on_hub)} of them"
            " well, as the hub says"
        )
        # Everything goes through hubs: there are no members to count directly.
        if not rows:
            return (
                f"{placements} on {count(len({row.member for row in on_hub}), 'member')}: {counted}"
            )
        placements = f"{placements}: {counted}; directly"
    from_where = "as the members say" if document.live else "as the last update left it"
    return (
        f"{placements} on {count(members, 'member')}: {fine} of {len(rows)} as decided,"
        f" {from_where}"
    )


def _is_broken(subject: StatusOfSubject) -> bool:
    return bool(subject.broken)


def _is_settled(subject: StatusOfSubject) -> bool:
    return all(row.settled for row in subject.members)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


def _cut(line: str) -> str:
    line = single_line(line)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
